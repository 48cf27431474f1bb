/**
 * A process that seeds and kills itself meanwhile: `node seed-and-die.js LOADER ADDRESS DATASET ID
 * CREDENTIALS`, addresses, dataset and paths of secrets as JSON. It is killed while it encodes row
 * ID.
 */

import { getLoader } from '../../data/loaders/index.js';
import { readCredentials } from '../../lib/credentials.js';
import { createDataset } from '../../lib/dataset.js';

const [name, address, options, id, secrets] = process.argv.slice(2);
const dataset = createDataset(JSON.parse(options));
/** @type {typeof dataset.write} */
const write = (row, target, offset) => {
  if (row === Number(id)) process.kill(process.pid, 'SIGKILL');
  return dataset.write(row, target, offset);
};
const loader = await getLoader(name);
await loader.seed({
  address: JSON.parse(address),
  credentials: await readCredentials(JSON.parse(secrets)),
  dataset: { ...dataset, write },
});

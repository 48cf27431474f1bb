/**
 * `npm run bench`: benchmarks of the harness, the loaders and the HandlerSocket client with their
 * targets. `npm run bench -- harness loaders` runs selected ones; `--smoke` uses the sizes of
 * tests.
 */

import { getLoader } from '../data/loaders/index.js';
import { resolveAddress } from '../engine/addresses.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { DEFAULT_SERVER_NAMES, startServers } from '../servers/index.js';
import { showFigures } from './figures.js';
import { shareCredentials } from './login.js';
import { isMain } from './main.js';

/** @type {Record<string, () => Promise<{ run: (context: any) => AsyncIterable<any> }>>} */
const BENCHES = {
  harness: () => import('./harness.js'),
  loaders: () => import('./loaders.js'),
  handlersocket: () => import('./handlersocket.js'),
  mget: () => import('./mget.js'),
  mutex: () => import('./mutex.js'),
  selfcheck: () => import('./selfcheck.js'),
  'like-shape': () => import('./like-shape.js'),
};

const smoke = process.argv.includes('--smoke');
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const unknown = named.find((name) => !(name in BENCHES));
if (unknown !== undefined) {
  console.error(`unknown bench ${unknown}; available: ${Object.keys(BENCHES).join(', ')}`);
  process.exit(2);
}

async function main() {
  const home = findHome();
  const rows = smoke ? 1000 : 100_000;
  const { servers, stop } = await startServers([...DEFAULT_SERVER_NAMES], { home, owned: true });
  try {
    /** @type {import('./figures.js').BenchContext} */
    const context = { smoke, servers: {}, rows };
    await shareCredentials(servers);
    for (const name of DEFAULT_SERVER_NAMES) {
      const { address, credentials } = await resolveAddress(name, { home });
      const loader = await getLoader(name);
      await loader.seed({ address, credentials, dataset: createDataset({ rows }) });
      context.servers[name] = address;
    }
    for (const name of named.length === 0 ? Object.keys(BENCHES) : named) {
      console.log(`\n${name}`);
      const figures = [];
      for await (const figure of (await BENCHES[name]()).run(context)) {
        console.error(`  measured: ${figure.name}`);
        figures.push(figure);
      }
      console.log(showFigures(figures));
    }
  } finally {
    await stop();
  }
}

if (isMain(import.meta.filename)) await main();

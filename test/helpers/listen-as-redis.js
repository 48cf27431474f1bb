/** A fake Redis in a separate process: prints its port, then for each line of input the keys of
 * all GETs so far. Its argument is the address to listen at. */

import { createInterface } from 'node:readline';
import { listenAndKeep } from './fleet.js';

const server = await listenAndKeep(process.argv[2]);
console.log(JSON.stringify({ port: server.port }));
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ keys: server.keys }));
  if (line === 'forget') server.forget();
}

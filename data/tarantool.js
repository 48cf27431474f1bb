/** Fills tarantool with the rows: a shim over `dragstrip seed`. */
import { start } from '../cli/start.js';

await start(process.argv.slice(2), {
  name: 'data/tarantool.js',
  command: 'seed',
  args: ['tarantool'],
});

/** Fills tarantool with the rows: a shim over `dragstrip seed`. */
import { main } from '../cli/main.js';

await main(process.argv.slice(2), {
  name: 'data/tarantool.js',
  command: 'seed',
  args: ['tarantool'],
});

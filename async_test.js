/** All requests at once, as the original program has it: a shim over the command line. */
import { main } from './cli/main.js';

await main(process.argv.slice(2), { name: 'async_test.js', command: 'async' });

/** Fills redis with the rows: a shim over `dragstrip seed`. */
import { main } from '../cli/main.js';

await main(process.argv.slice(2), { name: 'data/redis.js', command: 'seed', args: ['redis'] });

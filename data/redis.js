/** Fills redis with the rows: a shim over `dragstrip seed`. */
import { start } from '../cli/start.js';

await start(process.argv.slice(2), { name: 'data/redis.js', command: 'seed', args: ['redis'] });

#!/usr/bin/env node
/** One request in flight, as the original program has it: a shim over the command line. */
import { start } from './cli/start.js';

await start(process.argv.slice(2), { name: 'test.js', command: 'sync' });

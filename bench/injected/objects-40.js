/** A contender of bench/injected.js: about twice the garbage of ioredis. */

import { injected } from './storage.js';

export const storage = injected('objects-40', { objects: 40 });

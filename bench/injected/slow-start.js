/** A contender of bench/injected.js. */

import { injected } from './storage.js';

export const storage = injected('slow-start', { slowMs: 1000 });

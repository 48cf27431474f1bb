/** A contender of bench/injected.js. */

import { injected } from './storage.js';

export const storage = injected('twice-33', { twiceEvery: 33 });

/** A contender of bench/injected.js. */

import { injected } from './storage.js';

export const storage = injected('pause-30', { pauseMs: 30 });

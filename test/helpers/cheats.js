/** Path of the storage that cheats with its profiles. */

import { fileURLToPath } from 'node:url';

export const CHEAT = fileURLToPath(new URL('./cheating-storage.js', import.meta.url));

/**
 * Detects whether a script of bench/ runs, or is imported by a test, which checks the engine's
 * names in it.
 */

import { realpathSync } from 'node:fs';

/** @param {string} file `import.meta.filename` */
export const isMain = (file) =>
  process.argv[1] !== undefined && realpathSync(process.argv[1]) === file;

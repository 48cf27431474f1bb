/** Whether a script of bench/ runs, or is imported: by a test, which holds it to the engine's names. */

import { realpathSync } from 'node:fs';

/** @param {string} file `import.meta.filename` */
export const isMain = (file) =>
  process.argv[1] !== undefined && realpathSync(process.argv[1]) === file;

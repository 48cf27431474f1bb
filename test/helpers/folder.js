/** A temporary folder of a test file, a suite or a test, removed afterwards. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';

/**
 * @param {{ after: (remove: () => void) => unknown }} [of] context of a test; absent: the file or
 *   the suite
 * @returns {string}
 */
export function withFolder(of = { after }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-'));
  of.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

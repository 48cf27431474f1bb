/** A temporary folder of a test file or a suite, removed after its tests. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';

/** @returns {string} */
export function withFolder() {
  const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

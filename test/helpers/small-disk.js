/** A file system of a few megabytes, for tests of a full disk. It needs root. */

import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** @param {readonly string[]} words */
const run = ([program, ...words]) => execFileSync(program, words, { stdio: 'pipe' });

/**
 * @param {number} megabytes
 * @returns {{ folder: string, fill: () => void, remove: () => void }} fill: fills it completely
 */
export function makeSmallDisk(megabytes) {
  const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-disk-'));
  run(['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder]);
  return {
    folder,
    fill() {
      const filler = openSync(path.join(folder, 'filler'), 'a');
      try {
        for (const size of [2 ** 20, 2 ** 12]) {
          try {
            while (writeSync(filler, Buffer.alloc(size)) === size);
          } catch (error) {
            if (error.code !== 'ENOSPC') throw error;
          }
        }
      } finally {
        closeSync(filler);
      }
    },
    remove() {
      run(['umount', '--lazy', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @returns {string | false} reason for `skip`; false: available */
export function whyNoSmallDisk() {
  if (process.getuid?.() !== 0) return 'mounting a file system needs root';
  try {
    makeSmallDisk(1).remove();
    return false;
  } catch (error) {
    return `no tmpfs can be mounted: ${error.message}`;
  }
}

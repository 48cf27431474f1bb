/**
 * A driver without a server, whose versions differ in the microtask turns of a read, so that times
 * identify the loaded version; and its storage.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * @param {string} place folder of the package
 * @param {string} version
 * @param {number} turns microtask turns per read
 */
export function writeDriver(place, version, turns) {
  mkdirSync(path.join(place, 'lib'), { recursive: true });
  const manifest = {
    name: 'turning-driver',
    version,
    type: 'module',
    exports: { '.': './index.js', './turns': './lib/turns.js' },
    scripts: { install: "node -e \"require('fs').writeFileSync('ran', '')\"" },
  };
  const files = {
    'package.json': JSON.stringify(manifest),
    'index.js': `export const version = '${version}';\n`,
    'lib/turns.js': `export const version = '${version}';\nexport const turns = ${turns};\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(place, name), text);
}

/**
 * Writes drivers, and `turning.mjs`, a storage of the version that its process loads.
 * @param {string} folder
 * @param {Record<string, [version: string, turns: number]>} drivers by folder
 */
export function writeTurning(folder, drivers) {
  for (const [place, driver] of Object.entries(drivers)) {
    writeDriver(path.join(folder, place), ...driver);
  }
  writeFileSync(
    path.join(folder, 'turning.mjs'),
    `import { version } from 'turning-driver';
    export default {
      name: 'turning', summary: 'waits', package: 'turning-driver', server: null,
      profiles: { default: { summary: '', options: {} } },
      open: { rows: async ({ dataset }) => {
        const loaded = await import('turning-driver/turns');
        if (loaded.version !== version) throw new Error('two versions mixed');
        const { turns } = loaded;
        return {
          async get(id) {
            for (let i = 0; i < turns; i += 1) await null;
            return dataset.value(id);
          },
          async close() {},
        };
      } },
    };`,
  );
}

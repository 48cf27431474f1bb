/**
 * Repeatedly locks and increments a counter in a file: `node hold-lock.js LOCK FILE N`. With `hang`
 * for N it prints a line and keeps the lock, with `share` it shares it.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { withLock } from '../../servers/lock.js';

const [lock, file, n] = process.argv.slice(2);
if (n === 'hang' || n === 'share') {
  await withLock(lock, { shared: n === 'share', purpose: 'race' }, async () => {
    process.stdout.write('held\n');
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  });
}
for (let i = 0; i < Number(n); i += 1) {
  await withLock(lock, {}, async () => {
    const count = Number(readFileSync(file, 'utf8'));
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(file, String(count + 1));
  });
}

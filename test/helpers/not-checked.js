/** Reports assertions that are impossible on this machine; scripts/test-reporter.js counts them. */

import { existsSync } from 'node:fs';
import { accountHome } from '../../servers/lock.js';

/**
 * @param {Pick<import('node:test').TestContext, 'diagnostic'>} t
 * @param {string} reason
 */
export function notChecked(t, reason) {
  t.diagnostic(`not checked: ${reason}`);
}

/**
 * Locks shared by commands with different state folders are in the home of the account
 * (servers/lock.js).
 * @returns {string | false} reason to skip a test of them: an account such as nobody has no home
 */
export function withoutAccountHome() {
  return !existsSync(accountHome() ?? '') && 'this account has no home';
}

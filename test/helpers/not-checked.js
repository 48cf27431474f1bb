/** Reports assertions that are impossible on this machine; scripts/test-reporter.js counts them. */

/**
 * @param {Pick<import('node:test').TestContext, 'diagnostic'>} t
 * @param {string} reason
 */
export function notChecked(t, reason) {
  t.diagnostic(`not checked: ${reason}`);
}

/** Products with the protocol of MySQL, by their variables; what MariaDB's script says went wrong. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorIn } from '../../servers/mariadb.js';
import { sqlProduct } from '../../servers/mariadb-settings.js';

test('products with the protocol of MySQL are named; MariaDB has its version alone', () => {
  for (const [variables, expected] of /** @type {const} */ ([
    [{ version: '10.11.19-MariaDB-0+deb12u1', comment: 'Debian 12' }, '10.11.19-MariaDB-0+deb12u1'],
    [{ version: '10.6.18-MariaDB-log', comment: 'managed by a provider' }, '10.6.18-MariaDB-log'],
    [{ version: '8.4.2', comment: 'MySQL Community Server - GPL' }, 'MySQL 8.4.2'],
    [{ version: '8.0.35', comment: 'Source distribution' }, 'MySQL 8.0.35'],
    [
      { version: '8.0.36-28', comment: 'Percona Server (GPL), Release 28, Revision 47601f19' },
      'Percona Server 8.0.36-28',
    ],
    [
      { version: '8.0.32', comment: 'Source distribution', aurora: '3.05.2' },
      'Aurora MySQL 3.05.2',
    ],
    [{ version: '8.0.11-TiDB-v8.3.0', comment: 'TiDB Server' }, 'TiDB 8.3.0'],
    [{ version: '5.7.1', comment: 'something else' }, '5.7.1'],
  ])) {
    assert.equal(sqlProduct(variables), expected);
  }
});

/** The end of its output, of 10.11. */
const ADVICE = `Installation of system tables failed!  Examine the logs in
./data for more information.

The problem could be conflicting information in an external
my.cnf files. You can ignore these by doing:

    shell> /usr/bin/mariadb-install-db --defaults-file=~/.my.cnf

Please check all of the above before submitting a bug report
at https://mariadb.org/jira
`;

test('the error lines of mariadb-install-db are shown, not its advice', () => {
  const installing = "Installing MariaDB/MySQL system tables in './data' ...\n";
  for (const [output, expected] of [
    [
      '\nFATAL ERROR: Could not find my_print_defaults\n\nThe following directories were ' +
        `searched:\n\n    /nowhere/bin\n\n${ADVICE}`,
      'FATAL ERROR: Could not find my_print_defaults',
    ],
    [
      'mkdir: cannot create directory ‘/proc/nope’: No such file or directory\n' +
        `Fatal error Can't create database directory '/proc/nope'\n\n${ADVICE}`,
      'mkdir: cannot create directory ‘/proc/nope’: No such file or directory\n' +
        "Fatal error Can't create database directory '/proc/nope'",
    ],
    [
      `${installing}2026-11-25  3:35:17 0 [ERROR] mariadbd: unknown variable 'no-such-option=1'\n` +
        `2026-11-25  3:35:17 0 [ERROR] Aborting\n\n${ADVICE}`,
      "2026-11-25  3:35:17 0 [ERROR] mariadbd: unknown variable 'no-such-option=1'",
    ],
    [
      `${installing}mariadbd: error while loading shared libraries: liburing.so.2\n\n${ADVICE}`,
      'mariadbd: error while loading shared libraries: liburing.so.2',
    ],
    ['1\n2\n3\n4\n5\n6\n', '2\n3\n4\n5\n6'],
  ]) {
    assert.equal(errorIn(output), expected);
  }
});

/** Products with the protocol of MySQL, by their variables. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
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

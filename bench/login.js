/**
 * Credentials of the servers started by a bench. The environment contains the paths of their files
 * for contender processes, not the secrets themselves.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { readCredentials } from '../lib/credentials.js';
import { loadServer } from '../servers/registry.js';

/**
 * @param {readonly import('../lib/types.js').RunningServer[]} servers
 */
export async function shareCredentials(servers) {
  for (const { name, credentials = {} } of servers) {
    const variables = await variablesOf(name);
    for (const [field, path] of Object.entries(credentials)) {
      process.env[`${variables[field]}_FILE`] = path;
    }
  }
}

/** @param {string} server name */
export async function credentialsFor(server) {
  return readCredentials(await variablesOf(server));
}

/**
 * @param {string} server name
 * @returns {Promise<Record<string, string>>} environment variable per field
 */
export async function variablesOf(server) {
  return /** @type {Record<string, string>} */ ((await loadServer(server)).credentials);
}

/**
 * MariaDB's root, which is limited to the server's private unix socket; its secret is in the
 * statements of the last start.
 * @param {import('../lib/types.js').RunningServer} mariadb
 * @returns {Promise<import('mysql2/promise').Connection>}
 */
export async function openAdmin({ folder, address }) {
  const statements = readFileSync(join(folder, 'accounts.sql'), 'utf8');
  const password = /CREATE USER root@localhost IDENTIFIED BY '(\w+)'/.exec(statements)?.[1];
  const socketPath = address['unix'].replace(/^unix:/, '');
  return mysql.createConnection({ socketPath, user: 'root', password });
}

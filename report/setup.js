/** Environment in a page: versions, driver options, servers, options of the run. */

import { plainText } from '../lib/format.js';
import { labelOf } from '../lib/label.js';

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {import('../lib/report-types.js').Setup}
 */
export function setupOf({ storages, servers, options, environment, dragstrip, command }) {
  return {
    storages: {
      columns: ['storage', 'driver', 'server', 'calls', 'options'],
      rows: storages.map((storage) => [
        plainText(labelOf({ storage: storage.name, profile: storage.profile })),
        driverText(storage),
        plainText(storage.server ?? 'embedded'),
        storage.calls,
        Object.keys(storage.options).length === 0 ? '' : textOf(storage.options),
      ]),
    },
    servers: servers.map(({ name, version, settings, address, source }) => ({
      title: plainText(`${name} ${version ?? '(version unknown)'}: address and settings`),
      pairs: [
        ...pairsOf(address, (key) => `address ${key}`),
        ['address by', source],
        ...pairsOf(settings),
      ],
    })),
    options: [
      ['dragstrip', plainText(dragstrip)],
      ['command', plainText(command)],
      ...pairsOf({ ...options, ...environment }).map(withoutFolders),
    ],
  };
}

/** @param {import('../lib/result.js').Result['storages'][number]} storage */
function driverText({ package: name, version }) {
  return plainText(name === null ? 'built in' : `${name} ${version ?? '(version unknown)'}`);
}

/**
 * @param {[string, string]} pair
 * @returns {[string, string]} without folders of the machine, since pages are published
 */
function withoutFolders([name, text]) {
  return [name, text.replace(/(?<=^|["\s,:=@])(?:\/|[A-Za-z]:\\)[^"\s,]*[/\\](?=[^"\s,])/g, '…/')];
}

/** @param {unknown} value */
function textOf(value) {
  return plainText(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}

/**
 * @param {object} values
 * @param {(key: string) => string} [name]
 * @returns {[string, string][]}
 */
function pairsOf(values, name = (key) => key) {
  return Object.entries(values).map(([key, value]) => [plainText(name(key)), textOf(value)]);
}

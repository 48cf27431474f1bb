/**
 * The archives of the recorded bytes: codecs/fixtures/PROTOCOL.br, each read once per process that
 * needs it.
 */

import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { usageError } from '../lib/errors.js';
import { largeValue } from './rows.js';

/** @param {string} protocol @returns {URL} location of its recorded bytes */
export const archiveOf = (protocol) => new URL(`fixtures/${protocol}.br`, import.meta.url);

/**
 * @typedef {object} Archive archive of one protocol
 * @property {string} recordedFrom server and version
 * @property {Map<string, Buffer>} bytes by name of the fixture
 */

/** @type {Map<string, Archive>} */
const archives = new Map();

/**
 * @param {string} protocol
 * @returns {Archive} archive, read once
 */
export function readArchive(protocol) {
  const known = archives.get(protocol);
  if (known !== undefined) return known;
  const archive = parseArchive(brotliDecompressSync(readFileSync(archiveOf(protocol))));
  archives.set(protocol, archive);
  return archive;
}

/**
 * A line of JSON with the length of each fixture and the positions of the values of 1 KB, then the
 * bytes without these values, which are random text that does not compress, and follow from their
 * ids.
 * @param {Buffer} archive uncompressed
 * @returns {Archive}
 */
function parseArchive(archive) {
  const head = archive.indexOf(10);
  const { recordedFrom, fixtures, values } = JSON.parse(archive.toString('utf8', 0, head));
  const plain = withLargeValues(archive.subarray(head + 1), values);
  let at = 0;
  const bytes = new Map();
  for (const [name, length] of fixtures) {
    bytes.set(name, plain.subarray(at, at + length));
    at += length;
  }
  return { recordedFrom, bytes };
}

/**
 * @param {Buffer} rest
 * @param {readonly [number, number][]} values
 */
function withLargeValues(rest, values) {
  let from = 0;
  const parts = values.flatMap(([length, id]) => {
    from += length;
    return [rest.subarray(from - length, from), Buffer.from(largeValue(id))];
  });
  return Buffer.concat([...parts, rest.subarray(from)]);
}

/**
 * @param {import('./fixtures.js').Fixture} fixture fixture of replies
 * @returns {Buffer} bytes as sent by the server
 */
export function fixtureBytes({ protocol, name, bytesOf = name }) {
  const found = readArchive(protocol).bytes.get(bytesOf);
  if (found === undefined) throw usageError(`${protocol}/${bytesOf} is not in the archive`);
  return found;
}

/**
 * Short private folders for unix sockets. A socket's path may have 107 characters (unix(7)), for
 * HAProxy 97, and no blanks in the configuration of a proxy, while the path of a state folder may
 * be long. Not in XDG_RUNTIME_DIR, which is removed at logout while servers continue, and is not
 * accessible to the users of servers started by root.
 */

import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { targetError } from '../lib/errors.js';
import { listFolder } from '../lib/folder.js';
import { ownerMayLive, ownerName } from '../lib/process-identity.js';
import { isServerUid } from './unprivileged.js';

/** Folders in which every user may create one. Not TMPDIR, which may be long. */
const PLACES = Object.freeze(['/tmp', '/dev/shm']);
const PREFIX = 'dragstrip-';
/** Contains its owner, if it ends with it; the rest is random. */
const NAME = /^dragstrip-(?:(\d+\.\d+\.[0-9a-f]{8})\.)?[A-Za-z0-9]{6}$/;

/**
 * @param {boolean} owned the server ends with this process
 * @returns {string} a new folder that only this user can access, created exclusively
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: it cannot be created
 */
export function makeSocketFolder(owned) {
  const prefix = owned ? `${PREFIX}${ownerName()}.` : PREFIX;
  let failure;
  for (const place of PLACES) {
    try {
      return mkdtempSync(join(place, prefix));
    } catch (error) {
      failure = error;
    }
  }
  throw targetError(
    `cannot create a folder for unix sockets in ${PLACES.join(' or ')} (${failure.code})`,
    'free some space, or check the permissions of these folders',
    failure,
  );
}

/** @param {import('../lib/types.js').RunningServer} server ended server */
export function removeSocketFolder({ address }) {
  const folder = dirname(String(address['unix']?.replace(/^unix:/, '')));
  if (isOurs(folder)) rmSync(folder, { recursive: true, force: true });
}

/** Removes folders whose owner was killed, for all state folders of this user. */
export function sweepSocketFolders() {
  for (const folder of PLACES.flatMap((place) =>
    listFolder(place).map((leaf) => join(place, leaf)),
  )) {
    const owner = NAME.exec(basename(folder))?.[1];
    if (owner === undefined || ownerMayLive(owner) || !isOurs(folder)) continue;
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} folder
 * @returns {boolean} whether it belongs to this user, or to a server's user if root started it;
 *   false if missing
 */
function isOurs(folder) {
  if (!PLACES.includes(dirname(folder)) || !NAME.test(basename(folder))) return false;
  const there = lstatSync(folder, { throwIfNoEntry: false });
  if (!there?.isDirectory()) return false;
  const own = process.getuid?.() ?? there.uid;
  return there.uid === own || (own === 0 && isServerUid(there.uid));
}

/**
 * The coordinator of several load machines (docs/fleet.md): a Redis of its own, never one that is
 * measured. Who has its token may do with Dragstrip's own keys what the coordination needs, and
 * nothing else: no key of another name, no setting, no other user, no script library.
 */

import { defineRedisServer } from './redis-family.js';

/** Begins every key of the coordination. */
export const COORDINATOR_PREFIX = 'dragstrip-fleet';

/** What its user may do, as ACL SETUSER takes it. */
export const RULES = [
  `~${COORDINATOR_PREFIX}:* resetchannels -@all +@read +@write +@connection +@transaction`,
  '+@scripting -@dangerous -function -fcall -fcall_ro +info +time',
].join(' ');

export default defineRedisServer({
  name: 'coordinator',
  title: 'Redis',
  summary: 'the coordinator of several load machines (race --agents): a Redis of its own',
  program: 'redis',
  endpoint: {
    default: '127.0.0.1:6390',
    env: 'DRAGSTRIP_COORDINATOR',
    flag: 'coordinator',
    summary: 'the coordinator',
  },
  credentials: { user: 'DRAGSTRIP_COORDINATOR_USER', password: 'DRAGSTRIP_COORDINATOR_TOKEN' },
  packages: ['redis-server', 'redis-tools'],
  product: null,
  binariesOf: 'redis',
  rules: RULES,
  keepsRows: false,
});

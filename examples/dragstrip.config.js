/**
 * Options in a file, for a driver's repository in CI: copy it to the root of the checkout.
 *
 *   npx dragstrip race          # all options below that the command takes
 *   npx dragstrip race --budget 5m
 */

export default {
  // For every command that takes them.
  storages: ['ioredis'],
  // For one command: the checkout against the last release, ends with status 6 if slower.
  race: {
    against: ['ioredis@latest', '.'],
    reference: 'ioredis@latest',
    failIf: ['throughput<0.975', 'client-cpu>1.025', 'writes>2'],
    setup: true,
    json: 'race.json',
  },
  compare: { failIfSlower: '5%' },
};

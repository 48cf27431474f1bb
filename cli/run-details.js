/**
 * The options of a workload as a command, for its help and for the parser; separate from
 * commands/run.js, so that the help loads neither the engine nor reports.
 */

import { optionsOf } from '../engine/options.js';
import { loadWorkload } from '../workloads/index.js';
import { RACE_FLEET_OPTIONS } from './fleet-options.js';
import { rowsOf } from './option-rows.js';
import { ADDRESS_OPTIONS, FURTHER_ADDRESSES, OPTIONS, STORE_OPTIONS } from './options.js';

const OWN_OUTPUTS = [
  'saveBaseline',
  'baseline',
  'explain',
  'prometheus',
  'hlog',
  'markdown',
  'csv',
];
/** Options of a race only. */
const RACE_OPTIONS = ['setup', 'limits', 'noHtml'];

/** @type {import('./options.js').OptionRow} */
const WORKLOAD = {
  flags: '--workload <workload>',
  help: 'workload: a name (see npx dragstrip list), or a file such as ./mine.js',
};

/**
 * Its options are known before the others are read.
 * @param {readonly string[]} argv
 * @returns {string | undefined} value of --workload
 */
export function workloadIn(argv) {
  const at = argv.findIndex((word) => /^--workload(=|$)/.test(word));
  if (at < 0) return undefined;
  return /=(.*)$/.exec(argv[at])?.[1] ?? argv[at + 1];
}

/**
 * @param {string} name name of the workload, or its file
 * @param {string} [command] name of its command
 * @returns {Promise<import('./main.js').CommandDetails>}
 */
export async function detailsOf(name, command = name) {
  const workload = await loadWorkload(name);
  const { storages, ...table } = optionsOf(workload, { all: false });
  const addresses = [...ADDRESS_OPTIONS, ...FURTHER_ADDRESSES].filter(
    (one) => one !== 'allowTargets',
  );
  const { namespace, isRace } = workload;
  const hasServers = workload.contenders === undefined;
  const options = [
    ...(command === 'run' ? [WORKLOAD] : []),
    ...(isRace ? [...RACE_OPTIONS.map((one) => OPTIONS[one]), ...RACE_FLEET_OPTIONS] : []),
    ...rowsOf({ storages }),
    ...rowsOf(table),
    ...(command === workload.preset ? [] : [OPTIONS['svg']]),
    ...[...OWN_OUTPUTS, ...STORE_OPTIONS].flatMap((one) =>
      Object.hasOwn(table, one) ? [] : OPTIONS[one],
    ),
    // With names of its own it is known which servers it uses.
    ...(hasServers ? addresses : []).map((one) => {
      const { server = '', ...row } = OPTIONS[one];
      const isUsed =
        namespace === undefined || server === ''
          ? !FURTHER_ADDRESSES.includes(one)
          : Object.hasOwn(namespace, server);
      return { ...row, hidden: !isUsed };
    }),
  ];
  const tests = Object.entries(workload.tests ?? {});
  if (tests.length === 0) return { options, summary: workload.summary };
  const lines = tests.map(([test, about]) => `  ${`${command} ${test}`.trim()}: ${about}`);
  return {
    options,
    args: tests.some(([test]) => test === '') ? '[test]' : '<test>',
    example: tests[0][0],
    summary: `${workload.summary}\n\n${lines.join('\n')}`,
  };
}

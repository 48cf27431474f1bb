/**
 * Named results that later runs are held against: kept in the state folder by `--save-baseline`,
 * compared after a run by `--baseline`. Two runs are two states of the machine, so a verdict needs
 * a reference in both (report/analysis/reference.js); without one, gates stay undecided.
 */

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { sealResult } from '../lib/digest.js';
import { DragstripError, EXIT_STATUS, usageError } from '../lib/errors.js';
import { makeFolder } from '../lib/folder.js';
import { parseGate } from '../lib/gate.js';
import { findHome, makeHome } from '../lib/home.js';
import { ADVICE, compareResults } from '../report/analysis/comparison.js';
import { comparisonDocument } from '../report/comparison.js';
import { loadDocumentReport } from '../report/index.js';
import { readResult } from './commands/report.js';
import { fittedTo } from './session.js';
import { writeWhole } from './storage.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/gate.js').Gate} Gate */
/** @typedef {import('../report/analysis/comparison.js').ComparedBenchmark} ComparedBenchmark */

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * @param {string} name
 * @param {string} flag
 * @returns {string} its file
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
function fileOf(name, flag) {
  if (NAME.test(name)) return path.join(findHome(), 'baselines', `${name}.json`);
  throw usageError(
    `${flag} ${JSON.stringify(name)}: not a name of letters, digits, dots and dashes`,
    `write for example ${flag} main`,
  );
}

/**
 * @param {Record<string, any>} options of the command
 * @returns {Promise<Baseline>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: there is none of that name
 */
export async function openBaseline({ baseline: name, saveBaseline: place, failIf, against }) {
  if (place !== undefined) fileOf(place, '--save-baseline');
  if (name === undefined) return new Baseline({ place, gatesOfRun: failIf });
  const file = fileOf(name, '--baseline');
  if (!existsSync(file)) throw unknownBaseline(name, path.dirname(file));
  /** @type {Gate[]} */
  const gates = (failIf ?? []).map((/** @type {string} */ text) => parseGate(text));
  // With contenders in the run itself, ratios refer to those.
  const own = against === undefined ? gates.filter(({ isRatio }) => isRatio) : [];
  const wrong = own.find(({ metric }) => metric !== 'throughput');
  if (wrong !== undefined) {
    throw usageError(
      `--fail-if ${JSON.stringify(wrong.text)}: against a baseline only throughput is compared`,
      'race both in one run: --against ioredis@5 or --against ./my-fork',
    );
  }
  const texts = gates.filter((gate) => !own.includes(gate)).map(({ text }) => text);
  const gatesOfRun = texts.length === 0 ? undefined : texts;
  const result = await readResult(file).catch((error) => {
    const hint = `save it anew: npx dragstrip race --save-baseline ${name}`;
    throw new DragstripError(error.code, error.message, { hint, cause: error });
  });
  return new Baseline({ place, gatesOfRun, stored: { name, result }, own });
}

/**
 * @param {string} name
 * @param {string} folder
 */
function unknownBaseline(name, folder) {
  const known = existsSync(folder) ? readdirSync(folder).map((one) => path.parse(one).name) : [];
  return usageError(
    `--baseline ${name}: there is none of that name`,
    known.length > 0
      ? `saved are ${known.join(', ')}`
      : `save one: npx dragstrip race --save-baseline ${name}`,
  );
}

/** What a command does with the baselines of its options: nothing, where none is named. */
export class Baseline {
  /** @type {{ outcome: 'failed' | 'passed' | 'undecided', line: string }[]} */
  #outcomes = [];

  /**
   * @param {{ place?: string, gatesOfRun?: string[], own?: Gate[],
   *   stored?: { name: string, result: Result } }} about place: to save the result to; gatesOfRun:
   *   texts of the gates that the run judges itself; own: ratios to the stored result
   */
  constructor({ place, gatesOfRun, own = [], stored }) {
    this.place = place;
    this.gatesOfRun = gatesOfRun;
    this.own = own;
    this.stored = stored;
  }

  /**
   * The comparison with the baseline, with what differs, and the gates; then the result is saved.
   * @param {Result} result of the run
   * @param {NodeJS.WriteStream} stdout
   */
  async print(result, stdout) {
    if (this.stored !== undefined) {
      const { name, result: base } = this.stored;
      const stored = { file: `baseline ${name}`, result: base };
      const comparison = compareResults(stored, [{ file: 'this run', result }]);
      const render = await loadDocumentReport('console');
      const table = render(comparisonDocument(comparison), fittedTo(stdout));
      this.#judge(comparison.others[0], name);
      const lines = this.#outcomes.map(({ line }) => line);
      stdout.write(`\n${[table.trimEnd(), ...lines].join('\n')}\n`);
    }
    if (this.place === undefined || result.state !== 'complete') return;
    const file = fileOf(this.place, '--save-baseline');
    makeHome(findHome());
    makeFolder(path.dirname(file));
    await writeWhole(file, `${JSON.stringify(sealResult(result))}\n`);
    stdout.write(`\nbaseline: ${this.place}\n`);
  }

  /**
   * @param {import('../report/analysis/comparison.js').Comparison['others'][number]} compared
   * @param {string} name of the baseline
   */
  #judge({ benchmarks, differences }, name) {
    this.#outcomes = this.own.flatMap((gate) =>
      benchmarks.map((one) => {
        const { outcome, why } = judge(gate, one, differences.length > 0);
        const line = `${outcome}: ${gate.text}, ${one.benchmark} of baseline ${name}: ${why}`;
        return { outcome, line };
      }),
    );
  }

  /** @returns {number} exit status */
  status() {
    const hasFailed = this.#outcomes.some(({ outcome }) => outcome === 'failed');
    return hasFailed ? EXIT_STATUS['E_REGRESSION'] : 0;
  }
}

/**
 * @param {Gate} gate
 * @param {ComparedBenchmark} compared
 * @param {boolean} differs whether the conditions do
 * @returns {{ outcome: 'failed' | 'passed' | 'undecided', why: string }}
 */
function judge({ op, limit }, { reference, ratio, low, high, roundsNeeded }, differs) {
  if (differs) return { outcome: 'undecided', why: 'measured under other conditions, see above' };
  if (reference === null) return { outcome: 'undecided', why: ADVICE };
  if (ratio === null || low === null || high === null) {
    return { outcome: 'undecided', why: 'fewer than two rounds' };
  }
  const why = `${ratio.toFixed(3)}× (${low.toFixed(3)} to ${high.toFixed(3)})`;
  const [below, above] = [high < limit, low > limit];
  if (!below && !above) {
    const needed = roundsNeeded === null ? '' : `; ${roundsNeeded} rounds would decide`;
    return { outcome: 'undecided', why: `${why}${needed}` };
  }
  return { outcome: below === (op === '<') ? 'failed' : 'passed', why };
}

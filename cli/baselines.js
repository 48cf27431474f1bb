/**
 * Named results as references for later runs: `--save-baseline` stores one in the state folder,
 * `--baseline` compares a run with it. Two runs are two states of the machine, so a verdict needs a
 * reference in both (report/analysis/reference.js); without one, gates stay undecided.
 */

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { sealResult } from '../lib/digest.js';
import { DragstripError, EXIT_STATUS, usageError } from '../lib/errors.js';
import { makeFolder } from '../lib/folder.js';
import { parseGate } from '../lib/gate.js';
import { findHome, makeHome } from '../lib/home.js';
import { fittedTo } from './session.js';
import { writeWhole } from './storage.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/gate.js').Gate} Gate */
/** @typedef {import('../report/analysis/comparison.js').ComparedBenchmark} ComparedBenchmark */

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * @param {string} name
 * @param {string} flag
 * @returns {string} file of the baseline
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
 * @param {Record<string, any>} options options of the command
 * @returns {Promise<Baseline>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: unknown name
 */
export async function openBaseline({ baseline: name, saveBaseline: place, failIf, against }) {
  if (place !== undefined) fileOf(place, '--save-baseline');
  if (name === undefined) return new Baseline({ place, gatesOfRun: failIf });
  const file = fileOf(name, '--baseline');
  if (!existsSync(file)) throw unknownBaseline(name, path.dirname(file));
  /** @type {Gate[]} */
  const gates = (failIf ?? []).map((/** @type {string} */ text) => parseGate(text));
  // If the run itself has several contenders, ratios refer to them.
  const ratioGates = against === undefined ? gates.filter(({ isRatio }) => isRatio) : [];
  const wrong = ratioGates.find(({ metric }) => metric !== 'throughput');
  if (wrong !== undefined) {
    throw usageError(
      `--fail-if ${JSON.stringify(wrong.text)}: against a baseline only throughput is compared`,
      'race both in one run: --against ioredis@5 or --against ./my-fork',
    );
  }
  const texts = gates.filter((gate) => !ratioGates.includes(gate)).map(({ text }) => text);
  const gatesOfRun = texts.length === 0 ? undefined : texts;
  const { readResult } = await import('./commands/report.js');
  const result = await readResult(file, { digest: 'required' }).catch((error) => {
    const hint = `save it again: npx dragstrip race --save-baseline ${name}`;
    throw new DragstripError(error.code, error.message, { hint, cause: error });
  });
  return new Baseline({ place, gatesOfRun, stored: { name, result }, own: ratioGates });
}

/**
 * @param {string} name
 * @param {string} folder
 */
function unknownBaseline(name, folder) {
  const known = existsSync(folder) ? readdirSync(folder).map((one) => path.parse(one).name) : [];
  return usageError(
    `--baseline ${name}: unknown baseline`,
    known.length > 0
      ? `saved baselines: ${known.join(', ')}`
      : `save one: npx dragstrip race --save-baseline ${name}`,
  );
}

/** Baselines of a command; does nothing if none is named. */
export class Baseline {
  /** @type {{ outcome: 'failed' | 'passed' | 'undecided', line: string }[]} */
  #outcomes = [];

  /**
   * @param {{ place?: string, gatesOfRun?: string[], own?: Gate[], stored?: { name: string, result:
   *   Result } }} about place: destination of the result; gatesOfRun: texts of the gates that the
   *   run decides; own: ratios to the stored result
   */
  constructor({ place, gatesOfRun, own = [], stored }) {
    this.place = place;
    this.gatesOfRun = gatesOfRun;
    this.own = own;
    this.stored = stored;
  }

  /**
   * Prints the comparison with the baseline, the differing conditions and the gates; then saves the
   * result.
   * @param {Result} result result of the run
   * @param {NodeJS.WriteStream} stdout
   */
  async print(result, stdout) {
    if (this.stored !== undefined) {
      // Without a baseline a command does not load what compares results.
      const { ADVICE, compareResults } = await import('../report/analysis/comparison.js');
      const { comparisonDocument } = await import('../report/comparison.js');
      const { loadDocumentReport } = await import('../report/index.js');
      const { name, result: base } = this.stored;
      const stored = { file: `baseline ${name}`, result: base };
      const comparison = compareResults(stored, [{ file: 'this run', result }]);
      const render = await loadDocumentReport('console');
      const table = render(comparisonDocument(comparison), fittedTo(stdout));
      this.#judge(comparison.others[0], name, ADVICE);
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
   * @param {string} name name of the baseline
   * @param {string} advice advice if runs share no reference
   */
  #judge({ benchmarks, differences }, name, advice) {
    this.#outcomes = this.own.flatMap((gate) =>
      benchmarks.map((one) => {
        const how = { differs: differences.length > 0, advice };
        const { outcome, why } = decide(gate, one, how);
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
 * @param {{ differs: boolean, advice: string }} how differs: whether the conditions differ; advice:
 *   advice without a reference
 * @returns {{ outcome: 'failed' | 'passed' | 'undecided', why: string }}
 */
function decide({ op, limit }, { reference, ratio, low, high, roundsNeeded }, how) {
  const { differs, advice } = how;
  if (differs) return { outcome: 'undecided', why: 'different conditions, see above' };
  if (reference === null) return { outcome: 'undecided', why: advice };
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

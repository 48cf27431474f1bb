/**
 * The lines of a run while it goes on: the seed's, for the two runners, and one for each cell, for
 * the race.
 */

/** @typedef {import('../index.js').RunEvent} RunEvent */
/** @typedef {import('../result.js').Cell} Cell */
/** @typedef {import('../result.js').Round} Round */

/**
 * @typedef {object} LineContext
 * @property {NodeJS.WritableStream} stdout
 * @property {import('./progress.js').Progress} progress
 * @property {boolean} [quiet]
 */

/**
 * The seed's lines, per storage and in its order: `Test 'x' started`, `Storage created in … ms`,
 * `Test finished: n ops, … ms, … ops/sec`, an empty line; then `Done`.
 * @param {LineContext} context
 * @returns {(event: RunEvent) => void}
 */
export function seedLines({ stdout, progress, quiet = false }) {
  const say = (/** @type {string} */ line) => {
    progress.done();
    if (!quiet) stdout.write(`${line}\n`);
  };
  return (event) => {
    if (event.type === 'filling') progress.update(`filling ${event.storage}`);
    if (event.type === 'cell-start') say(`Test '${labelOf(event.cell)}' started`);
    if (event.type === 'progress') progress.update(...progressOf(event));
    if (event.type === 'cell-end') {
      for (const line of seedRoundLines(event.round)) say(line);
      say('');
    }
    if (event.type === 'finished') say('Done');
  };
}

/**
 * @param {Round} round
 * @returns {string[]}
 */
function seedRoundLines(round) {
  const lines = [];
  if (round.createdNs !== null) lines.push(`Storage created in ${round.createdNs / 1e6} ms`);
  if (round.state === 'failed') return [...lines, `Test failed: ${round.failure?.message}`];
  const { ok } = round.outcomes;
  const ms = round.durationNs / 1e6;
  lines.push(`Test finished: ${ok} ops, ${ms} ms, ${round.throughput} ops/sec`);
  const wrong = wrongOutcomes(round);
  if (wrong !== '') lines.push(`Not counted: ${wrong}`);
  return lines;
}

/**
 * One line for each cell: where the race is.
 * @param {LineContext} context
 * @returns {(event: RunEvent) => void}
 */
export function cellLines({ stdout, progress, quiet = false }) {
  let done = 0;
  let all = 0;
  return (event) => {
    if (event.type === 'planned') {
      const cells = event.result.cells.filter(({ state }) => state === 'planned').length;
      all = cells * event.plan.rounds;
    }
    if (event.type === 'filling') progress.update(`filling ${event.storage}`);
    if (event.type === 'progress') {
      const [text, share] = progressOf(event);
      progress.update(
        `[${done + 1}/${all}] ${text}`,
        all === 0 ? share : (done + (share ?? 0)) / all,
      );
    }
    if (event.type === 'cell-end') {
      done += 1;
      progress.done();
      if (!quiet) stdout.write(`[${done}/${all}] ${cellLine(event.cell, event.round)}\n`);
    }
  };
}

/**
 * @param {Cell} cell
 * @param {Round} round
 * @returns {string}
 */
function cellLine(cell, round) {
  const head = `${labelOf(cell)}, ${loadText(cell.load)}`;
  if (round.state === 'failed') return `${head}: failed: ${round.failure?.message}`;
  const throughput = Math.round(round.throughput).toLocaleString('en-US');
  const wrong = wrongOutcomes(round);
  return `${head}: ${throughput} ops/s${wrong === '' ? '' : `; not counted: ${wrong}`}`;
}

/**
 * @param {Extract<RunEvent, { type: 'progress' }>} event
 * @returns {[string, number | null]}
 */
function progressOf({ cell, phase, settled }) {
  const { operations } = cell.load;
  const what = phase === 'warmup' ? 'warming up' : `${settled.toLocaleString('en-US')} ops`;
  const share = phase === 'warmup' || operations === null ? null : settled / operations;
  return [`${labelOf(cell)}, ${loadText(cell.load)}: ${what}`, share];
}

/** @param {Cell} cell */
function labelOf({ storage, profile }) {
  return profile === 'default' ? storage : `${storage}:${profile}`;
}

/** @param {Cell['load']} load */
function loadText({ kind, inFlight, rate = 0, processes = 1 }) {
  const by = processes === 1 ? '' : ` by ${processes} processes`;
  if (kind === 'burst') return `all at once${by}`;
  if (kind === 'rate') return `${rate.toLocaleString('en-US')}/s${by}`;
  return `${inFlight} in flight${by}`;
}

/** @param {Round} round */
function wrongOutcomes({ outcomes }) {
  return Object.entries(outcomes)
    .filter(([name, n]) => name !== 'ok' && n > 0)
    .map(([name, n]) => `${n} ${name}`)
    .join(', ');
}

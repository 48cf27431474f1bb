/**
 * The sections of one result in a page: what a report for people says (content.js), with plots at
 * the groups that they belong to, and what only a page has room for: versions, options, rounds.
 */

import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMicroseconds,
  formatThroughput,
  plainText,
} from '../../lib/format.js';
import { loadName } from '../../lib/load-name.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { labelOf } from '../analysis/rows.js';
import { rowTexts } from '../text.js';
import { figureMarkup } from './figure.js';
import { escapeHtml, foldMarkup, pairsMarkup, tableMarkup } from './markup.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/report-types.js').Document} Document */
/** @typedef {import('../plots/plot.js').Plot} Plot */

/**
 * @typedef {object} Part one result as the page shows it
 * @property {Result} result
 * @property {Document} content
 * @property {Plot[]} plots
 * @property {(row: { storage: string, profile: string }) => number} seriesOf
 * @property {string} prefix of identifiers
 * @property {string} where which result, for screen readers, where the page has several
 * @property {number} level of its headings
 */

/** @typedef {{ id: string, title: string, body: string }} Section */

/**
 * @param {Part} part
 * @returns {Section[]}
 */
export function sectionsOf(part) {
  const { content, prefix } = part;
  const lists = (/** @type {string[]} */ kinds) =>
    content.lists.filter(({ kind }) => kinds.includes(kind)).map(listMarkup);
  const legend = content.legend.map((line) => `<p>${escapeHtml(line)}</p>`).join('');
  const measured = tableSections(part);
  const loose = part.plots.filter(({ group }) => group === null);
  /** @type {Section[]} */
  const sections = [
    {
      id: `${prefix}run`,
      title: 'The run',
      body: [
        `<div class="card">${pairsMarkup(content.head)}</div>`,
        ...lists(['failed', 'wrong']),
        ...content.verdict.map((line) => `<p class="lead">${escapeHtml(line)}</p>`),
        ...content.notes.map((line) => `<p class="note">${escapeHtml(line)}</p>`),
      ].join('\n'),
    },
    ...(loose.length === 0
      ? []
      : [{ id: `${prefix}plots`, title: 'Plots', body: figures(loose, part) }]),
    ...measured,
    {
      id: `${prefix}notes`,
      title: 'Notes',
      body: [...lists(['skipped', 'warnings']), `<div class="legend card">${legend}</div>`].join(
        '\n',
      ),
    },
    { id: `${prefix}setup`, title: 'Versions and options', body: setupMarkup(part) },
  ];
  const rounds = roundsMarkup(part);
  if (rounds !== '') sections.push({ id: `${prefix}rounds`, title: 'Rounds', body: rounds });
  return sections;
}

/**
 * @param {Part} part
 * @returns {Section[]} one for each table, with the plots of its group
 */
function tableSections(part) {
  const { content, plots, prefix } = part;
  if (content.tables.length === 0) {
    const body = '<p class="card">Nothing was measured.</p>';
    return [{ id: `${prefix}nothing`, title: 'Figures', body }];
  }
  return content.tables.map((table, i) => {
    const own = plots.filter(({ group }) => group !== null && group.key === table.id);
    return {
      id: `${prefix}table-${i + 1}`,
      title: table.title,
      body: `<div class="card">${rowsTable(table, part)}</div>\n${figures(own, part)}`,
    };
  });
}

/**
 * @param {Plot[]} plots
 * @param {Part} part
 */
function figures(plots, { prefix, level, where }) {
  return plots.map((plot) => figureMarkup(plot, { prefix, level: level + 1, where })).join('\n');
}

/**
 * @param {import('../../lib/report-types.js').Table} table
 * @param {Part} part
 */
function rowsTable(table, { seriesOf, where }) {
  const { title, id, columns, rows } = table;
  return tableMarkup({
    caption: title,
    where,
    quiet: true,
    columns: columns.map(({ name, align = 'right' }) => ({ name, align })),
    rows: rows.map((row) => ({
      texts: rowTexts(table, row),
      // Rows that plots show have the colours of their storages.
      swatch: id === null ? null : seriesOf(row.benchmarks[0].source),
      mark: row.mark === 'wrong',
    })),
  });
}

/** @param {import('../../lib/report-types.js').List} list */
function listMarkup({ kind, title, items }) {
  const lines = items.map(({ subject, text, hint }) => {
    const help =
      hint === null ? '' : ` <span class="note">→ <code>${escapeHtml(hint)}</code></span>`;
    return `<li><strong>${escapeHtml(subject)}</strong>: ${escapeHtml(text)}${help}</li>`;
  });
  return (
    `<div class="card list ${kind}"><p><strong>${escapeHtml(title)}</strong></p>` +
    `<ul>${lines.join('\n')}</ul></div>`
  );
}

/** @param {Part} part */
function setupMarkup({ result, where }) {
  const { storages, servers, options, environment, dragstrip, command } = result;
  const shown = (/** @type {unknown} */ value) =>
    plainText(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  const left = (/** @type {string} */ name) => ({ name, align: /** @type {const} */ ('left') });
  return [
    `<div class="card">${tableMarkup({
      caption: 'Storages, with every driver option that is not its default',
      where,
      columns: ['storage', 'driver', 'server', 'calls', 'options'].map(left),
      rows: storages.map((storage) => ({
        texts: [
          plainText(labelOf({ storage: storage.name, profile: storage.profile })),
          plainText(
            storage.package === null
              ? 'built in'
              : `${storage.package} ${storage.version ?? '(version unknown)'}`,
          ),
          plainText(storage.server ?? 'embedded'),
          storage.calls,
          Object.keys(storage.options).length === 0 ? '' : shown(storage.options),
        ],
      })),
    })}</div>`,
    ...servers.map(
      ({ name, version, settings, address, source }) =>
        `<div class="card">${foldMarkup(
          plainText(`${name} ${version ?? '(version unknown)'}: address and settings`),
          pairsMarkup([
            ...Object.entries(address).map(
              ([key, place]) =>
                /** @type {[string, string]} */ ([plainText(`address ${key}`), plainText(place)]),
            ),
            ['address by', source],
            ...Object.entries(settings).map(
              ([key, value]) =>
                /** @type {[string, string]} */ ([plainText(key), plainText(value)]),
            ),
          ]),
        )}</div>`,
    ),
    `<div class="card">${foldMarkup(
      'Options of the run and the machine',
      pairsMarkup([
        ['dragstrip', plainText(dragstrip)],
        ['command', plainText(command)],
        ...Object.entries({ ...options, ...environment }).map(
          ([key, value]) => /** @type {[string, string]} */ ([plainText(key), shown(value)]),
        ),
      ]),
    )}</div>`,
  ].join('\n');
}

/** @typedef {import('../../lib/result.js').Round} Round */

/** @type {readonly (readonly [string, (round: Round) => string])[]} */
const ROUND_COLUMNS = [
  ['round', ({ round }) => formatCount(round + 1)],
  ['place', ({ position }) => formatCount(position + 1)],
  ['state', ({ state }) => state],
  ['scheduled', ({ scheduled }) => formatCount(scheduled)],
  ...OUTCOMES.map(
    (name) =>
      /** @type {[string, (round: Round) => string]} */ ([
        name,
        ({ outcomes }) => formatCount(outcomes[name]),
      ]),
  ),
  ['opened', ({ createdNs }) => formatDuration(createdNs)],
  ['duration', ({ durationNs, state }) => formatDuration(state === 'failed' ? null : durationNs)],
  ['ops/s', ({ throughput, state }) => formatThroughput(state === 'failed' ? null : throughput)],
  ['in flight', ({ inFlightMean }) => formatThroughput(inFlightMean)],
  ['p50', ({ latency }) => formatDuration(latency?.p50Ns ?? null)],
  ['p90', ({ latency }) => formatDuration(latency?.p90Ns ?? null)],
  ['p99', ({ latency }) => formatDuration(latency?.p99Ns ?? null)],
  ['p99.9', ({ latency }) => formatDuration(latency?.p999Ns ?? null)],
  ['greatest', ({ latency }) => formatDuration(latency?.maxNs ?? null)],
  ['client CPU, s', ({ client }) => seconds(client && client.userNs + client.systemNs)],
  ['server CPU, s', ({ server }) => seconds(server?.cpuNs ?? null)],
  ['client memory', ({ client }) => formatBytes(client?.rssBytesMax ?? null)],
  ['collections', ({ client }) => formatCount(client?.gcCount ?? null)],
  ['collecting', ({ client }) => formatDuration(client?.gcNs ?? null)],
  ['canary µs', ({ conditions }) => formatMicroseconds(conditions?.canaryNs ?? null)],
];

/** @param {number | null} ns */
function seconds(ns) {
  return ns === null ? '–' : (ns / 1e9).toFixed(3);
}

/**
 * @param {Part} part
 * @returns {string} each round of each benchmark; empty where there is none
 */
function roundsMarkup({ result, seriesOf, where }) {
  const rows = result.benchmarks.flatMap((benchmark) =>
    benchmark.rounds.map((round) => ({
      texts: [
        plainText(`${labelOf(benchmark)}, ${benchmark.workload}, ${loadName(benchmark.load)}`),
        ...ROUND_COLUMNS.map(([, text]) => text(round)),
      ],
      swatch: seriesOf(benchmark),
    })),
  );
  if (rows.length === 0) return '';
  const table = tableMarkup({
    caption: 'Each round of each test, in a process of its own',
    where,
    columns: [
      { name: 'test', align: 'left' },
      ...ROUND_COLUMNS.map(([name]) => ({
        name,
        align: /** @type {'left' | 'right'} */ (name === 'state' ? 'left' : 'right'),
      })),
    ],
    rows,
  });
  return `<div class="card">${foldMarkup(`${formatCount(rows.length)} rounds`, table)}</div>`;
}

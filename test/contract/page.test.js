/**
 * The page in a real browser: it renders without an error or a request, works with and
 * without scripts, keeps untrusted text as text, and passes an accessibility check.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseResult } from '../../lib/parse-result.js';
import { compareResults } from '../../report/analysis/comparison.js';
import { historyOf } from '../../report/analysis/history.js';
import { historyDocument } from '../../report/history.js';
import { loadDocumentReport, loadReport } from '../../report/index.js';
import { findBrowser, NO_BROWSER } from '../helpers/browser.js';
import { defaultRace } from '../helpers/default-race.js';
import { mixResult, rampResult, searchResult } from '../helpers/rate-results.js';
import { brokenResult, raceResult } from '../helpers/result-builder.js';
import { checkAccess, checkWidth, Site, visiblePlots } from '../helpers/site.js';

const html = await loadReport('html');
const pageOf = await loadDocumentReport('html');

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').BrowserContextOptions} Options */

const NARROW = { width: 400, height: 800 };
/** Actions that the policy of a page must prevent. */
const INTRUSION = `
  for (const [name, text] of [
    ['script', 'globalThis.hacked = 1'],
    ['style', 'body { color: red }'],
  ]) {
    const element = document.createElement(name);
    element.textContent = text;
    document.body.append(element);
  }
  const image = document.createElement('img');
  image.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
  document.body.append(image);
`;
const MARKUP = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>';
const CLOSING = `"><svg onload="window.hacked=1">'--></style></title></textarea>${MARKUP}`;

/** Every text that a server, a driver or a file may bring, made hostile. */
function hostileResult() {
  const result = brokenResult();
  const say = CLOSING;
  result.id = `id ${say}`;
  result.command = `race ${say}`;
  result.environment.cpu = say;
  result.options = { [say]: say };
  for (const server of result.servers) Object.assign(server, { name: say, version: say });
  for (const server of result.servers) server.settings = { [say]: say };
  for (const storage of result.storages) {
    storage.version = say;
    storage.options = { [say]: say };
  }
  for (const benchmark of result.benchmarks) {
    const name = `${benchmark.storage}${say}`;
    for (const storage of result.storages)
      if (storage.name === benchmark.storage) storage.name = name;
    Object.assign(benchmark, { storage: name, reason: say, hint: say, workload: `get${say}` });
    for (const { samples } of benchmark.rounds) {
      for (const sample of samples) sample.message = say;
    }
  }
  result.warnings.push({ code: say, message: say, hint: say, benchmark: say });
  return result;
}

/** A race with all that a page shows, of so few storages that it is quickly looked at. */
function smallResult() {
  const result = raceResult();
  result.benchmarks = result.benchmarks.filter(({ storage }) =>
    /^(redis|lmdb|hiredis)$/.test(storage),
  );
  for (const benchmark of result.benchmarks) benchmark.rounds = benchmark.rounds.slice(0, 2);
  return result;
}

/** @param {import('../../lib/result.js').Result} first */
function comparedPage(first) {
  const second = structuredClone(first);
  second.id = 'second';
  for (const { storage, rounds } of second.benchmarks) {
    for (const round of rounds) round.throughput *= storage === 'redis' ? 1.2 : 1;
  }
  const files = { first: 'a<b>.json', second: CLOSING };
  const comparison = compareResults({ file: files.first, result: first }, [
    { file: files.second, result: second },
  ]);
  return html.render([first, second], { comparison });
}

function historyPage() {
  const stored = Array.from({ length: 9 }, (_, i) => {
    const result = raceResult();
    result.benchmarks = result.benchmarks.slice(1, 3);
    result.id = `run-${i}`;
    result.startedAt = `2026-11-0${i + 1}T10:00:00.000Z`;
    for (const round of result.benchmarks[0].rounds)
      round.throughput *= (i > 4 ? 0.8 : 1) * (1 + i / 1e3);
    return { file: `${i}${CLOSING}`, result };
  });
  return pageOf(historyDocument(stored, historyOf(stored.map(({ result }) => result))));
}

const browserFound = findBrowser() !== null;

describe('the page', { skip: browserFound ? false : NO_BROWSER }, () => {
  /** @type {Record<string, string>} */
  const pages = {
    race: html.render(raceResult()),
    broken: html.render(brokenResult()),
    hostile: html.render(hostileResult()),
    ramp: html.render(rampResult()),
    search: html.render(searchResult()),
    mix: html.render(mixResult()),
    compared: comparedPage(raceResult()),
    small: html.render(smallResult()),
    pair: comparedPage(smallResult()),
    history: historyPage(),
    default: html.render(defaultRace()),
  };
  const site = new Site(pages);
  const visit = site.visit.bind(site);
  before(() => site.open());
  after(() => site.close());

  for (const javaScriptEnabled of [true, false]) {
    test(`race ${javaScriptEnabled ? 'with' : 'without'} a script`, async (t) => {
      const look = async (/** @type {Page} */ page) => {
        await t.test('has its plots, and a table for each', () => checkPlots(page, 11));
        await (javaScriptEnabled ? lookWithScript(t, page) : lookWithoutScript(t, page));
        await t.test('the scale can be chosen', () => chooseScale(page));
        await t.test('a narrow screen has separate drawings, and does not scroll sideways', () =>
          lookNarrow(page),
        );
        await t.test('on paper it is light, complete and without controls', () =>
          lookOnPaper(page),
        );
      };
      await visit('race', look, { javaScriptEnabled });
    });
  }

  /** @param {import('node:test').TestContext} t @param {Page} page */
  async function lookWithScript(t, page) {
    await t.test('storages are removed from all plots and restored', async () => {
      const button = page.locator('button[data-toggle]', { hasText: /^redis$/ });
      const series = await button.getAttribute('data-toggle');
      const marks = page.locator(`figure [data-s="${series}"]`);
      const shown = () =>
        marks.evaluateAll((all) => all.filter((one) => one.getClientRects().length > 0).length);
      const others = page.locator(`figure .wide [data-s]:not([data-s="${series}"])`);
      const before = await shown();
      assert.ok(before > 10, `${before} marks`);
      await button.click();
      assert.equal(await button.getAttribute('aria-pressed'), 'false');
      assert.equal(await shown(), 0);
      assert.ok((await others.count()) > 100);
      await button.press('Enter');
      assert.equal(await shown(), before);
    });

    await t.test('values are shown under the pointer and by the arrow keys', async () => {
      const svg = page.locator('#throughput-get-sync .v0 .wide svg');
      const tip = page.getByRole('status');
      await svg.scrollIntoViewIfNeeded();
      const box = await svg.boundingBox();
      assert.ok(box);
      await page.mouse.move(box.x + box.width / 2, box.y + 20);
      assert.match(`${await tip.textContent()}`, /^manual-hs: 15,283 ops\/s \(n 5\)/);
      await page.mouse.move(5, 5);
      assert.equal(await page.locator('.tip').isVisible(), false);
      await svg.focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      assert.match(`${await tip.textContent()}`, /^redis:tuned: 13,061 ops\/s/);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('.tip').isVisible(), false);
    });
  }

  /** @param {import('node:test').TestContext} t @param {Page} page */
  const lookWithoutScript = (t, page) =>
    t.test('plots and tables are present, and nothing that needs a script', async () => {
      assert.equal(await page.locator('.tools').isVisible(), false);
      assert.equal(await page.getByRole('button').count(), 0);
      const numbers = page.locator('#latency-get-sync details');
      assert.equal(await numbers.locator('table').isVisible(), false);
      await numbers.locator('summary').click();
      assert.equal(await numbers.locator('table').isVisible(), true);
      assert.match(`${await numbers.locator('table').textContent()}`, /p99\.9/);
    });

  /** @param {Page} page */
  async function chooseScale(page) {
    const figure = page.locator('#throughput-get-sync');
    const [first, second] = [figure.locator('.v0 .wide'), figure.locator('.v1 .wide')];
    assert.deepEqual([await first.isVisible(), await second.isVisible()], [true, false]);
    await figure.getByLabel('logarithmic').check();
    assert.deepEqual([await first.isVisible(), await second.isVisible()], [false, true]);
  }

  /** @param {Page} page */
  async function lookNarrow(page) {
    const size = page.viewportSize();
    await page.setViewportSize(NARROW);
    assert.equal(await visiblePlots(page), 11);
    assert.equal(await page.locator('figure .wide').first().isVisible(), false);
    await checkWidth(page);
    await page.setViewportSize(/** @type {any} */ (size));
  }

  /** @param {Page} page */
  async function lookOnPaper(page) {
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const colors = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    assert.equal(colors, 'rgb(255, 255, 255)');
    assert.equal(await page.locator('.tools, .actions, fieldset').first().isVisible(), false);
    assert.equal(await visiblePlots(page), 11);
    const bytes = await page.pdf();
    assert.ok(bytes.length > 100_000, `${bytes.length} bytes`);
  }

  test('light and dark: like the system, and by choice', async () => {
    const background = (/** @type {Page} */ page) =>
      page.evaluate('getComputedStyle(document.body).backgroundColor');
    /** @type {string[]} */
    const colors = [];
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const look = async (/** @type {Page} */ page) => {
        const own = await background(page);
        await page.getByRole('button', { name: /colours/ }).click();
        colors.push(own, await background(page));
      };
      await visit('small', look, { colorScheme });
    }
    assert.equal(colors[0], colors[3]);
    assert.equal(colors[1], colors[2]);
    assert.notEqual(colors[0], colors[1]);
  });

  test('the result is downloaded from the page, with a script and without', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const context = await site.browser.newContext({ javaScriptEnabled, acceptDownloads: true });
      const page = await context.newPage();
      await page.goto(site.urlOf('small'));
      const link = page.getByRole('link', { name: /^Download/ });
      const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
      assert.equal(download.suggestedFilename(), '20261121-100000-race.json');
      const file = path.join(site.folder, 'download.json');
      await download.saveAs(file);
      // Its digest is checked on reading.
      assert.deepEqual(parseResult(readFileSync(file, 'utf8'), file), smallResult());
      await context.close();
    }
  });

  for (const [name, plots] of Object.entries({ hostile: null, compared: 24, history: 2 })) {
    test(`${name}: renders without an error or a request, and untrusted text stays text`, async () => {
      await visit(name, async (page) => {
        if (plots !== null) await checkPlots(page, plots);
        assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).hacked), undefined);
        assert.equal(await page.locator('img, iframe, object, link, base').count(), 0);
        assert.equal(await page.locator('script').count(), 1);
        assert.equal(await page.locator('style').count(), 1);
        assert.equal(await page.locator('[onload], [onerror], [style]').count(), 0);
        assert.match(`${await page.locator('body').textContent()}`, /<img src=x onerror=/);
      });
    });
  }

  test('the policy lets no other script, style or picture in', async () => {
    const context = await site.browser.newContext();
    const page = await context.newPage();
    /** @type {string[]} */
    const refused = [];
    page.on('console', (message) => refused.push(message.text()));
    await page.goto(site.urlOf('small'));
    await page.evaluate(INTRUSION);
    await page.waitForTimeout(50);
    assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).hacked), undefined);
    assert.equal(refused.filter((text) => /Content Security Policy/.test(text)).length, 3);
    await context.close();
  });

  for (const [name, options, plots] of /** @type {[string, Options, number?][]} */ ([
    ['small', { colorScheme: 'light' }],
    ['small', { colorScheme: 'dark' }],
    ['small', { viewport: NARROW }],
    ['broken', { colorScheme: 'dark' }, 4],
    ['pair', {}],
    ['history', { colorScheme: 'dark' }],
  ])) {
    test(`${name} ${JSON.stringify(options)}: an accessibility check finds nothing`, async () => {
      const look = async (/** @type {Page} */ page) => {
        if (plots !== undefined) await checkPlots(page, plots);
        await checkAccess(page);
      };
      await visit(name, look, { ...options, bypassCSP: true });
    });
  }

  for (const [name, viewport, most] of /** @type {const} */ ([
    ['default', { width: 1280, height: 900 }, 500],
    ['race', { width: 1280, height: 900 }, 500],
    ['default', NARROW, 600],
    ['race', NARROW, 600],
  ])) {
    test(`${name}: the first figure begins on the first screen of ${viewport.width} pixels`, async () => {
      const look = async (/** @type {Page} */ page) => {
        const box = await page.locator('figure').first().boundingBox();
        assert.ok(box !== null && box.y > 0 && box.y < most, `${box?.y} px`);
      };
      await visit(name, look, { viewport });
    });
  }

  for (const name of ['default', 'race', 'ramp', 'search', 'mix', 'history']) {
    test(`${name}: no table is cut off at 1280 pixels, unfolded too; five sheets at most`, async () => {
      const look = async (/** @type {Page} */ page) => {
        assert.ok((await page.locator('main table').count()) > 1);
        const sheets = (await page.pdf({ format: 'A4' })).toString('latin1');
        const n = sheets.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
        assert.ok(n >= 1 && n <= 5, `${n} sheets`);
        await page.locator('details').evaluateAll((all) => {
          for (const one of all) one.setAttribute('open', '');
        });
        const cut = await page
          .locator('.scroll')
          .evaluateAll((all) =>
            all
              .filter((one) => one.scrollWidth > one.clientWidth)
              .map((one) => `${one.getAttribute('aria-label')}: ${one.scrollWidth}`),
          );
        assert.deepEqual(cut, []);
      };
      await visit(name, look, { viewport: { width: 1280, height: 900 } });
    });
  }
});

/** @param {Page} page @param {number} plots */
async function checkPlots(page, plots) {
  assert.equal(await visiblePlots(page), plots);
  assert.ok((await page.locator('table').count()) > plots, 'a table for each plot');
}

/** The pages of the workloads beside the race, in a real browser. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { loadReport } from '../../report/index.js';
import { findBrowser, NO_BROWSER } from '../helpers/browser.js';
import { codecResult } from '../helpers/codec-results.js';
import { commandsResult } from '../helpers/command-results.js';
import { insertResult } from '../helpers/insert-results.js';
import { mgetResult, scatterResult } from '../helpers/mget-results.js';
import { mutexResult } from '../helpers/mutex-results.js';
import { checkAccess, checkWidth, Site, visiblePlots } from '../helpers/site.js';

const html = await loadReport('html');

/** @typedef {import('playwright-core').Page} Page */

/**
 * A result per workload, the plots of its page, and a value of one of them.
 * @type {Record<string, { result: () => import('../../lib/result.js').Result, plots: string[],
 *   tells: RegExp }>}
 */
const WORKLOADS = {
  mget: {
    result: mgetResult,
    plots: ['mget-ioredis-mget'],
    tells: /16 in flight, 100 keys: 6\.\d+ ms/,
  },
  scatter: {
    result: scatterResult,
    plots: ['mget-ioredis-mget'],
    tells: /4 in flight, 1 key: 3\d\d µs/,
  },
  mutex: {
    result: mutexResult,
    plots: ['mutex-lock', 'mutex-lock-waits-1', 'mutex-lock-waits-5'],
    tells: /ioredis redlock: 90 % within/,
  },
  commands: {
    result: commandsResult,
    plots: ['commands-ioredis-kept', 'commands-ioredis-own'],
    tells: /LRANGE_600, proxied unix: 151 ops\/s/,
  },
  insert: {
    result: insertResult,
    plots: ['insert'],
    tells: /cassandra batch_pure of 100, 5 in flight: 40,000 rows\/s/,
  },
  codec: {
    result: codecResult,
    plots: ['codec-resp-decoding'],
    tells: /resp-plain \(ours\), get-16: 166 MB\/s/,
  },
};

/** Plots that every workload has whose benchmarks have no variants. */
const GENERAL = /^(?:throughput|latency|cpu|timeline)-/;

describe('pages of workloads', { skip: findBrowser() === null ? NO_BROWSER : false }, () => {
  const site = new Site(
    Object.fromEntries(
      Object.entries(WORKLOADS).map(([name, { result }]) => [name, html.render(result())]),
    ),
  );
  const visit = site.visit.bind(site);
  before(() => site.open());
  after(() => site.close());

  for (const [name, { plots, tells }] of Object.entries(WORKLOADS)) {
    for (const javaScriptEnabled of [true, false]) {
      const how = javaScriptEnabled ? 'with' : 'without';
      test(`${name}: plots, tables and values of its workload, ${how} a script`, async () => {
        const look = async (/** @type {Page} */ page) => {
          const ids = await page.locator('figure').evaluateAll((all) => all.map(({ id }) => id));
          assert.deepEqual(
            ids.filter((id) => !GENERAL.test(id)),
            plots,
          );
          assert.equal(await visiblePlots(page), ids.length);
          assert.equal(await page.locator('figure details table').count(), ids.length);
          if (javaScriptEnabled) {
            await page.locator(`#${plots[0]} .v0 .wide svg`).focus();
            await page.keyboard.press('ArrowRight');
            assert.match(`${await page.getByRole('status').textContent()}`, /\d/);
            const size = page.viewportSize();
            await page.setViewportSize({ width: 400, height: 800 });
            await checkWidth(page);
            await page.setViewportSize(/** @type {any} */ (size));
            await checkAccess(page);
          } else {
            const titles = await page.locator('figure svg title').allTextContents();
            assert.ok(
              titles.some((text) => tells.test(text)),
              `${titles.slice(0, 5)}`,
            );
          }
        };
        // The accessibility check is a script of its own.
        const bypassCSP = javaScriptEnabled;
        await visit(name, look, { javaScriptEnabled, bypassCSP, colorScheme: 'dark' });
      });
    }
  }
});

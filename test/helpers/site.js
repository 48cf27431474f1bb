/** Pages in a folder, opened in a real browser. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { openBrowser } from './browser.js';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').BrowserContextOptions} Options */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export class Site {
  /** @param {Record<string, string>} pages HTML by name */
  constructor(pages) {
    this.pages = pages;
    this.folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-page-'));
    /** @type {import('playwright-core').Browser} */
    this.browser = /** @type {any} */ (undefined);
  }

  async open() {
    for (const [name, text] of Object.entries(this.pages)) {
      writeFileSync(path.join(this.folder, `${name}.html`), text);
    }
    this.browser = await openBrowser();
  }

  async close() {
    await this.browser?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** @param {string} name */
  urlOf(name) {
    return pathToFileURL(path.join(this.folder, `${name}.html`)).href;
  }

  /**
   * Opens a page, which must neither log nor load anything.
   * @param {string} name
   * @param {(page: Page) => Promise<void>} look
   * @param {Options} [options]
   */
  async visit(name, look, options = {}) {
    const context = await this.browser.newContext({
      viewport: { width: 1200, height: 900 },
      ...options,
    });
    try {
      const page = await context.newPage();
      /** @type {string[]} */
      const faults = [];
      /** @type {string[]} */
      const requests = [];
      page.on('console', (message) => faults.push(`console: ${message.text()}`));
      page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
      page.on('request', (request) => requests.push(request.url()));
      const url = this.urlOf(name);
      await page.goto(url);
      await look(page);
      assert.deepEqual(faults, [], name);
      assert.deepEqual(requests, [url], `${name} loads nothing`);
    } finally {
      await context.close();
    }
  }
}

/** @param {Page} page @returns {Promise<number>} number of visible plots */
export function visiblePlots(page) {
  return page
    .locator('figure svg')
    .evaluateAll((list) => list.filter((svg) => svg.clientWidth > 100).length);
}

/** @param {Page} page */
export async function checkAccess(page) {
  await page.evaluate(
    "document.querySelectorAll('details').forEach((one) => { one.open = true; })",
  );
  await page.evaluate(AXE);
  const audit = await page.evaluate(() => /** @type {any} */ (globalThis).axe.run());
  const shown = audit.violations.map((/** @type {any} */ { id, nodes }) => [
    id,
    nodes.slice(0, 3).map((/** @type {any} */ node) => `${node.html} ${node.failureSummary}`),
  ]);
  assert.deepEqual(shown, []);
  assert.ok(audit.passes.length > 15, 'it has looked');
}

/** @param {Page} page page that must not scroll horizontally */
export async function checkWidth(page) {
  const room = /** @type {number[]} */ (
    await page.evaluate(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    )
  );
  assert.equal(room[0], room[1]);
}

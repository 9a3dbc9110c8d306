import { readdirSync, readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPageFiles } from '../../src/http/pages/page-files.ts';
import { browserPath, expectReadable, noBrowser, startBrowser } from '../support/browser.ts';
import type { TestBrowser } from '../support/browser.ts';

const repository = new URL('../../', import.meta.url);
const shared = 'src/pages/shared/';
const scripts = readdirSync(new URL(shared, repository)).filter((name) => name.endsWith('.js'));

/** These components fill the whole page, so they cannot be shown next to others. */
const wholePages = ['Invitation', 'SignIn'];

const styles = ['tokens', 'base', 'app'].map(
  (name) => `<link rel="stylesheet" href="/${shared}${name}.css" />`,
);
const document = `<!doctype html><html lang="en"><head><title>Parts</title>
  <meta name="viewport" content="width=device-width, initial-scale=1" /><link rel="icon" href="data:," />${styles.join('')}
  <style>main { padding: 24px } .swatch { display: inline-block; width: 24px; height: 24px; border: 1px solid var(--line) }</style>
  </head><body><script type="module" src="/test/pages/parts-page.js"></script></body></html>`;

function contentOf(path: string): string {
  if (path === '/') return document;
  const vendor = /^\/src\/pages\/(vendor\/.+)$/.exec(path)?.[1];
  if (vendor !== undefined) return readPageFiles().find(vendor)?.bytes.toString() ?? '';
  return readFileSync(new URL(path.slice(1), repository), 'utf8');
}

const contentType = (path: string): string =>
  path.endsWith('.js') ? 'text/javascript' : path.endsWith('.css') ? 'text/css' : 'text/html';

async function exported(page: Page): Promise<readonly string[]> {
  const names = await page.evaluate<string[]>(`Promise.all(${JSON.stringify(scripts)}.map(
    (name) => import('/${shared}' + name))).then((modules) => modules.flatMap((one) => Object.keys(one).filter(
      (name) => name === 'hold' || (/^[A-Z]/.test(name) && !(one[name].prototype instanceof Error)))))`);
  return names.filter((name) => !wholePages.includes(name)).toSorted();
}

describe.skipIf(browserPath === undefined)(`the parts of the pages${noBrowser}`, () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it('are all on one page, which is readable', async () => {
    const { page, faults } = await browser.open({ viewport: { width: 1280, height: 3500 } });
    await page.route('http://parts.test/**', (route) => {
      const { pathname } = new URL(route.request().url());
      return route.fulfill({ body: contentOf(pathname), contentType: contentType(pathname) });
    });
    // On this page, the loading component is only a sample, so waiting for it to disappear would never end.
    await page.removeLocatorHandler(page.getByText('Loading…', { exact: true }).first());
    await page.goto('http://parts.test/');
    await page.locator('main').waitFor();
    const shown = await page.evaluate<[string, number][]>(
      "[...document.querySelectorAll('[data-part]')].map((one) => [one.dataset.part, one.offsetHeight])",
    );
    expect(shown.filter(([, height]) => height === 0)).toEqual([]);
    expect(shown.map(([name]) => name).toSorted()).toEqual(await exported(page));
    await expectReadable(page, 'parts');
    for (const name of ['dialog', 'secret']) {
      await page.getByRole('button', { name: `Open the ${name}` }).click();
      await page.getByRole('dialog').waitFor();
      await expectReadable(page, `parts-${name}`);
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^(Close|I have stored it)$/ })
        .click();
    }
    expect(faults).toEqual([]);
  });
});

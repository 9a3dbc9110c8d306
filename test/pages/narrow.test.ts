import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guideNames } from '../../src/http/pages/guides.ts';
import { browserPath, noBrowser, overhang, seriousFindings, startBrowser } from '../support/browser.ts';
import type { TestBrowser } from '../support/browser.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('pages_narrow');
const viewport = { width: 360, height: 740 };
const targetMin = 40;
let browser: TestBrowser;

const docs = ['docs', ...guideNames.map((name) => `docs/${name}`)];

async function open(path: string): Promise<Page> {
  const { page } = await browser.open({ viewport });
  const { key } = await world.newAccount();
  const [operator, owner] = [JSON.stringify(adminToken), JSON.stringify(key)];
  await page.addInitScript(
    `sessionStorage.setItem('mediary.operator', ${operator}); sessionStorage.setItem('mediary.key', ${owner})`,
  );
  await page.goto(`${world.url}/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

const menu = (page: Page) => page.locator('header nav');

const placesIn = (page: Page) =>
  page.evaluate<[top: number, left: number, right: number][]>(
    "[...document.querySelectorAll('header nav a')].map((link) => { const { top, left, right } = link.getBoundingClientRect(); return [top, left, right]; })",
  );

async function expectLowMenu(page: Page, name: string): Promise<void> {
  const places = await placesIn(page);
  expect([name, new Set(places.map(([top]) => top)).size]).toEqual([name, 1]);
  const current = await menu(page).locator('[aria-current]').boundingBox();
  const [left, right] = [current?.x ?? -1, (current?.x ?? 0) + (current?.width ?? 0)];
  expect([name, left >= 0, right <= viewport.width]).toEqual([name, true, true]);
  await menu(page).locator('a').first().focus();
  for (let n = 1; n < places.length; n += 1) await page.keyboard.press('Tab');
  const [, lastLeft = -1, lastRight = Number.POSITIVE_INFINITY] = (await placesIn(page)).at(-1) ?? [];
  expect([name, lastLeft >= 0, lastRight <= viewport.width + 1]).toEqual([name, true, true]);
  expect([name, await overhang(page), await seriousFindings(page)]).toEqual([name, 0, []]);
}

/**
 * Returns links, buttons and collapsible sections that are not high enough. Links within a sentence are exempt. The
 * clickable area of a plain button is larger than its box.
 */
const lowTargets = (page: Page) =>
  page.evaluate<
    string[]
  >(`[...document.querySelectorAll('a, button, summary, [role=option]')].flatMap((one) => {
    const around = one.matches('.plain') ? parseFloat(getComputedStyle(one, '::before').height) : 0;
    const height = Math.max(around, one.getBoundingClientRect().height);
    const isInText = one.matches('a') && getComputedStyle(one).display === 'inline' && one.closest('p, li, td, dd, .alternative') !== null;
    return !one.checkVisibility() || height >= ${targetMin} || isInText ? [] : [one.outerHTML.slice(0, 80) + ' ' + height];
  })`);

describe.skipIf(browserPath === undefined)(`pages on a narrow window${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it.each([
    ['console', 10],
    ['account', 6],
  ])('every page of /%s has a menu of one row', async (app, sections) => {
    const page = await open(app);
    const links = await menu(page)
      .locator('a')
      .evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''));
    expect(links).toHaveLength(sections);
    for (const link of links.filter((href) => href.startsWith('#'))) {
      const opened = await open(`${app}${link}`);
      await expectLowMenu(opened, link);
      await opened.close();
    }
  });

  it.each(docs)('/%s has a menu of one row', async (path) => {
    await expectLowMenu(await open(path), path);
  });

  it.each(['', ...docs])('/%s has no low targets', async (path) => {
    const page = await open(path);
    expect(await lowTargets(page)).toEqual([]);
    if (path !== 'docs') return;
    await page.getByRole('button', { name: 'Contents' }).click();
    for (const fold of await page.locator('#contents details').all())
      await fold.evaluate((one) => one.setAttribute('open', ''));
    expect(await lowTargets(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.getByRole('combobox').fill('video');
    await page.getByRole('option').first().waitFor();
    expect(await lowTargets(page)).toEqual([]);
  });
});

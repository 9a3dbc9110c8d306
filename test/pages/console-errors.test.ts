import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, noBrowser, startBrowser, type TestBrowser } from '../support/browser.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('console_errors');

let browser: TestBrowser;

async function rejected(message: string): Promise<string> {
  const { id } = (await (await world.newAccount()).create()).body;
  const n = await world.drive.send(id);
  await world.drive.step(id, { kind: 'rejected', n, owner: 'run', code: 'E_4711', message });
  return String(id);
}

describe.skipIf(browserPath === undefined)(`a search by words of an error${noBrowser}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it('opens the only task with them, and lists several', async () => {
    const only = await rejected('The walrus is too large for this clip.');
    const others = [await rejected('No otter today.'), await rejected('An otter a day.')];
    const { page, faults } = await browser.open();
    await page.addInitScript(`sessionStorage.setItem('mediary.operator', ${JSON.stringify(adminToken)})`);
    await page.goto(`${world.url}/console#/tasks`);
    const search = page.locator('#find');
    await search.fill('large WALRUS');
    await search.press('Enter');
    await page.waitForURL(`**/console#/tasks/${only}`);
    await page.getByText('The walrus is too large').first().waitFor();
    await page.goto(`${world.url}/console#/tasks`);
    await search.fill('otter e_4711');
    await search.press('Enter');
    for (const id of others) await page.getByRole('link', { name: id }).waitFor();
    await search.fill('otter walrus');
    await search.press('Enter');
    await page.getByText('Nothing has this id, this name or these words in its error.').waitFor();
    expect(faults).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UpstreamError } from '../../src/providers/provider.ts';
import { runLine } from '../cli/support.ts';
import { browserPath, noBrowser, startBrowser, type TestBrowser } from '../support/browser.ts';
import { adminToken, useHttpWorld, type Server } from '../support/http-world.ts';

const world = useHttpWorld('console_balance');

let browser: TestBrowser;
let node: Server;

const openNode = () =>
  world.startNode({
    channels(id) {
      const channel = world.deps.channels(id);
      if (channel === undefined || id === 'three') return channel;
      const refusal = new UpstreamError('unavailable', 'no', { status: 401, code: 'invalid_key' });
      const balance = () =>
        id === 'one' ? Promise.resolve({ amount: '12500.5', unit: 'credits' }) : Promise.reject(refusal);
      return { ...channel, provider: { ...channel.provider, balance }, context: () => ({}) as never };
    },
  });

describe.skipIf(browserPath === undefined)(`the balance at a vendor${noBrowser}`, () => {
  beforeAll(async () => {
    [browser, node] = [await startBrowser(), await openNode()];
  });
  afterAll(async () => {
    await browser.close();
    await node.close(0);
  });

  it('is shown in the list and on the page of a channel, and in a terminal', async () => {
    const { page, faults } = await browser.open();
    await page.addInitScript(`sessionStorage.setItem('mediary.operator', ${JSON.stringify(adminToken)})`);
    await page.goto(`${node.url}/console#/channels`);
    const row = (id: string) => page.getByRole('row').filter({ hasText: new RegExp(`^${id}`) });
    await row('one').getByText('12,500.5 credits').waitFor();
    await row('two').getByText('The upstream rejects the key or its account').waitFor();
    await page.goto(`${node.url}/console#/channels/one`);
    await page.locator('dd').getByText('12,500.5 credits').waitFor();
    const { text } = await runLine({ ...world, url: node.url }, ['channels', 'show', 'one']);
    expect(text).toMatch(/12500\.5 +credits/);
    expect(faults).toEqual([]);
  });

  it('is an amount, which needs the role for amounts', async () => {
    const { token } = (await world.admin('POST', '/operators', { name: 'looker', roles: ['read'] })).body;
    const balances = async (key: string) => {
      const answer = await fetch(`${node.url}/admin/v1/channels`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const { data } = (await answer.json()) as {
        data: { balances: { upstream_balance: string | null }[] }[];
      };
      return data.flatMap((one) => one.balances.map(({ upstream_balance: left }) => left));
    };
    await expect.poll(() => balances(adminToken)).toEqual(['12500.5', null]);
    expect(await balances(token)).toEqual([null, null]);
  });
});

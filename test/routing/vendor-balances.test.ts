import RunwayML from '@runwayml/sdk';
import { describe, expect, it } from 'vitest';
import { providers } from '../../src/providers/index.ts';
import { UpstreamError, type VendorBalance } from '../../src/providers/provider.ts';
import { createVendorBalances } from '../../src/routing/vendor-balances.ts';
import { canned, providerContext } from '../providers/support.ts';
import { useSimulator } from '../providers/use-simulator.ts';

const simulator = useSimulator({ renderSeconds: 1, apiKeys: ['test-key', 'access:secret'] });

const vendors = Object.entries(providers).flatMap(([name, { balance }]) =>
  balance === undefined ? [] : [[name, balance] as const],
);

const simulated = () => Promise.resolve({ amount: '100', unit: 'credits' });

const clients: Readonly<Record<string, (apiKey: string) => Promise<VendorBalance>>> = {
  async runway(apiKey) {
    const client = new RunwayML({ apiKey, baseURL: `${simulator.url}/runway`, maxRetries: 0 });
    return { amount: `${(await client.organization.retrieve()).creditBalance}`, unit: 'credits' };
  },
  bfl: simulated,
  kling: () => Promise.resolve({ amount: '100', unit: 'units' }),
  stability: simulated,
  vidu: simulated,
};

describe.each(vendors)('the balance at %s', (name, balance) => {
  const ask = (apiKey: string) =>
    balance({
      ...providerContext({ request: simulator.request, baseUrl: `${simulator.url}/${name}` }),
      credential: { id: 'a', apiKey },
    });

  it('is parsed as the vendor’s client does, and needs a valid key', async () => {
    expect(await ask('test-key')).toEqual(await clients[name]?.('test-key'));
    await expect(ask('another-key')).rejects.toMatchObject({ outcome: 'unavailable' });
  });

  it('is unknown if the response cannot be read', async () => {
    for (const json of [
      {},
      [],
      { creditBalance: 'much', credits: 'much' },
      { remains: [{ credit_remain: 1 }, { credit_remain: 'much' }] },
      { data: { resource_pack_subscribe_infos: [{ status: 'online', remaining_quantity: 'much' }] } },
    ])
      await expect(balance(providerContext({ request: canned({ json }).request }))).rejects.toThrow(
        UpstreamError,
      );
  });
});

it('Kling accepts a key pair for its balance too', async () => {
  const balance = providers['kling']?.balance;
  const context = providerContext({ request: simulator.request, baseUrl: `${simulator.url}/kling` });
  const ask = (apiKey: string) => balance?.({ ...context, credential: { id: 'a', apiKey } });
  await expect(ask('access:secret')).resolves.toEqual({ amount: '100', unit: 'units' });
  await expect(ask('access:wrong')).rejects.toMatchObject({ outcome: 'unavailable' });
});

describe('reading the balances of a channel', () => {
  const answers: (() => Promise<VendorBalance>)[] = [];
  let asked = 0;
  let at = 1_000_000;
  const config: any = { id: 'main', models: { m: {} }, credentials: [{ id: 'a' }] };
  const channel: any = {
    config,
    provider: {
      balance() {
        asked += 1;
        return answers.shift()?.() ?? Promise.reject(new Error('asked too often'));
      },
    },
    context: () => ({}),
  };
  const open = () =>
    createVendorBalances({
      channels: (id) =>
        id === 'main' ? channel : id === 'silent' ? { ...channel, provider: {} } : undefined,
      now: () => at,
    });

  it('never waits for the vendor, and asks again only after ten minutes', async () => {
    const look = open();
    asked = 0;
    answers.push(() => Promise.resolve({ amount: '12.5', unit: 'credits' }));
    expect(look('main')).toEqual([{ credential: 'a', askedAt: at }]);
    await expect.poll(() => look('main')).toMatchObject([{ balance: { amount: '12.5' }, at }]);
    const first = at;
    at += 9 * 60_000;
    expect(look('main')).toMatchObject([{ balance: { amount: '12.5' }, at: first }]);
    expect(asked).toBe(1);
    answers.push(() => Promise.resolve({ amount: '7', unit: 'credits' }));
    at += 60_000;
    expect(look('main')).toMatchObject([{ balance: { amount: '12.5' }, at: first }]);
    await expect.poll(() => look('main')).toMatchObject([{ balance: { amount: '7' }, at }]);
    expect(asked).toBe(2);
  });

  it('explains why the balance is unknown, and shows no old one', async () => {
    const look = open();
    answers.push(
      () => Promise.resolve({ amount: '12.5', unit: 'credits' }),
      () => Promise.reject(new UpstreamError('unavailable', 'no', { status: 401, code: 'key' })),
      () => Promise.reject(new UpstreamError('ambiguous', 'no balance', { status: 200, code: 'odd' })),
      () => Promise.reject(new TypeError('broken')),
    );
    look('main');
    await expect.poll(() => look('main')).toMatchObject([{ balance: { amount: '12.5' } }]);
    at += 10 * 60_000;
    const problem = 'The upstream rejects the key or its account (status 401, key).';
    await expect.poll(() => look('main')).toEqual([{ credential: 'a', problem, at, askedAt: at }]);
    for (const words of [
      'The balance could not be read (status 200, odd).',
      'The balance could not be read.',
    ]) {
      at += 10 * 60_000;
      await expect.poll(() => look('main')).toMatchObject([{ problem: words, at }]);
    }
  });

  it('is empty for other vendors and unknown channels', () => {
    expect([open()('silent'), open()('nobody')]).toEqual([[], []]);
  });
});

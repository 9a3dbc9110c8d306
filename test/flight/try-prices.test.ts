import { describe, expect, it } from 'vitest';
import { defined } from '../../src/base/defined.ts';
import type { Measure } from '../../src/money/measures.ts';
import type { Price, PriceBasis, PriceFacts } from '../../src/money/price.ts';
import { settle } from '../../src/money/settle.ts';
import type { Task } from '../../src/task/record.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';
import { tryPrices, type TryPrices, type TryPricesDeps } from '../../src/flight/try-prices.ts';
import type { LedgerEntry } from '../../src/ledger/entry.ts';
import { firstRecord, succeededWith } from '../support/task-records.ts';

const bySecond = (price: string): Price => ({ minimum: '0', lines: [{ measure: 'second', price }] });
const byTokens = (price: string): Price => ({ minimum: '0', lines: [{ measure: 'million_tokens', price }] });

interface Recorded {
  readonly task: Task;
  readonly entries: readonly LedgerEntry[];
}

function recorded(
  n: number,
  facts: SettleFacts,
  {
    price = bySecond('0.10'),
    tokens,
    ...change
  }: Partial<Task> & { readonly price?: Price; readonly tokens?: bigint } = {},
): Recorded {
  const id = `task_${String(n).padStart(4, '0')}`;
  const basis = { price, facts: { resolution: '720p' }, version: 'v' };
  const { amount, ...settlement } = settle({
    basis,
    channel: 'one',
    facts,
    held: 9_000_000n,
    ...(tokens === undefined ? {} : { estimatedTokens: tokens }),
  });
  const outcome = { ...succeededWith('https://u.example/1.mp4'), facts };
  const task = firstRecord(id, { status: 'succeeded', channel: 'one', outcome, charge: amount, ...change });
  const common = { account: task.account, task: id, available: 0n, held: 0n, at: 1, hash: '' };
  const entries = [
    { ...common, id: 'a/1', seq: 1n, key: `${id}:hold`, kind: 'hold', amount: 9_000_000n },
    { ...common, id: 'a/2', seq: 2n, key: `${id}:close`, kind: 'settle', amount },
  ] as const;
  return {
    task,
    entries: [
      { ...entries[0], basis: JSON.stringify(basis) },
      { ...entries[1], basis: JSON.stringify({ ...settlement, amount: amount.toString() }) },
    ],
  };
}

function storeOf(
  all: readonly Recorded[],
  images: readonly string[] = [],
): TryPricesDeps & { readonly pages: number[]; readonly asked: object[] } {
  const pages: number[] = [];
  const asked: object[] = [];
  return {
    pages,
    asked,
    list: (filter, { limit, after }) => {
      asked.push(filter);
      const from = after === undefined ? 0 : all.findIndex(({ task }) => task.id === after.id) + 1;
      const tasks = all.slice(from, from + limit).map(({ task }) => task);
      pages.push(tasks.length);
      return Promise.resolve({ tasks, hasMore: from + limit < all.length });
    },
    async *settledImages() {
      yield* images;
    },
    entriesOfTask: (id) => Promise.resolve(all.find(({ task }) => task.id === id)?.entries ?? []),
  };
}

const run = (deps: TryPricesDeps, prices: Partial<TryPrices['prices']>, more: Partial<TryPrices> = {}) =>
  tryPrices(
    {
      prices: { models: {}, channels: {}, ...prices },
      since: 7,
      now: 8_000,
      signal: new AbortController().signal,
      onProgress: () => undefined,
      ...more,
    },
    deps,
  );

describe('other prices', () => {
  it('are applied to the recorded facts, by model and account', async () => {
    const all = [
      recorded(1, { durationSeconds: 5 }, { account: 'a', model: 'm' }),
      recorded(2, { durationSeconds: 10 }, { account: 'b', model: 'm' }),
      recorded(3, { durationSeconds: 4 }, { account: 'b', model: 'n' }),
    ];
    const deps = storeOf(all);
    const tried = await run(deps, { models: { m: bySecond('0.20'), n: bySecond('0.05') } }, { account: 'b' });
    expect(tried.total).toMatchObject({ tasks: 3, before: 1_900_000n, after: 3_200_000n, unpriced: 0 });
    expect(tried.byModel.get('n')).toMatchObject({
      tasks: 1,
      before: 400_000n,
      after: 200_000n,
      unpriced: 0,
    });
    expect(tried.byAccount.get('b')).toMatchObject({
      tasks: 2,
      before: 1_400_000n,
      after: 2_200_000n,
      unpriced: 0,
    });
    expect(deps.asked).toEqual([{ status: 'succeeded', createdAfter: 7, account: 'b' }]);
  });

  it('are those of the channel that delivered, if it has its own', async () => {
    const deps = storeOf([recorded(1, { durationSeconds: 5 })]);
    const call: Price = { minimum: '0', lines: [{ measure: 'call', price: '3' }] };
    const models = { m: bySecond('0.20') };
    const after = async (channel: string) =>
      (await run(deps, { models, channels: { [channel]: { m: call } } })).total.after;
    expect([await after('one'), await after('two')]).toEqual([3_000_000n, 1_000_000n]);
  });

  it('subtract refunds, including full ones', async () => {
    const refunded = (n: number, amount: bigint): Recorded => {
      const { task, entries } = recorded(n, { durationSeconds: 5 });
      const [hold] = entries;
      if (hold === undefined) throw new Error('there is a hold');
      return { task, entries: [...entries, { ...hold, kind: 'refund', key: `${task.id}:refund`, amount }] };
    };
    const models = { m: bySecond('0.20') };
    const sums = async (amount: bigint) => (await run(storeOf([refunded(1, amount)]), { models })).total;
    expect(await sums(200_000n)).toMatchObject({ before: 300_000n, after: 800_000n });
    expect(await sums(500_000n)).toMatchObject({ before: 0n, after: 0n });
    const cheap = await run(storeOf([refunded(1, 400_000n)]), { models: { m: bySecond('0.01') } });
    expect(cheap.total).toMatchObject({ before: 100_000n, after: 0n });
  });

  it('charge a job that replaced another one no more than the hold at these prices', async () => {
    const replaced = (): Recorded => {
      const attempts = [
        {
          channel: 'one',
          credential: 'a',
          n: 1,
          state: 'failed',
          marker: 'm',
          owner: 'o',
          startedAt: 1,
        } as const,
      ];
      const { task, entries } = recorded(1, { durationSeconds: 6 }, { attempts });
      const [hold, close] = entries;
      if (hold === undefined || close === undefined) throw new Error('it was held and settled');
      const price = { line: 0, measure: 'second', price: '0.1', source: 'request' };
      const about = { rules_of: 'model', sources: {}, lines: [{ ...price, quantity: '4/1', amount: '0.4' }] };
      const steps = [
        { kind: 'sum', amount: '0.4' },
        { kind: 'multiplier', multiplier: '1.25', amount: '0.5' },
      ];
      const held = { ...about, facts: { resolution: '720p', channel: 'one' }, steps };
      const basis = JSON.stringify({ ...JSON.parse(hold.basis ?? ''), hold: held });
      return { task, entries: [{ ...hold, basis }, close] };
    };
    const tried = await run(storeOf([replaced()]), { models: { m: bySecond('0.20') } });
    expect(tried.total).toMatchObject({ before: 600_000n, after: 1_000_000n });
    const byCall: Price = { minimum: '0', lines: [{ measure: 'call', price: '50' }] };
    expect((await run(storeOf([replaced()]), { models: { m: byCall } })).total.after).toBe(9_000_000n);
  });

  it('use the tokens of the formula if the upstream reported none', async () => {
    const deps = storeOf([recorded(1, {}, { price: byTokens('7'), tokens: 100_000n })]);
    expect((await run(deps, { models: { m: byTokens('8') } })).total).toMatchObject({
      tasks: 1,
      before: 700_000n,
      after: 800_000n,
      unpriced: 0,
    });
  });

  it('omit tasks that they cannot price, and explain why', async () => {
    const all = [
      recorded(1, { durationSeconds: 5 }, { model: 'gone' }),
      recorded(2, { durationSeconds: 5 }),
      { ...recorded(3, { durationSeconds: 5 }), entries: [] },
    ];
    const tried = await run(storeOf(all), { models: { m: byTokens('7') } });
    expect(tried.total).toMatchObject({ tasks: 0, before: 0n, after: 0n, unpriced: 3 });
    expect(tried.unpriced).toEqual([
      { task: 'task_0001', why: 'gone has no price' },
      { task: 'task_0002', why: 'no price line covers the recorded facts, in million tokens' },
      { task: 'task_0003', why: 'the facts of its hold are not recorded' },
    ]);
  });

  it.each<[Measure, PriceFacts, SettleFacts, string]>([
    ['input_image', { image_input: true }, { inputImages: 3 }, 'input images'],
    ['reference_image', { image_input: true }, {}, 'reference images'],
    ['input_second', { video_input: true }, { inputSeconds: 3 }, 'seconds of input video'],
  ])('omit tasks whose %s was not counted at the time', async (measure, input, reported, words) => {
    const price = { minimum: '0', lines: [...bySecond('0.10').lines, { measure, price: '1' }] };
    const tried = async (facts: PriceFacts, bounds: PriceBasis['bounds'], more: SettleFacts = {}) => {
      const one = recorded(1, { durationSeconds: 5, ...more });
      const [hold, ...others] = one.entries;
      const basis = JSON.stringify({ ...JSON.parse(hold?.basis ?? '{}'), facts, ...defined({ bounds }) });
      const entries = hold === undefined ? [] : [{ ...hold, basis }, ...others];
      const { total, unpriced } = await run(storeOf([{ ...one, entries }]), { models: { m: price } });
      return [total.after, unpriced.map(({ why }) => why)];
    };
    expect(await tried(input, undefined)).toEqual([0n, [`its ${words} are not recorded`]]);
    expect(await tried({}, undefined)).toEqual([500_000n, []]);
    expect(await tried(input, { [measure]: { most: '2/1', source: 'request' } })).toEqual([2_500_000n, []]);
    if (Object.keys(reported).length > 0)
      expect(await tried(input, undefined, reported)).toEqual([3_500_000n, []]);
  });

  it('are tried a page at a time, until the caller stops waiting', async () => {
    const all = Array.from({ length: 250 }, (_, n) => recorded(n, { durationSeconds: 1 }));
    const deps = storeOf(all);
    const seen: number[] = [];
    const models = { m: bySecond('1') };
    const tried = await run(deps, { models }, { onProgress: ({ tasks }) => seen.push(tasks) });
    expect([tried.total.tasks, deps.pages, seen]).toEqual([250, [100, 100, 50], [100, 200, 250]]);
    const leaving = new AbortController();
    const left = run(deps, { models }, { signal: leaving.signal, onProgress: () => leaving.abort() });
    await expect(left).rejects.toThrow('aborted');
    expect(deps.pages).toHaveLength(4);
  });
});

import { expect, it } from 'vitest';
import type { MarginAsked, MarginRow } from '../../src/money/margin.ts';
import type { UpkeepFailure } from '../../src/store/upkeep-failures.ts';
import { createSources } from '../../src/notices/conditions.ts';
import type { RetiredModel } from '../../src/routing/served-models.ts';
import type { Circuit } from '../../src/health/circuit-rules.ts';
import { healthOf, type BehindCount } from '../../src/health/channel-health.ts';

let now = 0;
let since: number | undefined;
let unfinished = 3;
const asked: MarginAsked[] = [];
const rows: MarginRow[] = [];
const circuits: Circuit[] = [];
const behind: BehindCount[] = [];
const low: { account: string; available: bigint }[] = [];
const config = {
  currency: 'USD',
  notify: { low_balance: '2' as string | undefined },
};
const channel = { id: 'one', enabled: true, credentials: [{ id: 'a' }, { id: 'b' }], models: { clip: {} } };
const nothing = () => undefined;
let jump: { expected: number; seen: number } | undefined;
const retired: RetiredModel[] = [];
let upkeepFailures: UpkeepFailure[] = [];
const sources = createSources({
  clockMarks: { find: async () => ({ at: 1, rev: 1, ...(jump === undefined ? {} : { jump }) }) },
  upkeepFailures: { list: async () => upkeepFailures },
  tasks: {
    countAttention: async () => [],
    countUnfinished: async () => [
      { state: 'waiting', channel: 'one', wait: '', count: unfinished, since: 1 },
    ],
    abandonedCallbacks: async () => [],
  },
  health: async () => [
    healthOf(channel, {
      circuits,
      nodes: [],
      switchOf: nothing,
      unserved: nothing,
      waitingAt: () => ({ tasks: unfinished }),
      behind,
      now,
    }),
  ],
  accounts: { closedAmong: async () => new Set(['closed']) },
  workers: async () => ({ unserved: () => (since === undefined ? undefined : { since }) }),
  async *margin(range) {
    asked.push(range);
    yield* rows;
  },
  lowBalances: async (below) => low.filter(({ available }) => available < below),
  retired: () => retired,
  config: () => config,
  now: () => now,
});
const seen = async () => (await sources.attention()).map(({ subject, count }) => [subject, count]);

it('unfinished tasks need an operator if no worker has run for a minute', async () => {
  expect(await seen()).toEqual([]);
  since = 1;
  expect(await seen()).toEqual([]);
  now = 59_000;
  expect(await seen()).toEqual([]);
  since = 2;
  now = 61_000;
  expect(await seen()).toEqual([]);
  now = 121_000;
  expect(await seen()).toEqual([['no_worker', 3]]);
  unfinished = 0;
  expect(await seen()).toEqual([]);
});

it('the database clock has jumped, until no process contradicts it', async () => {
  expect(await sources.clock_jumped()).toEqual([]);
  jump = { expected: 0, seen: 86_400_000 };
  const text = expect.stringMatching(
    /shows 1970-01-02T.* should show 1970-01-01T.*gateway ledger accept-clock/,
  );
  expect(await sources.clock_jumped()).toMatchObject([{ subject: 'database', text }]);
});

it('a channel costs more than it earns, which is checked every quarter of an hour', async () => {
  now = Date.parse('2026-11-23T12:00:00Z');
  const row = (channel: string, charged: bigint) => ({
    of: { channel }, tasks: 4, charged, refunded: 500_000n, cost: 1_000_000n, unknown: 0,
  }); // prettier-ignore
  rows.push(row('dear', 1_499_999n), row('even', 1_500_000n));
  expect(await sources.margin_negative()).toMatchObject([
    {
      kind: 'margin_negative',
      subject: 'dear',
      count: 4,
      text: expect.stringContaining('earned 0.999999 USD'),
    },
  ]);
  expect(asked).toEqual([{ from: '2026-11-22', before: '2026-11-24', by: ['channel'] }]);
  rows.splice(0);
  now += 15 * 60_000 - 1;
  expect(await sources.margin_negative()).toHaveLength(1);
  now += 1;
  expect(await sources.margin_negative()).toEqual([]);
});

it('a circuit is a condition until a request succeeds, with the tasks that wait for it', async () => {
  const circuit = { state: 'open', sign: 'account', code: '401', coolDownMs: 1, at: now } as const;
  const open = (id: string, until: number) => circuits.push({ ...circuit, id, until });
  open('one/a', now + 1);
  open('one/b/clip', now + 1);
  open('one/b', now);
  open('one/gone', now + 1);
  open('gone/a', now + 1);
  unfinished = 12;
  const seenNow = async () => (await sources.circuit_open()).map(({ subject, count }) => [subject, count]);
  behind.push(
    { channel: 'one', credential: 'b', model: 'clip', count: 4, since: 1 },
    { channel: 'one', credential: 'b', model: 'other', count: 3, since: 1 },
    { channel: 'two', credential: 'a', model: 'clip', count: 9, since: 1 },
  );
  const notClosed = [
    ['one/a', 0],
    ['one/b/clip', 4],
    ['one/b', 7],
  ];
  expect(await seenNow()).toEqual(notClosed);
  now += 1;
  expect(await seenNow()).toEqual(notClosed);
  circuits.splice(0, 2);
  expect(await seenNow()).toEqual([['one/b', 7]]);
});

it('low accounts are found in the ledger each minute, and if there are many, only the lowest have their own notices', async () => {
  const subjects = async () => (await sources.low_balance()).map(({ subject, count }) => [subject, count]);
  low.push({ account: 'closed', available: -1n }, { account: 'poor', available: 1_999_999n });
  low.push({ account: 'rich', available: 2_000_000n });
  expect(await subjects()).toEqual([['poor', 1]]);
  low.splice(0);
  now += 59_999;
  expect(await subjects()).toEqual([['poor', 1]]);
  now += 1;
  expect(await subjects()).toEqual([]);
  low.push(...Array.from({ length: 103 }, (_, n) => ({ account: `a${n}`, available: 0n })));
  now += 60_000;
  expect((await subjects()).slice(-2)).toEqual([
    ['a99', 1],
    ['more accounts', 3],
  ]);
  config.notify.low_balance = undefined;
  now += 60_000;
  expect(await subjects()).toEqual([]);
});

it('a model that its vendor has shut down is named with its channel', async () => {
  retired.push({ channel: 'one', model: 'clip', text: 'It is gone.' });
  expect(await sources.model_retired()).toEqual([
    { kind: 'model_retired', subject: 'one/clip', count: 1, text: 'It is gone.' },
  ]);
});

it.each([
  ['storage_full', 'had no space'],
  ['storage_away', 'did not accept a file'],
])('a storage that accepts nothing has its own text: %s', async (step, words) => {
  upkeepFailures = [{ step, count: 1 }];
  expect(await sources.upkeep_failing()).toEqual([
    { kind: 'upkeep_failing', subject: step, count: 1, text: expect.stringContaining(words) },
  ]);
  upkeepFailures = [];
});

it('the upkeep is failing while a step has left items for later', async () => {
  expect(await sources.upkeep_failing()).toEqual([]);
  upkeepFailures = [{ step: 'retention', count: 2 }];
  expect(await sources.upkeep_failing()).toEqual([
    {
      kind: 'upkeep_failing',
      subject: 'retention',
      count: 2,
      text: expect.stringContaining('The step retention of the reconciler left 2 items'),
    },
  ]);
});

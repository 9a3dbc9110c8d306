import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { StatementEntry } from '../../../src/ledger/statement.ts';
import { caller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_statement');
afterEach(() => (world.clock.stoppedAt = undefined));

const [october, november] = ['2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00.000Z'].map((text) =>
  Date.parse(text),
);

async function twoMonths() {
  world.clock.stoppedAt = october;
  const account = await world.newAccount({ credit: '10' });
  const { body } = await account.create();
  world.clock.stoppedAt = november;
  await account.call('POST', `/v1/videos/generations/${body.id}/cancel`);
  await world.admin('POST', `/accounts/${account.id}/credits`, {
    amount: '-1',
    reference: '=HYPERLINK("http://x.example")',
    note: '<b>late</b> fee',
  });
  return { account, task: body.id };
}

const pageOf = (account: string, n: number): StatementEntry => ({
  id: `${account}/${n}`,
  account,
  seq: BigInt(n),
  key: '',
  kind: 'credit',
  amount: 1n,
  available: 1n,
  held: 0n,
  change: 1n,
  at: 0,
  hash: '',
  reference: 'x'.repeat(500_000),
});

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

it('of two months: the second opens with the closing balance of the first, and no entry is in both', async () => {
  const { account, task } = await twoMonths();
  const first = await account.call('GET', '/v1/statement?month=2026-10');
  expect(first.headers['content-type']).toBe('application/x-ndjson');
  expect(linesOf(first.text)).toEqual([
    {
      object: 'statement',
      account: account.id,
      name: expect.any(String),
      currency: 'USD',
      month: '2026-10',
      from: Date.UTC(2026, 9) / 1000,
      before: Date.UTC(2026, 10) / 1000,
      opening: { available: '0.000000', held: '0.000000', seq: 0 },
    },
    expect.objectContaining({
      seq: 1,
      kind: 'credit',
      amount: '10.000000',
      change: '10.000000',
      reason: 'by admin',
    }),
    expect.objectContaining({ seq: 2, kind: 'hold', task, amount: '-0.500000', change: '-0.500000' }),
    {
      object: 'statement.end',
      closing: { available: '9.500000', held: '0.500000', seq: 2 },
      sums: { credit: { entries: 1, amount: '10.000000' }, hold: { entries: 1, amount: '-0.500000' } },
    },
  ]);
  const [opening, ...rest] = linesOf((await account.call('GET', '/v1/statement?month=2026-11')).text);
  expect(opening.opening).toEqual({ available: '9.500000', held: '0.500000', seq: 2 });
  expect(rest).toEqual([
    expect.objectContaining({ seq: 3, kind: 'release', task, reason: null }),
    expect.objectContaining({
      seq: 4,
      kind: 'adjust',
      change: '-1.000000',
      reference: '=HYPERLINK("http://x.example")',
      reason: 'by admin: <b>late</b> fee',
    }),
    expect.objectContaining({ closing: { available: '9.000000', held: '0.000000', seq: 4 } }),
  ]);
});

it('as CSV: decimals, and no formulas', async () => {
  const { account, task } = await twoMonths();
  const { text, headers } = await account.call('GET', '/v1/statement?month=2026-11&format=csv');
  expect(headers['content-disposition']).toBe(`attachment; filename="statement-${account.id}-2026-11.csv"`);
  expect(text.split('\r\n')).toEqual([
    'at,seq,kind,task,amount,change,available,held,reference,reason',
    '2026-11-01T00:00:00Z,,opening,,,,9.500000,0.500000,,',
    `2026-11-01T00:00:00Z,3,release,${task},0.500000,0.500000,10.000000,0.000000,,`,
    `2026-11-01T00:00:00Z,4,adjust,,-1.000000,-1.000000,9.000000,0.000000,"'=HYPERLINK(""http://x.example"")",by admin: <b>late</b> fee`,
    '2026-12-01T00:00:00Z,,closing,,,,9.000000,0.000000,,',
    '',
  ]);
});

it('as a page: nothing in it is interpreted', async () => {
  const { account } = await twoMonths();
  const { text, headers } = await account.call('GET', '/v1/statement?month=2026-11&format=html');
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(text).toContain('by admin: &lt;b&gt;late&lt;/b&gt; fee');
  expect(text).not.toContain('<b>');
});

it('of another account: none of it', async () => {
  const { task } = await twoMonths();
  const other = await world.newAccount();
  const { text } = await other.call('GET', '/v1/statement?month=2026-10');
  expect(text).not.toContain(task);
});

it.each(['', '2026', '2026-13', '2026-1', '1999-01', '2026-11-01'])('400: the month "%s"', async (month) => {
  const { call } = await world.newAccount();
  const answer = await call('GET', `/v1/statement?month=${month}`);
  expect([answer.status, answer.body.error.param]).toEqual([400, 'month']);
});

it('reads ahead no further for a client that stops reading, and stops for one that disconnects', async () => {
  const { key } = await world.newAccount();
  const { ledger } = world.deps;
  let pages = 0;
  let ended = (): void => undefined;
  const end = new Promise<void>((resolve) => (ended = resolve));
  const node = await world.startNode({
    ledger: {
      ...ledger,
      statement: async (account, period) => ({
        ...(await ledger.statement(account, period)),
        async *pages() {
          try {
            for (;;) yield [pageOf(account, (pages += 1))];
          } finally {
            ended();
          }
        },
      }),
    },
  });
  const socket = connect(Number(new URL(node.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`GET /v1/statement?month=2026-11 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  await once(socket, 'readable');
  await sleep(300);
  socket.destroy();
  await end;
  expect(pages).toBeLessThan(100);
});

it('more than a page of entries, in order', async () => {
  world.clock.stoppedAt = november;
  const { id, key } = await world.newAccount();
  const count = 1_100;
  const ledger = world.deps.ledger;
  await Promise.all(
    Array.from({ length: count }, (_, n) => ledger.credit({ account: id, amount: 1n, reference: `r${n}` })),
  );
  const { text } = await caller(world.url, key)('GET', '/v1/statement?month=2026-11');
  const [first, ...entries] = linesOf(text);
  const last = entries.pop();
  const [{ seq }] = [first.opening];
  expect(entries.map((entry) => entry.seq - seq)).toEqual(entries.map((_, n) => n + 1));
  expect(entries.length).toBeGreaterThanOrEqual(count);
  expect(last.closing.seq).toBe(seq + entries.length);
});

it('429: one statement of an account at a time, until it has been read', async () => {
  const [account, other] = [await world.newAccount(), await world.newAccount()];
  const { ledger } = world.deps;
  let go = (): void => undefined;
  const gone = new Promise<void>((resolve) => (go = resolve));
  let reads = 0;
  const node = await world.startNode({
    ledger: {
      ...ledger,
      statement: async (id, period) => ({
        ...(await ledger.statement(id, period)),
        async *pages() {
          reads += 1;
          if (id === account.id) await gone;
          yield [pageOf(id, 1)];
        },
      }),
    },
  });
  const ask = (key: string) => node.call('GET', '/v1/statement?month=2026-11', { key });
  const first = ask(account.key);
  await expect.poll(() => reads).toBe(1);
  const second = await ask(account.key);
  expect([second.status, second.body.error.code]).toEqual([429, 'concurrency_limit_exceeded']);
  expect((await ask(other.key)).status).toBe(200);
  go();
  expect((await first).status).toBe(200);
  expect((await ask(account.key)).status).toBe(200);
});

import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { dayMs } from '../../src/base/times.ts';
import { openHeadsPlace } from '../../src/compose/heads-place.ts';
import { createHeadAnchors } from '../../src/ledger/anchored-heads.ts';
import { daysCompared, dailyExport } from '../../src/ledger/outside-heads.ts';
import type { HeadsPlace, OpenHeadsPlace } from '../../src/ledger/outside-heads.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { useLedgerWorld } from './support.ts';

const world = useLedgerWorld('test_outside_heads');
const anchors = () => createHeadAnchors(world.db, testLedgerKey);
const noon = Date.parse('2026-11-25T12:00:00Z');
let directory: string;
let today: number;

const refused = () => Promise.reject(new Error('nothing is posted'));
const place = () => openHeadsPlace({ directory }, refused);
const inPlace = (open: HeadsPlace) => Promise.resolve(open);
const nowhere = () => openHeadsPlace(undefined, refused);

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'heads-'));
  today = noon;
  const books = await world.openLedger();
  await books.credit({ account: 'acme', amount: 1000n, reference: 'first' });
  await books.credit({ account: 'other', amount: 1000n, reference: 'first' });
  await books.credit({ account: 'acme', amount: 1n, reference: 'second' });
  await anchors().anchorAll(noon);
});
afterEach(async () => {
  await Promise.all([world.entries.deleteMany({}), world.db.collection('ledger_heads').deleteMany({})]);
  await rm(directory, { recursive: true, force: true });
});

const exported = (openPlace: OpenHeadsPlace = place) =>
  dailyExport({ anchors: anchors(), openPlace, now: () => today });

async function verify(openPlace: OpenHeadsPlace = place) {
  const { outside, violations } = await verifyLedger({
    db: world.db,
    key: testLedgerKey,
    holders: () => Promise.resolve(new Map()),
    now: () => today,
    openPlace,
  });
  return { outside, violations: violations.map(({ message }) => message) };
}

it('heads are exported once a day in the form of `ledger heads -o jsonl`, and match the ledger', async () => {
  const run = exported();
  expect([await run(), await run()]).toEqual([2, 0]);
  const [name = ''] = await readdir(directory);
  const lines = (await readFile(join(directory, name), 'utf8')).trim().split('\n');
  expect(name).toBe('ledger-heads-2026-11-25.jsonl');
  expect(lines.map((line) => JSON.parse(line)).toSorted((a, b) => (a.account < b.account ? -1 : 1))).toEqual([
    { account: 'acme', seq: 2, hash: expect.any(String), at: noon / 1000, signature: expect.any(String) },
    { account: 'other', seq: 1, hash: expect.any(String), at: noon / 1000, signature: expect.any(String) },
  ]);
  today += dayMs;
  await run();
  expect(await verify()).toEqual({
    outside: { days: 2, heads: 2, newest: '2026-11-26', notCompared: [] },
    violations: [],
  });
});

it('a restarted process does not replace the file of the day', async () => {
  await exported()();
  const [name = ''] = await readdir(directory);
  await writeFile(join(directory, name), '');
  await exported()();
  expect([await readFile(join(directory, name), 'utf8'), await readdir(directory)]).toEqual(['', [name]]);
});

it('heads reveal entries that were removed together with all anchors', async () => {
  await exported()();
  await Promise.all([
    world.entries.deleteOne({ _id: 'acme/2' }),
    world.db.collection('ledger_heads').deleteMany({}),
  ]);
  expect((await verify(nowhere)).violations).toEqual([]);
  expect((await verify()).violations).toEqual([
    'exported head acme/2: was the head on 2026-11-25, but is missing',
  ]);
});

it('are refused if they were changed, and a broken line is named', async () => {
  await exported()();
  const [name = ''] = await readdir(directory);
  const path = join(directory, name);
  await writeFile(path, (await readFile(path, 'utf8')).replace('"seq":2', '"seq":1'));
  expect((await verify()).violations).toEqual([
    'exported head acme/1: the anchored head is not signed by this gateway',
  ]);
  await appendFile(path, '{"account":');
  expect((await verify()).violations).toEqual([
    'the file of exported heads of 2026-11-25 has a line without a valid head',
    'exported head acme/1: the anchored head is not signed by this gateway',
  ]);
});

it('that cannot be read are reported as not compared, and reading stops soon', async () => {
  await exported()();
  const asked: string[] = [];
  const broken = (reads: number) => (): Promise<HeadsPlace> =>
    inPlace({
      write: () => Promise.resolve(),
      async read(day) {
        asked.push(day);
        const file = asked.length <= reads ? await (await place())?.read?.(day) : undefined;
        if (file === undefined) throw new Error('unreachable');
        return file;
      },
      close: () => undefined,
    });
  const { outside, violations } = await verify(broken(1));
  expect(violations).toEqual([]);
  expect(outside).toMatchObject({ days: 1, heads: 2, newest: '2026-11-25' });
  expect(outside?.notCompared).toHaveLength(daysCompared - 1);
  expect(asked).toEqual(['2026-11-25', '2026-11-24', '2026-11-23', '2026-11-22']);
});

it('that end early are reported as not fully compared, and are not a violation', async () => {
  const cut = (): Promise<HeadsPlace> =>
    inPlace({
      write: () => Promise.resolve(),
      read: (day) => Promise.resolve(day === '2026-11-25' ? cutOff() : undefined),
      close: () => undefined,
    });
  async function* cutOff() {
    yield Buffer.from('{"account":');
    await Promise.reject(new Error('reset'));
  }
  expect(await verify(cut)).toEqual({
    outside: { days: 0, heads: 0, notCompared: ['2026-11-25'] },
    violations: [],
  });
});

it('are compared as they arrive: lines in pieces, hundreds of lines, and one without an end', async () => {
  await exported()();
  const [name = ''] = await readdir(directory);
  const whole = await readFile(join(directory, name), 'utf8');
  const [head = ''] = whole.split('\n');
  const missing = Array.from({ length: 600 }, (_, n) => head.replace(/"seq":\d/, `"seq":${n + 10}`));
  const text = `${missing.join('\n')}\n${'x'.repeat(200_000)}\n${whole}`;
  async function* pieces() {
    for (let from = 0; from < text.length; from += 1_000) yield Buffer.from(text.slice(from, from + 1_000));
  }
  const { outside, violations } = await verify(() =>
    inPlace({
      write: () => Promise.resolve(),
      read: (day) => Promise.resolve(day > '2026-11-23' ? pieces() : undefined),
      close: () => undefined,
    }),
  );
  expect(outside).toMatchObject({ days: 2, heads: 602 });
  expect(violations).toHaveLength(600 + 1);
});

it('a verification without exported heads reports that it compared none', async () => {
  expect((await verify()).outside).toEqual({ days: 0, heads: 0, notCompared: [] });
  expect((await verify(nowhere)).outside).toBeUndefined();
});

it('heads older than a month are not compared', async () => {
  await exported()();
  today += daysCompared * dayMs;
  expect((await verify()).outside).toEqual({ days: 0, heads: 0, notCompared: [] });
});

it('heads can be posted to a webhook, which no verification reads, and a failed post is repeated', async () => {
  const posted: { readonly headers: object; readonly body: string }[] = [];
  let status = 500;
  const webhook = () =>
    openHeadsPlace({ url: 'https://archive.example/heads', token: 't' }, (delivery) => {
      posted.push(delivery);
      return Promise.resolve({ status });
    });
  const run = exported(webhook);
  await expect(run()).rejects.toThrow('responded with 500');
  status = 204;
  expect(await run()).toBe(2);
  expect(posted[1]).toMatchObject({
    headers: { 'x-ledger-day': '2026-11-25', 'x-ledger-part': '1', authorization: 'Bearer t' },
  });
  expect(posted[1]?.body.trim().split('\n')).toHaveLength(2);
  expect((await verify(webhook)).outside).toBeUndefined();
});

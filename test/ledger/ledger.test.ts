import { beforeAll, describe, expect, it } from 'vitest';
import { Long } from 'mongodb';
import { LedgerIntegrityError } from '../../src/ledger/ledger-errors.ts';
import type { HoldResult, Ledger } from '../../src/ledger/ledger.ts';
import { hashTestEntry, useLedgerWorld } from './support.ts';

const world = useLedgerWorld('test_ledger');
let ledger: Ledger;
let other: Ledger;

beforeAll(async () => {
  ledger = await world.openLedger();
  other = await world.openLedger();
});

async function accountWith(amount: bigint): Promise<string> {
  const account = world.newAccount();
  await ledger.credit({ account, amount, reference: 'start' });
  return account;
}

const hold = (account: string, task: string, amount: bigint, { overdraftLimit = 0n, by = ledger } = {}) =>
  by.hold({
    account,
    task: `${account}.${task}`,
    by: { key: 'key_1', model: 'video-1' },
    amount,
    basis: '{"version":"1"}',
    overdraftLimit,
  });
const settle = (account: string, task: string, [held, amount]: [bigint, bigint], by = ledger) =>
  by.settle({ account, task: `${account}.${task}`, held, amount });
const release = (account: string, task: string, held: bigint, by = ledger) =>
  by.release({ account, task: `${account}.${task}`, held });

const kindsOf = async (account: string) =>
  (await ledger.entries(account, { limit: 100 })).map((entry) => entry.kind);

describe('hold', () => {
  it('moves the amount from available to held', async () => {
    const account = await accountWith(100n);
    const result = await hold(account, 'a', 60n);
    expect(result).toMatchObject({
      ok: true,
      replayed: false,
      entry: { seq: 2n, available: 40n, held: 60n },
    });
    expect(await ledger.balance(account)).toEqual({ available: 40n, held: 60n, seq: 2n });
  });

  it('is refused and leaves no entry if it does not fit', async () => {
    const account = await accountWith(100n);
    expect(await hold(account, 'a', 101n)).toEqual({
      ok: false,
      refused: 'insufficient_balance',
      available: 100n,
    });
    expect(await kindsOf(account)).toEqual(['credit']);
  });

  it('may use the overdraft to its last micro-unit, but no further', async () => {
    const account = await accountWith(100n);
    expect(await hold(account, 'a', 151n, { overdraftLimit: 50n })).toMatchObject({ ok: false });
    expect(await hold(account, 'b', 150n, { overdraftLimit: 50n })).toMatchObject({
      ok: true,
      entry: { available: -50n },
    });
    expect(await hold(account, 'c', 1n, { overdraftLimit: 50n })).toMatchObject({
      ok: false,
      available: -50n,
    });
  });

  it('of an account without entries is refused, or taken from its overdraft', async () => {
    const account = world.newAccount();
    expect(await hold(account, 'a', 1n)).toMatchObject({ ok: false, available: 0n });
    expect(await hold(account, 'b', 1n, { overdraftLimit: 1n })).toMatchObject({
      ok: true,
      entry: { seq: 1n, available: -1n },
    });
  });

  it('leaves one entry when it is repeated, even by another process and with another amount', async () => {
    const account = await accountWith(100n);
    const first = await hold(account, 'a', 60n);
    const again = await hold(account, 'a', 60n);
    const elsewhere = await hold(account, 'a', 61n, { by: other });
    expect(again).toMatchObject({ ok: true, replayed: true });
    expect(elsewhere).toMatchObject({ ok: true, replayed: true });
    expect(new Set([first, again, elsewhere].map(entryIdOf)).size).toBe(1);
    expect(await kindsOf(account)).toEqual(['credit', 'hold']);
  });

  it('returns its entry when it is repeated after nothing is left', async () => {
    const account = await accountWith(60n);
    await hold(account, 'a', 60n);
    expect(await hold(account, 'a', 60n)).toMatchObject({ ok: true, replayed: true });
  });

  it('considers a credit of another process before it refuses', async () => {
    const account = await accountWith(10n);
    await other.credit({ account, amount: 90n, reference: 'elsewhere' });
    expect(await hold(account, 'a', 100n)).toMatchObject({ ok: true });
  });

  it('is taken exactly as often as it fits, even if many arrive at the same time', async () => {
    const account = await accountWith(100n);
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, n) => hold(account, `t${n}`, 7n, { by: n % 2 === 0 ? ledger : other })),
    );
    expect(results.filter((result) => result.ok)).toHaveLength(14);
    expect(await ledger.balance(account)).toMatchObject({ available: 2n, held: 98n });
    expect(await world.chainFaults(account)).toEqual([]);
  });

  it('on another account for the same task is an error', async () => {
    const account = await accountWith(100n);
    const stranger = await accountWith(100n);
    await ledger.hold({
      account,
      task: 'shared',
      by: { key: 'key_1', model: 'video-1' },
      amount: 1n,
      basis: '{}',
      overdraftLimit: 0n,
    });
    await expect(
      ledger.hold({
        account: stranger,
        task: 'shared',
        by: { key: 'key_1', model: 'video-1' },
        amount: 1n,
        basis: '{}',
        overdraftLimit: 0n,
      }),
    ).rejects.toThrow(LedgerIntegrityError);
    expect(await kindsOf(stranger)).toEqual(['credit']);
  });
});

describe('settle', () => {
  it('charges the hold and returns the rest', async () => {
    const account = await accountWith(100n);
    await hold(account, 'a', 60n);
    expect(await settle(account, 'a', [60n, 45n])).toMatchObject({
      closed: 'settled',
      charged: 45n,
      replayed: false,
      contradicts: false,
    });
    expect(await ledger.balance(account)).toMatchObject({ available: 55n, held: 0n });
  });

  it('of nothing returns the whole hold', async () => {
    const account = await accountWith(100n);
    await hold(account, 'a', 60n);
    expect(await settle(account, 'a', [60n, 0n])).toMatchObject({ closed: 'settled', charged: 0n });
    expect(await ledger.balance(account)).toMatchObject({ available: 100n, held: 0n });
  });

  it('beyond the hold charges the excess, even below zero, and that blocks new holds', async () => {
    const account = await accountWith(100n);
    await hold(account, 'a', 60n);
    expect(await settle(account, 'a', [60n, 150n])).toMatchObject({
      charged: 150n,
      entry: { kind: 'settle', amount: 60n, excess: 90n },
    });
    expect(await kindsOf(account)).toEqual(['credit', 'hold', 'settle', 'charge_extra']);
    expect(await ledger.balance(account)).toMatchObject({ available: -50n, held: 0n });
    expect(await hold(account, 'b', 1n)).toMatchObject({ ok: false, available: -50n });
    expect(await world.chainFaults(account)).toEqual([]);
  });

  it('charges once when it is repeated, whatever the repeat says', async () => {
    const account = await accountWith(100n);
    await hold(account, 'a', 60n);
    await settle(account, 'a', [60n, 45n]);
    expect(await settle(account, 'a', [60n, 45n])).toMatchObject({ charged: 45n, replayed: true });
    expect(await settle(account, 'a', [60n, 99n], other)).toMatchObject({ charged: 45n, replayed: true });
    expect(await kindsOf(account)).toEqual(['credit', 'hold', 'settle']);
  });

  it('after a release finds the release, and charges nothing', async () => {
    const account = await accountWith(100n);
    await hold(account, 'a', 60n);
    await release(account, 'a', 60n);
    expect(await settle(account, 'a', [60n, 45n])).toMatchObject({
      closed: 'released',
      charged: 0n,
      replayed: true,
      contradicts: true,
    });
    expect(await ledger.balance(account)).toMatchObject({ available: 100n, held: 0n });
  });

  it('of a task that is not held, or was voided, charges and writes nothing', async () => {
    const account = await accountWith(100n);
    expect(await settle(account, 'a', [60n, 45n])).toEqual({ closed: 'no_hold' });
    await ledger.void({ account, task: `${account}.v` });
    expect(await settle(account, 'v', [60n, 45n])).toEqual({ closed: 'no_hold' });
    expect(await kindsOf(account)).toEqual(['credit', 'void']);
  });

  it('with a different amount from the hold is an error and writes nothing', async () => {
    const account = await accountWith(100n);
    await hold(account, 'b', 60n);
    await expect(settle(account, 'b', [61n, 45n])).rejects.toThrow('60 is held');
    expect(await kindsOf(account)).toEqual(['credit', 'hold']);
  });
});

describe('release', () => {
  it('returns the hold once', async () => {
    const account = await accountWith(100n);
    await hold(account, 'a', 60n);
    expect(await release(account, 'a', 60n)).toMatchObject({ closed: 'released', replayed: false });
    expect(await release(account, 'a', 60n, other)).toMatchObject({ closed: 'released', replayed: true });
    expect(await ledger.balance(account)).toMatchObject({ available: 100n, held: 0n });
  });

  it('after a settle returns the settle with its whole charge', async () => {
    const account = await accountWith(100n);
    await hold(account, 'a', 60n);
    await settle(account, 'a', [60n, 70n]);
    expect(await release(account, 'a', 60n)).toMatchObject({
      closed: 'settled',
      charged: 70n,
      contradicts: true,
    });
  });

  it('of a task that was never held writes nothing', async () => {
    const account = await accountWith(100n);
    expect(await release(account, 'a', 60n)).toEqual({ closed: 'no_hold' });
    expect(await kindsOf(account)).toEqual(['credit']);
  });

  it('and settle at the same time from several processes: one of them closes the task', async () => {
    const account = await accountWith(1000n);
    for (let n = 0; n < 10; n += 1) {
      await hold(account, `t${n}`, 60n);
      const results = await Promise.all([
        settle(account, `t${n}`, [60n, 45n]),
        release(account, `t${n}`, 60n, other),
        settle(account, `t${n}`, [60n, 80n], other),
        release(account, `t${n}`, 60n),
      ]);
      expect(new Set(results.map((result) => ('entry' in result ? result.entry.hash : '?'))).size).toBe(1);
      expect(results.filter((result) => 'replayed' in result && !result.replayed)).toHaveLength(1);
    }
    expect(await ledger.balance(account)).toMatchObject({ held: 0n });
    expect(await world.chainFaults(account)).toEqual([]);
  });
});

describe('refund', () => {
  async function charged(): Promise<string> {
    const account = await accountWith(200n);
    await hold(account, 'a', 60n);
    await settle(account, 'a', [60n, 150n]);
    return account;
  }
  const refund = (account: string, amount: bigint, by = ledger) =>
    by.refund({ account, task: `${account}.a`, amount, note: 'by ada: it shows nothing' });

  it('returns the whole charge, including what exceeded the hold', async () => {
    const account = await charged();
    await hold(account, 'b', 20n);
    expect(await refund(account, 150n)).toMatchObject({
      ok: true,
      replayed: false,
      entry: {
        key: `${account}.a:refund`,
        kind: 'refund',
        task: `${account}.a`,
        amount: 150n,
        available: 180n,
        held: 20n,
        note: 'by ada: it shows nothing',
      },
    });
    expect(await ledger.balance(account)).toMatchObject({ available: 180n, held: 20n });
    const kinds = (await ledger.entriesOfTask(`${account}.a`)).map(({ kind }) => kind);
    expect(kinds).toEqual(['hold', 'settle', 'charge_extra', 'refund']);
    expect(await world.chainFaults(account)).toEqual([]);
  });

  it('of more than the charge is refused and leaves no entry', async () => {
    const account = await charged();
    const refused = { ok: false, refused: 'above_charge', charged: 150n };
    expect(await refund(account, 151n)).toEqual(refused);
    expect(await refund(account, 10n ** 30n)).toEqual(refused);
    expect(await kindsOf(account)).toEqual(['credit', 'hold', 'settle', 'charge_extra']);
  });

  it('of a task that is not settled is refused: held, released, voided, settled for nothing, unknown', async () => {
    const account = await accountWith(100n);
    const refused = { ok: false, refused: 'not_settled' };
    expect(await refund(account, 1n)).toEqual(refused);
    await hold(account, 'a', 60n);
    expect(await refund(account, 1n)).toEqual(refused);
    await release(account, 'a', 60n);
    expect(await refund(account, 1n)).toEqual(refused);
    await ledger.void({ account, task: `${account}.v` });
    expect(await ledger.refund({ account, task: `${account}.v`, amount: 1n })).toEqual(refused);
    await hold(account, 'free', 60n);
    await settle(account, 'free', [60n, 0n]);
    const free = await ledger.refund({ account, task: `${account}.free`, amount: 1n });
    expect(free).toEqual({ ok: false, refused: 'above_charge', charged: 0n });
    expect(await ledger.balance(account)).toMatchObject({ available: 100n, held: 0n });
  });

  it('is refused for an account other than the charged one', async () => {
    const account = await charged();
    const stranger = await accountWith(100n);
    const request = { account: stranger, task: `${account}.a`, amount: 1n };
    expect(await ledger.refund(request)).toEqual({ ok: false, refused: 'not_settled' });
    expect(await kindsOf(stranger)).toEqual(['credit']);
  });

  it('leaves one entry when it is repeated, even by another process and with another amount', async () => {
    const account = await charged();
    const first = await refund(account, 50n);
    for (const again of [await refund(account, 50n), await refund(account, 100n, other)]) {
      expect(again).toEqual({ ...first, replayed: true });
    }
    expect(await refund(account, 151n)).toMatchObject({ ok: true, replayed: true });
    expect(await ledger.balance(account)).toMatchObject({ available: 100n });
  });

  it('leaves one entry when several processes request it at the same time', async () => {
    const account = await charged();
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, n) => refund(account, BigInt(10 + n), n % 2 === 0 ? ledger : other)),
    );
    expect(results.filter((result) => result.ok && !result.replayed)).toHaveLength(1);
    expect(new Set(results.map((result) => (result.ok ? result.entry.hash : '?'))).size).toBe(1);
    expect((await kindsOf(account)).filter((kind) => kind === 'refund')).toHaveLength(1);
    expect(await world.chainFaults(account)).toEqual([]);
  });

  it.each([0n, -1n])('of %s is an error, and leaves no entry', async (amount) => {
    const account = await charged();
    await expect(refund(account, amount)).rejects.toThrow(RangeError);
    expect(await kindsOf(account)).not.toContain('refund');
  });
});

describe('a hold', () => {
  it('of more than an entry can store is refused like one that nobody can pay', async () => {
    const account = await accountWith(10n);
    expect(await hold(account, 'a', 10n ** 18n + 1n, { overdraftLimit: 10n ** 18n })).toEqual({
      ok: false,
      refused: 'insufficient_balance',
      available: 10n,
    });
  });
});

describe('credit', () => {
  it('happens once per reference', async () => {
    const account = world.newAccount();
    const first = await ledger.credit({ account, amount: 10n, reference: 'invoice 7', note: 'by hand' });
    const again = await other.credit({ account, amount: 99n, reference: 'invoice 7' });
    expect(first).toMatchObject({ replayed: false, entry: { kind: 'credit', note: 'by hand' } });
    expect(again).toMatchObject({ replayed: true, entry: { amount: 10n } });
    expect(await ledger.balance(account)).toMatchObject({ available: 10n });
  });

  it('of a negative amount is a correction and may take the balance below zero', async () => {
    const account = await accountWith(10n);
    const credited = await ledger.credit({ account, amount: -25n, reference: 'chargeback' });
    expect(credited).toMatchObject({ entry: { kind: 'adjust', amount: -25n, available: -15n } });
    expect(await world.chainFaults(account)).toEqual([]);
  });

  it('keeps the references of two accounts apart', async () => {
    const [one, two] = [world.newAccount(), world.newAccount()];
    await ledger.credit({ account: one, amount: 1n, reference: 'same' });
    expect(await ledger.credit({ account: two, amount: 2n, reference: 'same' })).toMatchObject({
      replayed: false,
    });
  });

  it.each([
    ['a zero', { amount: 0n }],
    ['more than 10^18', { amount: 10n ** 18n + 1n }],
    ['an empty reference', { reference: '' }],
    ['a long reference', { reference: 'r'.repeat(257) }],
    ['an account with a slash', { account: 'a/b' }],
    ['an account with a colon', { account: 'a:b' }],
  ])('of %s is refused before anything is written', async (_name, fault) => {
    const request = { account: 'acct_bounds', amount: 1n, reference: 'r', ...fault };
    await expect(ledger.credit(request)).rejects.toThrow(RangeError);
    expect(await ledger.balance('acct_bounds')).toMatchObject({ seq: 0n });
  });

  it.each([1n, -1n])('never raises a balance above 10^18 (%s)', async (sign) => {
    const account = world.newAccount();
    const most = { account, amount: sign * 10n ** 18n, reference: 'most' };
    expect(await ledger.credit(most)).toMatchObject({ ok: true });
    await hold(account, 'a', 5n);
    const refused = { ok: false, refused: 'balance_limit' };
    for (const reference of ['more', 'again'])
      expect(await ledger.credit({ account, amount: sign, reference })).toEqual(refused);
    expect(await ledger.credit(most)).toMatchObject({ ok: true, replayed: true });
    expect(await ledger.credit({ account, amount: -sign, reference: 'less' })).toMatchObject({ ok: true });
    expect(await world.chainFaults(account)).toEqual([]);
  });
});

describe('entries', () => {
  it('store every amount as int64, however small, and hash to their content', async () => {
    const account = await accountWith(100n);
    await hold(account, 'a', 0n);
    const raw = await world.db
      .collection('ledger', { useBigInt64: false, promoteLongs: false })
      .find({ account })
      .toArray();
    expect(raw).toHaveLength(2);
    for (const document of raw) {
      for (const field of ['seq', 'amount', 'available', 'held'])
        expect(document[field]).toBeInstanceOf(Long);
    }
    for (const entry of await world.entries.find({ account }).toArray())
      expect(entry.hash).toBe(hashTestEntry(entry));
  });

  it('keep their hash if a note contains half a surrogate pair or is cut inside one', async () => {
    const account = world.newAccount();
    await ledger.credit({ account, amount: 1n, reference: 'half \ud83d', note: `${'n'.repeat(599)}😀` });
    expect(await ledger.credit({ account, amount: 1n, reference: 'half \ud83d' })).toMatchObject({
      replayed: true,
    });
    expect(await world.chainFaults(account)).toEqual([]);
  });

  it('come in pages, oldest first', async () => {
    const account = world.newAccount();
    for (let n = 1; n <= 7; n += 1) await ledger.credit({ account, amount: 1n, reference: `r${n}` });
    const pages = [
      await ledger.entries(account, { limit: 3 }),
      await ledger.entries(account, { after: 3n, limit: 3 }),
      await ledger.entries(account, { after: 6n, limit: 3 }),
      await ledger.entries(account, { after: 7n, limit: 3 }),
    ];
    expect(pages.map((page) => page.map((entry) => entry.seq))).toEqual([
      [1n, 2n, 3n],
      [4n, 5n, 6n],
      [7n],
      [],
    ]);
  });

  it('of a task come in the order in which they happened', async () => {
    const account = await accountWith(100n);
    await hold(account, 'a', 60n);
    await settle(account, 'a', [60n, 61n]);
    const entries = await ledger.entriesOfTask(`${account}.a`);
    expect(entries.map((entry) => entry.kind)).toEqual(['hold', 'settle', 'charge_extra']);
    expect(entries[0]?.basis).toBe('{"version":"1"}');
    expect(await ledger.entriesOfTask('task_unknown')).toEqual([]);
  });
});

describe('balance', () => {
  it('includes other processes’ entries, whether few or many are new', async () => {
    const account = await accountWith(1n);
    await ledger.balance(account);
    await other.credit({ account, amount: 1n, reference: 'one more' });
    expect(await ledger.balance(account)).toMatchObject({ available: 2n, seq: 2n });
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => other.credit({ account, amount: 1n, reference: `many ${n}` })),
    );
    expect(await ledger.balance(account)).toMatchObject({ available: 42n, seq: 42n });
  });

  it('of an account without entries is zero', async () => {
    expect(await ledger.balance(world.newAccount())).toEqual({ available: 0n, held: 0n, seq: 0n });
  });
});

describe('round trips', () => {
  async function counted() {
    const calls: string[] = [];
    const counting = await world.openLedger({
      wrap: (collection) =>
        new Proxy(collection, {
          get(target, property) {
            const value: unknown = Reflect.get(target, property);
            if (typeof value !== 'function') return value;
            if (['find', 'findOne', 'insertMany'].includes(String(property))) calls.push(String(property));
            return value.bind(target);
          },
        }),
    });
    return { by: counting, calls: () => calls.splice(0) };
  }

  it('a hold on a known account is one insert; its close one read and one insert', async () => {
    const account = await accountWith(100n);
    const { by, calls } = await counted();
    await hold(account, 'a', 1n, { by });
    expect(calls()).toEqual(['findOne', 'findOne', 'findOne', 'insertMany']);
    await hold(account, 'b', 1n, { by });
    expect(calls()).toEqual(['insertMany']);
    await settle(account, 'b', [1n, 2n], by);
    expect(calls()).toEqual(['find', 'insertMany']);
    await by.balance(account);
    expect(calls()).toEqual(['find']);
  });

  it('while another process writes too, a read precedes the insert until it finds nothing', async () => {
    const account = await accountWith(100n);
    const { by, calls } = await counted();
    await hold(account, 'a', 1n, { by });
    await hold(account, 'b', 1n);
    calls();
    await hold(account, 'c', 1n, { by });
    expect(calls()).toEqual(['insertMany', 'find', 'insertMany']);
    await hold(account, 'd', 1n);
    await hold(account, 'e', 1n, { by });
    expect(calls()).toEqual(['find', 'insertMany']);
    await hold(account, 'f', 1n, { by });
    expect(calls()).toEqual(['find', 'insertMany']);
    await hold(account, 'g', 1n, { by });
    expect(calls()).toEqual(['insertMany']);
    expect(await world.chainFaults(account)).toEqual([]);
  });

  it('operations that wait on one account are sent together', async () => {
    const account = await accountWith(1000n);
    const { by, calls } = await counted();
    await hold(account, 'first', 1n, { by });
    calls();
    await Promise.all(Array.from({ length: 100 }, (_, n) => hold(account, `t${n}`, 1n, { by })));
    expect(calls()).toEqual(['insertMany']);
    await Promise.all(Array.from({ length: 150 }, (_, n) => hold(account, `u${n}`, 1n, { by })));
    expect(calls()).toEqual(['insertMany', 'insertMany']);
  });
});

it('operations on one task in one batch see each other', async () => {
  const account = await accountWith(100n);
  const [taken, again, closed, tooLate] = await Promise.all([
    hold(account, 'a', 60n),
    hold(account, 'a', 60n),
    settle(account, 'a', [60n, 70n]),
    release(account, 'a', 60n),
  ]);
  expect(taken).toMatchObject({ ok: true, replayed: false });
  expect(again).toMatchObject({ ok: true, replayed: true });
  expect(closed).toMatchObject({ closed: 'settled', charged: 70n, replayed: false });
  expect(tooLate).toMatchObject({ closed: 'settled', replayed: true, contradicts: true });
  expect(await kindsOf(account)).toEqual(['credit', 'hold', 'settle', 'charge_extra']);
});

it('many accounts and a busy one at once, with few heads remembered', async () => {
  const small = await world.openLedger({ headsMax: 3 });
  const accounts = await Promise.all(Array.from({ length: 20 }, () => accountWith(1000n)));
  const hot = await accountWith(10_000n);
  await Promise.all(
    accounts.flatMap((account, n) => [
      hold(account, 'a', 10n).then(() => settle(account, 'a', [10n, 12n], small)),
      hold(hot, `h${n}`, 10n, { by: other }).then(() => release(hot, `h${n}`, 10n)),
    ]),
  );
  for (const account of [...accounts, hot]) expect(await world.chainFaults(account)).toEqual([]);
  expect(await ledger.balance(hot)).toMatchObject({ available: 10_000n, held: 0n, seq: 41n });
});

function entryIdOf(result: HoldResult): string {
  return result.ok ? result.entry.id : 'refused';
}

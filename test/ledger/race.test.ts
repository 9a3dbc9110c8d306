import { describe, expect, it } from 'vitest';
import { pauseFirstAt } from '../support/race.ts';
import { useLedgerWorld } from './support.ts';

const world = useLedgerWorld('mediary_ledger_race');
/** The time is noon, so that no daily cap resets during the test. */
const now = () => Date.UTC(2027, 0, 12, 12);

it('a hold that was planned before another process took the balance is refused, not overdrawn', async () => {
  const account = world.newAccount();
  let collisions = 0;
  const meter = { beginAppend: () => () => undefined, countCollision: () => void (collisions += 1) };
  const [one, other] = await Promise.all([world.openLedger({ meter, now }), world.openLedger({ now })]);
  await one.credit({ account, amount: 100n, reference: 'first' });
  const hold = {
    account,
    by: { key: 'key_1', model: 'video-1' },
    amount: 100n,
    basis: '{}',
    overdraftLimit: 0n,
  };
  const paused = pauseFirstAt('ledger.append', account);
  const late = one.hold({ ...hold, task: 'late' });
  await paused.reached;
  await expect(other.hold({ ...hold, task: 'early' })).resolves.toMatchObject({ ok: true });
  paused.release();
  await expect(late).resolves.toEqual({ ok: false, refused: 'insufficient_balance', available: 0n });
  expect(collisions).toBe(1);
  await expect(world.chainFaults(account)).resolves.toEqual([]);
});

const by = { key: 'key_1', model: 'video-1' };

async function twoLedgers(credit: bigint) {
  const account = world.newAccount();
  let collisions = 0;
  const meter = { beginAppend: () => () => undefined, countCollision: () => void (collisions += 1) };
  const [late, early] = await Promise.all([world.openLedger({ meter, now }), world.openLedger({ now })]);
  await late.credit({ account, amount: credit, reference: 'first' });
  return { account, late, early, lost: () => collisions };
}

it.each([
  ['key', by],
  ['end_user', { ...by, endUser: 'u1' }],
] as const)(
  'a hold that was planned before another process used up the cap of its %s is refused',
  async (scope, spender) => {
    const { account, late, early, lost } = await twoLedgers(1_000n);
    const capped = { ...spender, caps: [{ scope, window: 'day', limit: 10n } as const] };
    const hold = { account, by: capped, basis: '{}', overdraftLimit: 0n };
    const paused = pauseFirstAt('ledger.append', account);
    const refused = late.hold({ ...hold, task: `${account}.late`, amount: 10n });
    await paused.reached;
    const first = await early.hold({ ...hold, task: `${account}.early`, amount: 10n });
    expect(first).toMatchObject({ ok: true, cap: { used: 10n, left: 0n } });
    paused.release();
    expect(await refused).toMatchObject({
      ok: false,
      refused: 'capped',
      cap: { scope, used: 10n, left: 0n },
    });
    expect(lost()).toBe(1);
    await expect(world.chainFaults(account)).resolves.toEqual([]);
  },
);

it('if two holds both fit into a cap, the one that loses the race counts the other', async () => {
  const { account, late, early, lost } = await twoLedgers(1_000n);
  const hold = { account, by: { ...by, caps: [{ scope: 'key', window: 'day', limit: 10n }] }, basis: '{}', overdraftLimit: 0n } as const; // prettier-ignore
  const paused = pauseFirstAt('ledger.append', account);
  const second = late.hold({ ...hold, task: `${account}.late`, amount: 4n });
  await paused.reached;
  await early.hold({ ...hold, task: `${account}.early`, amount: 5n });
  paused.release();
  expect(await second).toMatchObject({ ok: true, cap: { used: 9n, left: 1n } });
  expect(lost()).toBe(1);
  await expect(world.chainFaults(account)).resolves.toEqual([]);
});

describe.each(['settle', 'release'] as const)(
  'a %s that was planned before the contrary was written',
  (planned) => {
    it('reports how the task was closed, and moves no money twice', async () => {
      const { account, late, early, lost } = await twoLedgers(100n);
      const task = `${account}.a`;
      await late.hold({ account, task, by, amount: 60n, basis: '{}', overdraftLimit: 0n });
      const settle = { account, task, held: 60n, amount: 75n };
      const release = { account, task, held: 60n };
      const paused = pauseFirstAt('ledger.append', account);
      const second = planned === 'settle' ? late.settle(settle) : late.release(release);
      await paused.reached;
      const first = planned === 'settle' ? await early.release(release) : await early.settle(settle);
      const closed = planned === 'settle' ? 'released' : 'settled';
      const charged = planned === 'settle' ? 0n : 75n;
      expect(first).toMatchObject({ closed, charged, contradicts: false });
      paused.release();
      expect(await second).toMatchObject({ closed, charged, replayed: true, contradicts: true });
      expect(lost()).toBe(1);
      expect(await early.balance(account)).toMatchObject({ available: 100n - charged, held: 0n });
      await expect(world.chainFaults(account)).resolves.toEqual([]);
    });
  },
);

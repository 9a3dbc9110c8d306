import { expect, it } from 'vitest';
import { pauseFirstAt } from '../support/race.ts';
import { useLedgerWorld } from './support.ts';

const world = useLedgerWorld('mediary_ledger_void');

const hold = { by: { key: 'key_1', model: 'video-1' }, amount: 60n, basis: '{}', overdraftLimit: 0n };

async function accountWith(amount: bigint) {
  const account = world.newAccount();
  const ledger = await world.openLedger();
  await ledger.credit({ account, amount, reference: 'first' });
  return { account, ledger, task: `${account}.a` };
}

it('blocks a hold that comes later, in every process', async () => {
  const { account, ledger, task } = await accountWith(100n);
  expect(await ledger.void({ account, task })).toEqual({ closed: 'voided', charged: 0n });
  expect(await ledger.hold({ account, task, ...hold })).toEqual({ ok: false, refused: 'voided' });
  const other = await world.openLedger();
  expect(await other.hold({ account, task, ...hold })).toEqual({ ok: false, refused: 'voided' });
  expect(await ledger.balance(account)).toMatchObject({ available: 100n, held: 0n, seq: 2n });
  expect(await world.chainFaults(account)).toEqual([]);
});

it('rejects a hold whose write was in flight', async () => {
  const { account, ledger, task } = await accountWith(100n);
  const other = await world.openLedger();
  const paused = pauseFirstAt('ledger.append', account);
  const late = ledger.hold({ account, task, ...hold });
  await paused.reached;
  expect(await other.void({ account, task })).toEqual({ closed: 'voided', charged: 0n });
  paused.release();
  expect(await late).toEqual({ ok: false, refused: 'voided' });
  expect(await ledger.balance(account)).toMatchObject({ available: 100n, held: 0n });
});

it('releases an existing hold once, and a hold that is repeated afterwards is refused', async () => {
  const { account, ledger, task } = await accountWith(100n);
  await ledger.hold({ account, task, ...hold });
  expect(await ledger.void({ account, task })).toEqual({ closed: 'released', charged: 0n });
  expect(await ledger.void({ account, task })).toEqual({ closed: 'released', charged: 0n });
  expect(await ledger.hold({ account, task, ...hold })).toEqual({ ok: false, refused: 'voided' });
  expect(await ledger.balance(account)).toMatchObject({ available: 100n, held: 0n, seq: 3n });
});

it('blockHold keeps an open hold, returns how a hold was closed, and blocks a hold that does not exist', async () => {
  const { account, ledger, task } = await accountWith(100n);
  const block = (of = task) => ledger.blockHold({ account, task: of, note: 'a test' });
  await ledger.hold({ account, task, ...hold });
  expect(await block()).toBe('held');
  expect(await ledger.balance(account)).toMatchObject({ available: 40n, held: 60n, seq: 2n });
  await ledger.settle({ account, task, held: 60n, amount: 10n });
  expect(await block()).toBe('settled');
  const [released, never] = [`${account}.b`, `${account}.c`];
  await ledger.hold({ account, task: released, ...hold });
  await ledger.release({ account, task: released, held: 60n });
  expect(await block(released)).toBe('released');
  expect(await block(never)).toBe('voided');
  expect(await block(never)).toBe('voided');
  expect(await ledger.hold({ account, task: never, ...hold })).toEqual({ ok: false, refused: 'voided' });
  expect(await world.chainFaults(account)).toEqual([]);
});

it('does not change a task that was charged', async () => {
  const { account, ledger, task } = await accountWith(100n);
  await ledger.hold({ account, task, ...hold });
  await ledger.settle({ account, task, held: 60n, amount: 50n });
  expect(await ledger.void({ account, task })).toEqual({ closed: 'settled', charged: 50n });
  expect(await ledger.balance(account)).toMatchObject({ available: 50n, held: 0n });
});

it('cannot be settled or released', async () => {
  const { account, ledger, task } = await accountWith(100n);
  await ledger.void({ account, task });
  expect(await ledger.release({ account, task, held: 60n })).toEqual({ closed: 'no_hold' });
  expect(await ledger.settle({ account, task, held: 60n, amount: 1n })).toEqual({ closed: 'no_hold' });
});

it('many voids and holds of the same tasks at once leave no voided task with a hold', async () => {
  const { account, ledger } = await accountWith(10_000n);
  const other = await world.openLedger();
  const tasks = Array.from({ length: 40 }, (_, n) => `${account}.t${n}`);
  const holds = tasks.map((task) => ledger.hold({ account, task, ...hold }));
  const voids = tasks.map((task) => other.void({ account, task }));
  await Promise.all([...holds, ...voids]);
  expect(await ledger.balance(account)).toMatchObject({ available: 10_000n, held: 0n });
  expect(await world.chainFaults(account)).toEqual([]);
});

import { expect, it } from 'vitest';
import { pauseFirstAt } from '../support/race.ts';
import { useLedgerWorld } from './support.ts';

const world = useLedgerWorld('mediary_ledger_race');

it('a hold that was planned before another process took the balance is refused, not overdrawn', async () => {
  const account = world.newAccount();
  let collisions = 0;
  const meter = { beginAppend: () => () => undefined, countCollision: () => void (collisions += 1) };
  const [one, other] = await Promise.all([world.openLedger({ meter }), world.openLedger()]);
  await one.credit({ account, amount: 100n, reference: 'first' });
  const hold = { account, amount: 100n, basis: '{}', overdraftLimit: 0n };
  const paused = pauseFirstAt('ledger.append', account);
  const late = one.hold({ ...hold, task: 'late' });
  await paused.reached;
  await expect(other.hold({ ...hold, task: 'early' })).resolves.toMatchObject({ ok: true });
  paused.release();
  await expect(late).resolves.toEqual({ ok: false, refused: 'insufficient_balance', available: 0n });
  expect(collisions).toBe(1);
  await expect(world.chainFaults(account)).resolves.toEqual([]);
});

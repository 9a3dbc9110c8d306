import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskInput } from '../../src/domain/task-input.ts';
import { openTaskWorld } from './task-support.ts';
import type { TaskWorld } from './task-support.ts';

let world: TaskWorld;
beforeAll(async () => {
  world = await openTaskWorld();
});
afterAll(() => world.close());

/** One call costs 5.00, and 1.00 is held. */
const basis = {
  price: { unit: 'call', minimum: '0', rules: [{ price: '5' }], reviewAbove: '3' },
  facts: {},
  version: 'v',
} as const;
const outcome = {
  kind: 'succeeded',
  candidate: { channel: 'ark', credential: 'a' },
  model: 'seedance',
  facts: {},
} as const;

let versions = 1;
function finish(input: TaskInput, review?: 'possible') {
  const { task, account, key, basis: frozen, hold: held } = input;
  versions += 1;
  const step = { task, account, key, basis: frozen, held, version: String(versions), outcome };
  return world.run(() => world.tasks().finishTask(review === undefined ? step : { ...step, review }));
}

const kindsOf = async ({ task }: TaskInput) =>
  (await world.ledger.entriesOfTask(task)).map(({ kind }) => kind);

describe('a charge above the multiple of its hold', () => {
  it('is reported and not settled, as often as it is asked for', async () => {
    const input = await world.newTask({ basis });
    await world.tasks().claimTask(input, '1');
    expect(await finish(input, 'possible')).toEqual({ review: '5000000' });
    expect(await finish(input, 'possible')).toEqual({ review: '5000000' });
    expect(await kindsOf(input)).toEqual(['hold']);
    expect((await world.stores.tasks.find(input.task))?.status).toBe('pending');
  });

  it('is settled in full once it was accepted, and is not asked about after a reset', async () => {
    const input = await world.newTask({ basis });
    await world.tasks().claimTask(input, '1');
    await finish(input, 'possible');
    expect(await finish(input)).toEqual({ charge: '5000000' });
    expect(await kindsOf(input)).toEqual(['hold', 'settle', 'charge_extra']);
    expect(await finish(input, 'possible')).toEqual({ charge: '5000000' });
    expect(await kindsOf(input)).toEqual(['hold', 'settle', 'charge_extra']);
  });

  it('keeps the task in its key’s limit until it has ended', async () => {
    const released: string[] = [];
    const keySlots = {
      ...world.stores.keySlots,
      release: async (_key: string, task: string) => void released.push(task),
    };
    const input = await world.newTask({ basis });
    const { task, account, key, hold: held } = input;
    const step = { task, account, key, basis, held, outcome };
    const activities = world.tasks({ keySlots });
    await world.run(() => activities.finishTask({ ...step, version: '8', review: 'possible' }));
    expect(released).toEqual([]);
    await world.run(() => activities.finishTask({ ...step, version: '9' }));
    expect(released).toEqual([task]);
  });

  it('is settled at once where the price names no multiple', async () => {
    const { unit, minimum, rules } = basis.price;
    const input = await world.newTask({ basis: { ...basis, price: { unit, minimum, rules } } });
    await world.tasks().claimTask(input, '1');
    expect(await finish(input, 'possible')).toEqual({ charge: '5000000' });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdoptInput, SubmitInput } from '../../activities/types.ts';
import { attemptId } from '../../src/domain/ids.ts';
import { openActivityWorld } from './support.ts';
import type { ActivityWorld } from './support.ts';

/** What an operator says about a job is checked against the upstream and our own records before it counts. */
describe('a job that an operator names', () => {
  let world: ActivityWorld;
  beforeAll(async () => {
    world = await openActivityWorld();
  });
  afterAll(() => world.close());

  /** A task whose submission the upstream accepted, and whose answer was lost. */
  async function lost(prompt: string): Promise<{ input: SubmitInput; job: string }> {
    const input = await world.newTask(`${prompt} [sim:create:accepted-504]`);
    await world.worker().submit(input);
    const [job = ''] = world.simulator.control.tasks(prompt).map(({ id }) => id);
    return { input, job };
  }

  const adopt = (input: SubmitInput, id: string, dryRun = false) => {
    const named: AdoptInput = { ...input, adopt: id, dryRun };
    return world.worker().adoptJob(named);
  };
  const stateOf = async ({ task, n }: SubmitInput) => (await world.attempts.find(attemptId(task, n)))?.state;

  it('is the task’s, if the upstream has it from this submission', async () => {
    const { input, job } = await lost('ours');
    expect(await adopt(input, job, true)).toMatchObject({ kind: 'adopted' });
    expect(await stateOf(input)).toBe('ambiguous');
    for (const repeated of [1, 2]) {
      expect([repeated, await adopt(input, job)]).toMatchObject([repeated, { kind: 'adopted' }]);
    }
    expect(await stateOf(input)).toBe('accepted');
    expect(await world.tasks.find(input.task)).toMatchObject({ status: 'submitted', upstreamId: job });
  });

  it('is refused if the upstream does not know it', async () => {
    const { input } = await lost('unknown');
    const answer = await adopt(input, 'cgt-20260101000000-none1');
    expect(answer).toMatchObject({ kind: 'refused', message: expect.stringContaining('does not know') });
    expect(await stateOf(input)).toBe('ambiguous');
  });

  it('is refused if another submission made it, or another task has it', async () => {
    const [first, second] = [await lost('first'), await lost('second')];
    expect(await adopt(first.input, second.job)).toMatchObject({
      message: expect.stringContaining('was not made by this task’s submission'),
    });
    await adopt(second.input, second.job);
    expect(await adopt(first.input, second.job)).toMatchObject({
      message: expect.stringContaining(`belongs to ${second.input.task}`),
    });
    expect(await stateOf(first.input)).toBe('ambiguous');
  });

  it('is refused while the upstream cannot be asked', async () => {
    const { input, job } = await lost('away');
    world.simulator.control.addFault({ match: { prompt: 'away' }, fault: 'poll:500' });
    expect(await adopt(input, job)).toMatchObject({
      message: expect.stringContaining('could not be asked'),
    });
    expect(await stateOf(input)).toBe('ambiguous');
  });

  it('can be taken back until it has ended; what it still reports is not the task’s', async () => {
    const { input, job } = await lost('undone');
    await adopt(input, job);
    const undo = { task: input.task, n: 1, upstreamId: job, dryRun: false };
    for (const repeated of [1, 2]) {
      expect([repeated, await world.worker().undoAdoption(undo)]).toEqual([repeated, { kind: 'undone' }]);
    }
    expect(await stateOf(input)).toBe('ambiguous');
    const late = { kind: 'failed', code: 'late', message: 'of a job that was taken back' } as const;
    expect(
      await world.tasks.recordOutcome(input.task, late, { job: { channel: 'ark', upstreamId: job } }),
    ).toBe(false);
    await adopt(input, job);
    expect(
      await world.tasks.recordOutcome(input.task, late, { job: { channel: 'ark', upstreamId: job } }),
    ).toBe(true);
    expect(await world.worker().undoAdoption(undo)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('has ended'),
    });
    expect(await stateOf(input)).toBe('accepted');
  });

  it('an acceptance that the upstream itself reported is never taken back', async () => {
    const input = await world.newTask('reported');
    const submitted = await world.worker().submit(input);
    const job = submitted.kind === 'accepted' ? submitted.operation.id : '';
    await world.attempts.disown(attemptId(input.task, 1), job);
    expect(await stateOf(input)).toBe('accepted');
  });
});

describe('a result that an operator gives', () => {
  let world: ActivityWorld;
  beforeAll(async () => {
    world = await openActivityWorld();
  });
  afterAll(() => world.close());

  it('is recorded once, and loses against the upstream’s own', async () => {
    const input = await world.newTask('by hand');
    const { task, kind, model, candidate } = input;
    const complete = (url: string, duration: number, dryRun = false) =>
      world.worker().completeTask({
        task,
        kind,
        model,
        candidate,
        url,
        dryRun,
        facts: { durationSeconds: duration },
        held: '1000000',
        basis: {
          version: 'v',
          price: { unit: 'second', minimum: '0', rules: [{ price: '0.1' }] },
          facts: {},
        },
      });
    expect(await complete('https://files.example/a.mp4', 5, true)).toEqual({
      kind: 'completed',
      charge: '500000',
    });
    expect((await world.tasks.find(task))?.outcome).toBeUndefined();
    for (const repeated of [1, 2]) {
      const done = await complete('https://files.example/a.mp4', 5);
      expect([repeated, done]).toMatchObject([repeated, { charge: '500000' }]);
    }
    expect(await complete('https://files.example/b.mp4', 7)).toMatchObject({ kind: 'refused' });
    expect((await world.tasks.find(task))?.outcome).toMatchObject({
      items: [{ url: 'https://files.example/a.mp4' }],
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SubmitInput } from '../../activities/types.ts';
import type { Stop } from '../../src/task/state.ts';
import { testYaml } from '../support/test-yaml.ts';
import { openActivityWorld, type ActivityWorld } from './support.ts';

let world: ActivityWorld;
beforeAll(async () => {
  world = await openActivityWorld();
});
afterAll(() => world.close());

let count = 0;
async function unwanted(
  stop: Stop,
  marks = '[sim:queue=600]',
): Promise<{ input: SubmitInput; prompt: string }> {
  const prompt = `stop-${(count += 1)}-end ${marks}`;
  const input = await world.newTask(prompt, stop === 'expire' ? { deadlineAt: Date.now() } : {});
  expect((await world.worker().submit(input)).state.at).toBe('waiting');
  expect((await world.store().step(input.task, { kind: 'wanted', stop })).task?.state).toMatchObject({
    stop,
  });
  return { input, prompt };
}
const phaseOf = (prompt: string) => world.simulator.control.tasks(prompt).map(({ phase }) => phase);
const withoutChannels = { channels: () => undefined };
const codes = { cancel: 'task_cancelled', expire: 'task_expired', fail: 'internal_error' } as const;
const failedWith = (stop: Stop) => ({
  at: 'ending',
  ending: { kind: 'failed', error: { code: codes[stop] } },
});

it.each(['cancel', 'expire', 'fail'] as const)('%s: its upstream is asked to cancel it', async (stop) => {
  const { input, prompt } = await unwanted(stop);
  expect((await world.worker().stopJob(input)).state).toMatchObject(failedWith(stop));
  expect(phaseOf(prompt)).toEqual(['cancelled']);
});

describe('without a channel', () => {
  it.each(['expire', 'fail'] as const)('%s: the task ends, and waits for nobody', async (stop) => {
    const { input, prompt } = await unwanted(stop);
    expect((await world.worker(withoutChannels).stopJob(input)).state).toMatchObject(failedWith(stop));
    expect(phaseOf(prompt)).toEqual(['queued']);
  });

  it('a cancellation lets the task continue, because its job continues', async () => {
    const { input } = await unwanted('cancel');
    expect((await world.worker(withoutChannels).stopJob(input)).state).toEqual({ at: 'waiting', n: 1 });
    expect(await world.record(input)).not.toHaveProperty('wanted');
  });
});

describe('while the upstream fails', () => {
  it('the deadline ends the task all the same', async () => {
    const { input, prompt } = await unwanted('expire');
    world.simulator.control.addFault({ match: { prompt }, fault: 'poll:500' });
    world.simulator.control.addFault({ match: { prompt }, fault: 'delete:500' });
    expect((await world.worker().stopJob(input)).state).toMatchObject(failedWith('expire'));
    world.simulator.control.clearFaults();
  });

  it('a cancellation is never reported as successful', async () => {
    const { input, prompt } = await unwanted('cancel');
    world.simulator.control.addFault({ match: { prompt }, fault: 'delete:500' });
    expect((await world.worker().stopJob(input)).state).toEqual({ at: 'waiting', n: 1 });
    world.simulator.control.clearFaults();
    expect(phaseOf(prompt)).toEqual(['queued']);
  });
});

it.each(['cancel', 'expire', 'fail'] as const)(
  '%s: an adapter that cannot read the status does not prevent a cancellation',
  async (stop) => {
    const { input } = await unwanted(stop);
    let cancels = 0;
    const video = {
      status: () => Promise.reject(new TypeError('x is not a function')),
      cancel: async () => ((cancels += 1), 'cancelled'),
    };
    const { credential } = await world.record(input);
    const config = { timeouts: { poll_ms: 1_000 }, credentials: [{ id: credential }] };
    const channel = { config, provider: { video }, context: () => ({}) };
    const channels = (() => channel) as never;
    expect((await world.worker({ channels }).stopJob(input)).state).toMatchObject(failedWith(stop));
    expect(cancels).toBe(1);
  },
);

it('a result that cannot be copied now is not thrown away', async () => {
  const { input, prompt } = await unwanted('expire', '');
  await expect.poll(() => phaseOf(prompt)).toEqual(['succeeded']);
  const deliver = () => Promise.reject(new Error('a bug of ours'));
  await expect(world.worker({ deliver }).stopJob(input)).rejects.toThrow('a bug of ours');
  expect(await world.record(input)).toMatchObject({ state: { at: 'stopping', stop: 'expire' } });
});

it('an existing result at the deadline counts', async () => {
  const { input, prompt } = await unwanted('expire', '');
  await expect.poll(() => phaseOf(prompt)).toEqual(['succeeded']);
  expect((await world.worker().stopJob(input)).state).toEqual({
    at: 'ending',
    ending: { kind: 'succeeded' },
  });
  expect(await world.record(input)).toMatchObject({ outcome: { kind: 'succeeded' } });
});

it('a job that is still wanted, or has ended, is left alone', async () => {
  const prompt = `stop-${(count += 1)}-end [sim:queue=600]`;
  const input = await world.newTask(prompt);
  await world.worker().submit(input);
  expect((await world.worker().stopJob(input)).state).toEqual({ at: 'waiting', n: 1 });
  expect(phaseOf(prompt)).toEqual(['queued']);
});

describe('a job that an earlier run cancelled before it died', () => {
  let strict: ActivityWorld;
  beforeAll(async () => {
    const wan = testYaml
      .replace('provider: ark', 'provider: dashscope')
      .replace('/ark/api/v3', '/dashscope/api/v1');
    strict = await openActivityWorld(wan.replace('dreamina-seedance-2-0-260128', 'wan2.6-t2v'));
  });
  afterAll(() => strict.close());

  it('is cancelled for its caller, too', async () => {
    const input = await strict.newTask('twice [sim:queue=600]');
    expect((await strict.worker().submit(input)).state.at).toBe('waiting');
    await strict.store().step(input.task, { kind: 'wanted', stop: 'cancel' });
    const tasks = strict.store();
    const dies = { ...tasks, step: () => Promise.reject(new Error('the process dies')) };
    await expect(strict.worker({ tasks: dies }).stopJob(input)).rejects.toThrow('the process dies');
    // The upstream must have cancelled the job without the record showing it. Otherwise, this test proves nothing.
    expect(strict.simulator.control.tasks('twice').map(({ phase }) => phase)).toEqual(['cancelled']);
    expect(await strict.record(input)).toMatchObject({ state: { at: 'stopping', stop: 'cancel' } });
    expect((await strict.worker().stopJob(input)).state).toMatchObject(failedWith('cancel'));
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChannelActivityDeps } from '../../activities/deps.ts';
import type { PollInput, SubmitInput } from '../../activities/types.ts';
import type { Fallback } from '../../src/task/rescue.ts';
import type { OperationStatus } from '../../src/providers/provider.ts';
import { pauseFirstAt } from '../support/race.ts';
import { testYaml } from '../support/test-yaml.ts';
import { createStayPlaces } from '../../src/capacity/stay-places.ts';
import { openActivityWorld, openGate, type ActivityWorld, type NewTask } from './support.ts';

const second = `
  - id: second
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    credentials: [{ id: b, api_key: simulated }]
    models: { seedance: { upstream: dreamina-seedance-2-0-fast-260128 } }
models:`;
const yaml = testYaml.replace('\nmodels:', second);
const elsewhere = { channel: 'second', credential: 'b' };
const fallback: Fallback = { candidates: [elsewhere], on: ['internal'], neededSeconds: 1 };

const failed = {
  state: 'failed',
  code: 'InternalServiceError',
  message: 'It broke.',
  failure: { class: 'internal' },
  unbilled: true,
} as const satisfies OperationStatus;
const succeeded = (url: string): OperationStatus => ({
  state: 'succeeded',
  items: [{ url }],
  facts: { usage: { completionTokens: 1 } },
});

describe('a poll that sees a failed job', () => {
  let world: ActivityWorld;
  let count = 0;
  beforeAll(async () => {
    world = await openActivityWorld(yaml);
  });
  afterAll(() => world.close());

  const label = (): string => `rescue-${(count += 1)}-end`;
  const roomy = () => ({ stays: createStayPlaces({ placesMax: () => 10, monotonic: Date.now }) });
  const reporting = (status: OperationStatus, change: Partial<ChannelActivityDeps> = {}) =>
    world.worker({
      ...roomy(),
      ...change,
      poller: () => ({ lists: () => false, callsBack: () => false, status: () => Promise.resolve(status) }),
    });
  const attemptOf = async (input: PollInput, n: number) =>
    (await world.record(input)).attempts.find((one) => one.n === n);
  const elsewhereNow = { state: { at: 'queued', left: [elsewhere], replaces: true } };

  interface Watched extends SubmitInput {
    readonly prompt: string;
  }

  async function watched(change: NewTask = {}): Promise<Watched> {
    const prompt = label();
    const input = await world.newTask(prompt, { fallback, ...change });
    expect((await world.worker().submit(input)).state).toEqual({ at: 'waiting', n: 1 });
    return { ...input, prompt };
  }

  const replace = (task: Watched) => world.worker().submit({ ...task, candidate: elsewhere });

  const again = { attempt: 2 };

  it('closes the job, continues with the next channel, and shows no outcome', async () => {
    const task = await watched();
    expect(await reporting(failed).poll(task, again)).toMatchObject(elsewhereNow);
    expect(await attemptOf(task, 1)).toMatchObject({
      state: 'failed',
      code: failed.code,
      failure: failed.failure,
      message: expect.stringContaining(failed.message),
    });
    expect(await world.record(task)).not.toHaveProperty('outcome');
  });

  interface Seen {
    readonly status?: OperationStatus;
    readonly change?: NewTask;
  }
  const { unbilled: _unbilled, ...mayBeBilled } = failed;

  it.each<[string, Seen]>([
    ['that may be billed', { status: mayBeBilled }],
    ['without time for another one', { change: { fallback: { ...fallback, neededSeconds: 7_200 } } }],
    ['for which there is no other channel', { change: { fallback: { ...fallback, candidates: [] } } }],
    ['of a class that nobody replaces', { change: { fallback: { ...fallback, on: ['capacity'] } } }],
  ])('%s records it as the task’s end', async (_, { status = failed, change }) => {
    const task = await watched(change);
    expect((await reporting(status).poll(task, again)).state).toEqual({
      at: 'ending',
      ending: { kind: 'failed' },
    });
    expect((await attemptOf(task, 1))?.state).toBe('accepted');
    expect((await world.record(task)).outcome).toMatchObject({ kind: 'failed' });
  });

  it('is recorded although the request cannot be read; everyone but the caller sees only its code', async () => {
    const task = await watched();
    const requests = {
      find: () => Promise.reject(new Error('sealed with a key that is gone')),
      isForgotten: () => false,
    } as never;
    expect((await reporting(mayBeBilled, { requests }).poll(task, again)).state).toEqual({
      at: 'ending',
      ending: { kind: 'failed' },
    });
    const { outcome } = await world.record(task);
    expect(outcome).toMatchObject({
      kind: 'failed',
      code: failed.code,
      message: expect.not.stringContaining(failed.message),
      messageToCaller: `${failed.code}: ${failed.message}`,
    });
  });

  it('that is no longer wanted ends the task', async () => {
    const task = await watched();
    await world.store().step(task.task, { kind: 'wanted', stop: 'cancel' });
    expect((await reporting(failed).poll(task, again)).state).toEqual({
      at: 'ending',
      ending: { kind: 'failed' },
    });
  });

  it('of a dead worker leaves the decision to the next worker, whatever the upstream reports by then', async () => {
    const task = await watched();
    const paused = pauseFirstAt('poll.closed', `${task.task}:1`);
    const dead = reporting(failed).poll(task, again);
    await paused.reached;
    const left: unknown[] = [];
    const gate = { ...openGate, leave: async (...from: unknown[]) => void left.push(from) };
    const late = reporting(succeeded('https://cdn.example/late.mp4'), { gate });
    expect(await late.poll(task, again)).toMatchObject(elsewhereNow);
    expect(left).toEqual([[task.task, expect.objectContaining({ channel: 'ark', credential: 'a' })]]);
    expect(await world.record(task)).not.toHaveProperty('outcome');
    paused.release();
    expect(await dead).toMatchObject(elsewhereNow);
  });

  it('decides once, even if two runs see it, so that there is one closed job and one other job', async () => {
    const task = await watched();
    const paused = pauseFirstAt('poll.failed', `${task.task}:1`);
    const slow = reporting(failed).poll(task, again);
    await paused.reached;
    expect(await reporting(failed).poll(task, again)).toMatchObject(elsewhereNow);
    const other = await replace(task);
    paused.release();
    expect(await slow).toEqual(other);
    expect((await attemptOf(task, 2))?.state).toBe('accepted');
    expect(world.simulator.control.submissions(task.prompt)).toEqual({ submits: 2, creates: 2 });
    expect(await world.record(task)).toMatchObject({ channel: 'second', upstreamId: other.upstreamId });
  });

  it('is not contradicted by a paused run that still has a success', async () => {
    const task = await watched();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const stale = world.worker({
      ...roomy(),
      poller: () => ({
        lists: () => false,
        callsBack: () => false,
        status: () => Promise.resolve(succeeded('https://cdn.example/stale.mp4')),
      }),
      deliver: async (_task, items) => {
        await held;
        return { items };
      },
    });
    const late = stale.poll(task, again);
    await reporting(failed).poll(task, again);
    await replace(task);
    release();
    await late;
    expect(await world.record(task)).not.toHaveProperty('outcome');
    await reporting(succeeded('https://cdn.example/other.mp4')).poll(task, again);
    expect((await world.record(task)).outcome).toMatchObject({
      items: [{ url: 'https://cdn.example/other.mp4' }],
    });
  });

  it('that is resubmitted stays one job, because another run of the submission finds it closed', async () => {
    const task = await watched();
    await reporting(failed).poll(task, again);
    expect(await world.worker().submit(task, again)).toMatchObject(elsewhereNow);
    await replace(task);
    await replace(task);
    expect(world.simulator.control.submissions(task.prompt)).toEqual({ submits: 2, creates: 2 });
  });
});

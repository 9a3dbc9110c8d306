import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PollInput, SubmitInput, SubmitResult } from '../../activities/types.ts';
import type { Fallback } from '../../src/domain/rescue.ts';
import type { OperationStatus } from '../../src/providers/provider.ts';
import { pauseFirstAt } from '../support/race.ts';
import { testYaml } from '../support/test-yaml.ts';
import { openActivityWorld } from './support.ts';
import type { ActivityWorld } from './support.ts';

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
  const reporting = (status: OperationStatus) =>
    world.worker({ poller: () => ({ lists: () => false, status: () => Promise.resolve(status) }) });
  const recordOf = async (id: string) => (await world.attempts.find(id))?.state;

  interface Watched {
    readonly prompt: string;
    readonly submit: SubmitInput;
    readonly poll: PollInput;
  }

  function pollOf(submit: SubmitInput, accepted: SubmitResult): PollInput {
    if (accepted.kind !== 'accepted') throw new Error(`it is ${accepted.kind}`);
    const { task, kind, model, candidate, deadlineAt, version } = submit;
    const { operation } = accepted;
    const facts = { task, kind, model, candidate, operation, deadlineAt, version, fallback };
    return { ...facts, acceptedAt: Date.now(), expectedSeconds: 1, output: '', last: false };
  }

  async function watched(): Promise<Watched> {
    const prompt = label();
    const submit = { ...(await world.newTask(prompt)), fallback };
    return { prompt, submit, poll: pollOf(submit, await world.worker().submit(submit)) };
  }

  /** The next attempt, as the workflow makes it. */
  async function replace({ submit }: Watched): Promise<PollInput> {
    const next = {
      ...submit,
      n: 2,
      candidate: elsewhere,
      candidates: [elsewhere],
      version: String(BigInt(submit.version) + 1n),
      replaces: true as const,
    };
    return pollOf(next, await world.worker().submit(next));
  }

  // A retry asks at once.
  const again = { attempt: 2 };

  it('closes it and says where the task continues; no outcome is shown', async () => {
    const task = await watched();
    expect(await reporting(failed).poll(task.poll, again)).toEqual({ kind: 'failed', next: [elsewhere] });
    const found = await world.attempts.find(`${task.submit.task}:1`);
    expect(found).toMatchObject({
      state: 'failed',
      code: failed.code,
      message: failed.message,
      failure: failed.failure,
    });
    expect(await world.tasks.find(task.submit.task)).not.toHaveProperty('outcome');
  });

  interface Seen {
    readonly status?: OperationStatus;
    readonly input?: Partial<PollInput>;
  }
  const { unbilled: _unbilled, ...mayBeBilled } = failed;

  it.each<[string, Seen]>([
    ['that may be billed', { status: mayBeBilled }],
    ['without time for another one', { input: { deadlineAt: 0 } }],
    ['for which there is no other channel', { input: { fallback: { ...fallback, candidates: [] } } }],
  ])('%s records it as the task’s end', async (_, { status = failed, input }) => {
    const task = await watched();
    expect(await reporting(status).poll({ ...task.poll, ...input }, again)).toEqual({ kind: 'failed' });
    expect(await recordOf(`${task.submit.task}:1`)).toBe('accepted');
    expect((await world.tasks.find(task.submit.task))?.outcome).toMatchObject({ kind: 'failed' });
  });

  it('of a dead worker leaves the decision to the next one, whatever the upstream says by then', async () => {
    const task = await watched();
    const paused = pauseFirstAt('poll.closed', `${task.submit.task}:1`);
    const dead = reporting(failed).poll(task.poll, again);
    await paused.reached;
    const late = reporting(succeeded('https://cdn.example/late.mp4'));
    expect(await late.poll(task.poll, again)).toEqual({ kind: 'failed', next: [elsewhere] });
    expect(await world.tasks.find(task.submit.task)).not.toHaveProperty('outcome');
    paused.release();
    expect(await dead).toEqual({ kind: 'failed', next: [elsewhere] });
  });

  it('decides once with another that does: two runs, one closed job, one other job', async () => {
    const task = await watched();
    const paused = pauseFirstAt('poll.failed', `${task.submit.task}:1`);
    const slow = reporting(failed).poll(task.poll, again);
    await paused.reached;
    expect(await reporting(failed).poll(task.poll, again)).toEqual({ kind: 'failed', next: [elsewhere] });
    const other = await replace(task);
    paused.release();
    expect(await slow).toEqual({ kind: 'failed', next: [elsewhere] });
    expect(await recordOf(`${task.submit.task}:2`)).toBe('accepted');
    expect(world.simulator.control.submissions(task.prompt)).toEqual({ submits: 2, creates: 2 });
    expect(await world.tasks.find(task.submit.task)).toMatchObject({
      channel: 'second',
      upstreamId: other.operation.id,
    });
  });

  it('is not contradicted by a run that stood still with a success in its hands', async () => {
    const task = await watched();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const stale = world.worker({
      poller: () => ({
        lists: () => false,
        status: () => Promise.resolve(succeeded('https://cdn.example/stale.mp4')),
      }),
      copyResults: async (_task, items) => {
        await held;
        return items;
      },
    });
    const late = stale.poll(task.poll, again);
    await reporting(failed).poll(task.poll, again);
    const other = await replace(task);
    release();
    await late;
    expect(await world.tasks.find(task.submit.task)).not.toHaveProperty('outcome');
    await reporting(succeeded('https://cdn.example/other.mp4')).poll(other, again);
    expect((await world.tasks.find(task.submit.task))?.outcome).toMatchObject({
      items: [{ url: 'https://cdn.example/other.mp4' }],
    });
  });

  it('that is submitted once more stays one job: a run of its submission finds it closed', async () => {
    const task = await watched();
    await reporting(failed).poll(task.poll, again);
    const repeated = await world.worker().submit(task.submit, again);
    expect(repeated).toMatchObject({ kind: 'accepted', operation: task.poll.operation });
    await replace(task);
    await replace(task);
    expect(world.simulator.control.submissions(task.prompt)).toEqual({ submits: 2, creates: 2 });
  });
});

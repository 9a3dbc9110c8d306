import { ApplicationFailure } from '@temporalio/activity';
import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChannelActivityDeps } from '../../activities/deps.ts';
import type { SubmitInput, TaskView } from '../../activities/types.ts';
import type { GatewayConfig } from '../../src/config/gateway-file.ts';
import { defined } from '../../src/base/defined.ts';
import { signOf } from '../../src/health/circuit-rules.ts';
import { NoRoomError, StorageAwayError, type NotStoredError } from '../../src/errors/not-stored.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import type { TaskEvent } from '../../src/task/state.ts';
import { createRequestStore } from '../../src/store/requests.ts';
import { testSealing } from '../support/sealing.ts';
import { staleReads } from '../support/stale-reads.ts';
import { gate as latch, pauseFirstAt } from '../support/race.ts';
import { testYaml } from '../support/test-yaml.ts';
import { again, gateOf, openActivityWorld, openGate, type ActivityWorld, type NewTask } from './support.ts';

const second = `
  - id: second
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    credentials: [{ id: b, api_key: simulated }]
    models: { seedance: { upstream: dreamina-seedance-2-0-fast-260128 } }
  - id: keyed
    provider: openrouter
    base_url: \${SIMULATOR_URL}/openrouter/api/v1
    credentials: [{ id: k, api_key: simulated }]
    models: { seedance: { upstream: bytedance/seedance-2.0 } }
models:`;
const [here, there] = [
  { channel: 'ark', credential: 'a' },
  { channel: 'second', credential: 'b' },
];
interface Steps {
  readonly slot: Parameters<typeof gateOf>[0];
  readonly files: () => Promise<never>;
  readonly token: () => Promise<{ readonly ms: number; readonly ahead: number }>;
}

const two: NewTask = { candidates: [here, there] };

describe('submit', () => {
  let world: ActivityWorld;
  let count = 0;
  beforeAll(async () => {
    world = await openActivityWorld(testYaml.replace('\nmodels:', second));
  });
  afterAll(() => world.close());

  const label = (): string => `submit-${(count += 1)}-end`;
  const posts = (prompt: string): number => world.simulator.control.submissions(prompt).submits;
  const attemptOf = async (input: SubmitInput, n = 1) => {
    const found = (await world.record(input)).attempts.find((attempt) => attempt.n === n);
    if (found === undefined) throw new Error('no attempt');
    return found;
  };
  const waiting = { state: { at: 'waiting', n: 1 } };
  const lostHere = { state: { at: 'searching', n: 1, code: 'submission_lost' } };

  it('sends once; a repeat finds the job in the record', async () => {
    const prompt = label();
    const input = await world.newTask(prompt);
    const first = await world.worker().submit(input);
    expect(first).toMatchObject(waiting);
    expect(await world.worker().submit(input, again)).toEqual(first);
    expect(posts(prompt)).toBe(1);
    expect(await world.record(input)).toMatchObject({ status: 'submitted', channel: 'ark' });
  });

  it('finds an accepted job before it waits for a slot or for the rate limit', async () => {
    const input = await world.newTask(label());
    const first = await world.worker().submit(input);
    const never = () => Promise.reject(new Error('it waited'));
    const deps = {
      gate: gateOf(never),
      submitLimiter: () => ({ enter: never, giveBack: () => undefined }),
    };
    expect(await world.worker(deps).submit(input, again)).toEqual(first);
  });

  describe('measures input videos once and before it takes anything that others need, even if it has to return', () => {
    const full = { kind: 'full', ms: 1_000, ahead: 1 } as const;
    const open = { kind: 'circuit_open', retryAfterMs: 1_000, detail: 'failure: x' } as const;
    const unavailable = new UpstreamError('unavailable', 'It is away.', { code: 'away' });

    it.each([
      ['a slot', 'AtConcurrencyLimit', { slot: async () => full }],
      ['an open circuit', 'NotAccepted', { slot: async () => open }],
      ['its files', 'NotAccepted', { files: () => Promise.reject(unavailable) }],
      ['a token', 'WaitsForItsTurn', { token: async () => ({ ms: 5_000, ahead: 1 }) }],
    ])('for %s', async (_, type, refusals: Partial<Steps>) => {
      const input = await world.newTask(label(), { inputSeconds: 'unmeasured' });
      const order: string[] = [];
      const worker = ({ slot, files, token }: Partial<Steps>) =>
        world.worker({
          measureVideos: async () => {
            order.push('measured');
            return [7];
          },
          gate: gateOf(async (wanted) => {
            order.push('slot');
            return slot?.(wanted);
          }),
          registerFiles: async (request) => (files === undefined ? request : files()),
          submitLimiter: () => ({ enter: async () => token?.(), giveBack: () => undefined }),
        });
      await expect(worker(refusals).submit(input)).rejects.toMatchObject({ type });
      const heartbeatDetails = world.heartbeats.at(-1);
      expect(await worker({}).submit(input, { ...again, heartbeatDetails })).toMatchObject(waiting);
      expect(order).toEqual(['measured', 'slot', 'slot']);
      expect(await world.record(input)).toMatchObject({ inputSeconds: 7 });
    });

    it('and remembers the length during long uploads', async () => {
      const input = await world.newTask(label(), { inputSeconds: 'unmeasured' });
      const before = world.heartbeats.length;
      const worker = world.worker({
        measureVideos: async () => [7],
        registerFiles: async () => {
          await expect.poll(() => world.heartbeats.length - before).toBeGreaterThan(2);
          throw unavailable;
        },
      });
      const submitted = worker.submit(input, { heartbeatTimeoutMs: 200 });
      await expect(submitted).rejects.toMatchObject({ type: 'NotAccepted' });
      expect(world.heartbeats.at(-1)).toEqual({ inputSeconds: 7 });
    });

    it('does not take a slot for a task that has ended in the meantime', async () => {
      const prompt = label();
      const input = await world.newTask(prompt, { inputSeconds: 'unmeasured' });
      const worker = world.worker({
        measureVideos: async () => {
          await world.tasks.step(input.task, { kind: 'wanted', stop: 'cancel' });
          return [7];
        },
        gate: gateOf(() => Promise.reject(new Error('it took one'))),
      });
      expect(await worker.submit(input)).toMatchObject({ state: { at: 'ending' } });
      expect(posts(prompt)).toBe(0);
    });

    it('takes neither a slot nor a probe for a video that cannot be read', async () => {
      const input = await world.newTask(label(), { inputSeconds: 'unmeasured', inputNeededBy: ['ark'] });
      const enter = () => Promise.reject(new Error('it took one'));
      const worker = world.worker({ measureVideos: async () => [undefined], gate: gateOf(enter) });
      await expect(worker.submit(input)).rejects.toMatchObject({ type: 'NotAccepted' });
    });
  });

  describe('to a channel that gets input videos only with their length', () => {
    const unmeasured = { inputSeconds: 'unmeasured', inputNeededBy: ['ark'] } as const;
    const code = 'input_unreadable';

    it('waits while a video cannot be read, possibly through our fault, and is submitted once it can', async () => {
      const prompt = label();
      const input = await world.newTask(prompt, unmeasured);
      const away = world.worker({ measureVideos: async () => [undefined] });
      await expect(away.submit(input)).rejects.toMatchObject({ type: 'NotAccepted' });
      expect(await world.record(input)).toMatchObject({ attempts: [], wait: { cause: 'files', code } });
      expect(posts(prompt)).toBe(0);
      const back = world.worker({ measureVideos: async () => [7] });
      expect(await back.submit(input, again)).toMatchObject(waiting);
      expect(await world.record(input)).toMatchObject({ inputSeconds: 7 });
    });

    it.each([[undefined], ['unreadable' as const]])(
      'moves to a channel that does not need the length, whichever is first (%s)',
      async (length) => {
        const prompt = label();
        const worker = world.worker({ measureVideos: async () => [length] });
        const first = await world.newTask(prompt, { ...unmeasured, candidates: [here, there] });
        expect(await worker.submit(first)).toMatchObject({ state: { at: 'queued', left: [there] } });
        const last = await world.newTask(prompt, { ...unmeasured, candidates: [there, here] });
        await world.tasks.step(last.task, { kind: 'skipped', channels: ['second'] });
        const submitted = worker.submit({ ...last, candidate: here });
        await expect(submitted).rejects.toMatchObject({ type: 'NotAccepted' });
        expect(posts(prompt)).toBe(0);
      },
    );

    it('fails if every channel needs the length and the video is at fault', async () => {
      const prompt = label();
      let looks = 0;
      const measureVideos = async () => [(looks += 1) > 0 ? ('unreadable' as const) : 7];
      const input = await world.newTask(prompt, unmeasured);
      expect(await world.worker({ measureVideos }).submit(input)).toMatchObject({ state: { at: 'ending' } });
      expect(await world.record(input)).toMatchObject({
        outcome: { kind: 'failed', code, failure: { class: 'invalid_input', field: 'videos' } },
      });
      expect([looks, posts(prompt)]).toEqual([3, 0]);
    });

    it('explains why it did not finish if its deadline passes', async () => {
      const input = await world.newTask(label(), unmeasured);
      const away = world.worker({ measureVideos: async () => [undefined] });
      await expect(away.submit(input)).rejects.toMatchObject({ type: 'NotAccepted' });
      await world.tasks.step(input.task, { kind: 'extended', seconds: -7_200 });
      const { task } = await world.tasks.step(input.task, { kind: 'wanted', stop: 'expire' });
      const error = { code: 'task_expired', message: expect.stringContaining('length of an input video') };
      expect(task?.state).toMatchObject({ ending: { kind: 'failed', error } });
    });
  });

  it.each([
    ['is full', new NoRoomError('full')],
    ['is away', new StorageAwayError(new Error('no answer'))],
  ])(
    'while the storage %s, is not sent to a channel whose result would have to be stored',
    async (_, why) => {
      const prompt = label();
      const keyed = { channel: 'keyed', credential: 'k' };
      let refusal: NotStoredError | undefined = why;
      const worker = world.worker({ storageRefusal: async () => refusal });
      const alone = await world.newTask(prompt, { candidates: [keyed] });
      await expect(worker.submit(alone)).rejects.toMatchObject({ type: 'NotAccepted' });
      expect(await world.record(alone)).toMatchObject({ wait: { cause: 'storage', ...keyed }, attempts: [] });
      const turning = await world.newTask(prompt, { candidates: [keyed, here] });
      expect(await worker.submit(turning)).toMatchObject({ state: { at: 'queued', left: [here] } });
      const other = await world.newTask(prompt);
      expect(await worker.submit(other)).toMatchObject(waiting);
      expect(posts(prompt)).toBe(1);
      refusal = undefined;
      expect(await worker.submit(alone, again)).toMatchObject(waiting);
    },
  );

  it('gives its slot to another task while its files cannot be uploaded', async () => {
    const input = await world.newTask(label());
    const left: unknown[] = [];
    const worker = world.worker({
      gate: { ...openGate, leave: async (...from: unknown[]) => void left.push(from) },
      registerFiles: () => Promise.reject(new UpstreamError('unavailable', 'It is away.', { code: 'away' })),
    });
    await expect(worker.submit(input)).rejects.toMatchObject({ type: 'NotAccepted' });
    expect(left).toEqual([[input.task, here]]);
  });

  const uploads: readonly [string, Partial<UpstreamError>, readonly unknown[]][] = [
    ['that the upstream fails', { outcome: 'unavailable', status: 500 }, []],
    ['that the upstream does not serve', { outcome: 'unavailable', status: 404 }, []],
    ['for which its key is refused', { outcome: 'unavailable', status: 401 }, ['account']],
    ['for which it has no time', { outcome: 'throttled', status: 429 }, []],
    ['that never reaches it', { outcome: 'not_sent', code: 'connect_failed' }, ['unreachable']],
    ['of a file that it refuses', { outcome: 'rejected', status: 415 }, [undefined]],
    ['of a file that is gone', { outcome: 'unavailable', code: 'file_gone' }, []],
    ['of a file that our storage does not give', { outcome: 'not_sent', code: 'storage_away' }, []],
  ];

  it.each(uploads)('an upload %s affects the right circuit', async (_, said, expected) => {
    const { outcome = 'unavailable', code = 'said', status } = said;
    const signs: unknown[] = [];
    const worker = world.worker({
      gate: {
        ...openGate,
        pass: async (_asked, send) => ({
          sent: await send((failure) => {
            const sign = failure && signOf(failure);
            if (failure === undefined || sign !== undefined) signs.push(sign);
          }),
        }),
      },
      registerFiles: () =>
        Promise.reject(new UpstreamError(outcome, 'It failed.', { code, ...defined({ status }) })),
    });
    await worker.submit(await world.newTask(label())).catch(() => undefined);
    expect(signs).toEqual(expected);
  });

  describe('returns a token that was not used for a request', () => {
    async function tokensOf(input: SubmitInput, deps: Parameters<ActivityWorld['worker']>[0]) {
      const back: string[] = [];
      const submitLimiter = () => ({
        enter: async () => undefined,
        giveBack: () => void back.push('back'),
      });
      await world
        .worker({ submitLimiter, ...deps })
        .submit(input)
        .catch(() => undefined);
      return back;
    }

    it('because the record could not be written', async () => {
      const input = await world.newTask(label());
      const tasks = {
        ...world.store(),
        step: () => Promise.reject(new Error('a write that no retry helps')),
      };
      expect(await tokensOf(input, { tasks })).toEqual(['back']);
    });

    it('because its worker was paused before the request', async () => {
      const input = await world.newTask(label());
      let reads = 0;
      const now = () => Date.now() + (reads += 1) * 10_000;
      expect(await tokensOf(input, { now })).toEqual(['back']);
    });

    it('but not one that was used for a request', async () => {
      expect(await tokensOf(await world.newTask(label()), {})).toEqual([]);
    });
  });

  describe('of a worker that is stopped', () => {
    it('between its claim and its request while the next one retries: the submission is lost there, and sent once', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      const paused = pauseFirstAt('submit.begun', `${input.task}:1`);
      const stopped = world.worker().submit(input);
      await paused.reached;
      expect((await attemptOf(input)).state).toBe('sending');
      expect(await world.worker().submit(input, again)).toMatchObject(lostHere);
      expect(posts(prompt)).toBe(0);
      paused.release();
      expect(await stopped).toMatchObject(waiting);
      expect(posts(prompt)).toBe(1);
      expect(await world.worker().findLostJob(input)).toMatchObject(waiting);
    });

    it('before its claim is confirmed, for so long that others decide, does not send', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      let clock = Date.now();
      const tasks = world.store();
      const step: typeof tasks.step = async (id, event) => {
        const stepped = await tasks.step(id, event);
        if (event.kind !== 'sending') return stepped;
        clock += 70_000;
        expect(await world.worker().submit(input, again)).toMatchObject(lostHere);
        return stepped;
      };
      const view = await world.worker({ tasks: { ...tasks, step }, now: () => clock }).submit(input);
      expect(posts(prompt)).toBe(0);
      expect(view.state).toMatchObject({ at: 'pausing', ms: 5_000 });
      await world.store().step(input.task, { kind: 'resumed', elapsedMs: 5_000 });
      expect(await world.worker().submit(input, again)).toMatchObject(waiting);
      expect(posts(prompt)).toBe(1);
    });

    it('for so long that others decide, does not send at all', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      let clock = Date.now();
      const paused = pauseFirstAt('submit.begun', `${input.task}:1`);
      const stopped = world.worker({ now: () => clock }).submit(input);
      await paused.reached;
      clock += 20_000;
      paused.release();
      await expect(stopped).rejects.toMatchObject({ type: 'WorkerStalled' });
      expect(posts(prompt)).toBe(0);
      expect(await world.worker().submit(input, again)).toMatchObject(waiting);
      expect(posts(prompt)).toBe(1);
    });

    it('after the response arrived: the job is found by its marker, and the late write changes nothing', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      const paused = pauseFirstAt('submit.answered', `${input.task}:1`);
      const stopped = world.worker().submit(input);
      await paused.reached;
      expect(await world.worker().submit(input, again)).toMatchObject(lostHere);
      const found = await world.worker().findLostJob(input);
      expect(found).toMatchObject(waiting);
      paused.release();
      expect(await stopped).toEqual(found);
      expect(posts(prompt)).toBe(1);
    });

    it('after it lost the response, when another run has found the job: the job stays accepted', async () => {
      const prompt = `${label()} [sim:accepted-then-silent]`;
      const input = await world.newTask(prompt);
      const paused = pauseFirstAt('submit.answered', `${input.task}:1`);
      const stopped = world.worker().submit(input);
      await paused.reached;
      await world.worker().submit(input, again);
      const found = await world.worker().findLostJob(input);
      expect(found).toMatchObject(waiting);
      paused.release();
      expect(await stopped).toEqual(found);
      expect((await attemptOf(input)).state).toBe('accepted');
    });
  });

  describe('of a worker that died in flight', () => {
    /** The worker dies after it has sent its request. Its later writes never arrive, so the record stays `sending`. */
    async function dieAfter(prompt: string): Promise<{ input: SubmitInput; remembered: unknown }> {
      const input = await world.newTask(prompt);
      const tasks = world.store();
      const away = (id: string, event: TaskEvent) =>
        event.kind === 'accepted' ? Promise.reject(new MongoNetworkError('away')) : tasks.step(id, event);
      let clock = Date.now();
      const before = world.heartbeats.length;
      const left = () =>
        world.heartbeats.slice(before).findLast((details) => details !== undefined && details !== null);
      const dead = world.worker({ tasks: { ...tasks, step: away }, now: () => clock }).submit(input);
      await expect.poll(left).toMatchObject({ n: 1, operation: { id: expect.any(String) } });
      clock += 3_600_000;
      await expect(dead).rejects.toThrow('away');
      expect((await attemptOf(input)).state).toBe('sending');
      return { input, remembered: left() };
    }

    it('its submission is lost, searched for, and never repeated', async () => {
      const prompt = label();
      const { input } = await dieAfter(prompt);
      expect(await world.worker().submit(input, again)).toMatchObject(lostHere);
      expect(await world.worker().submit(input, again)).toMatchObject(lostHere);
      expect(posts(prompt)).toBe(1);
      expect(await world.worker().findLostJob(input)).toMatchObject(waiting);
    });

    it('an accepted job is in the heartbeats, from which the next worker continues', async () => {
      const prompt = label();
      const { input, remembered } = await dieAfter(prompt);
      const next = await world.worker().submit(input, { ...again, heartbeatDetails: remembered });
      expect(next).toMatchObject(waiting);
      expect(await attemptOf(input)).toMatchObject({ state: 'accepted', ...(remembered as object) });
      expect(posts(prompt)).toBe(1);
    });

    it('details of another attempt do not affect this one', async () => {
      const { input } = await dieAfter(label());
      const heartbeatDetails = { n: 2, operation: { id: 'another' } };
      expect(await world.worker().submit(input, { ...again, heartbeatDetails })).toMatchObject(lostHere);
    });
  });

  describe('twice at the same time', () => {
    it.each(['submit.begun', 'submit.answered'] as const)(
      'with one of them at %s: one post, whichever is first',
      async (point) => {
        const prompt = label();
        const input = await world.newTask(prompt);
        const paused = pauseFirstAt(point, `${input.task}:1`);
        const first = world.worker().submit(input);
        await paused.reached;
        const other = await world.worker().submit(input);
        expect(other.state.at).toBe('searching');
        paused.release();
        expect(await first).toMatchObject(waiting);
        expect(posts(prompt)).toBe(1);
        expect((await world.record(input)).attempts).toMatchObject([{ n: 1, state: 'accepted' }]);
      },
    );

    it('with an outdated copy of the record: the second writer does not send', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      const [one, other] = [world.store(), world.store()];
      await Promise.all([one.look(input.task), other.look(input.task)]);
      const given: string[] = [];
      const deps = (tasks: ChannelActivityDeps['tasks'], name: string) => ({
        tasks,
        submitLimiter: () => ({
          enter: async () => undefined,
          giveBack: () => void given.push(name),
        }),
      });
      const paused = pauseFirstAt('submit.begun', `${input.task}:1`);
      const first = world.worker(deps(one, 'one')).submit(input);
      await paused.reached;
      expect((await world.worker(deps(other, 'other')).submit(input)).state.at).toBe('sending');
      paused.release();
      expect(await first).toMatchObject(waiting);
      expect([posts(prompt), given]).toEqual([1, ['other']]);
    });
  });

  describe('of a task that is no longer wanted once it is accepted', () => {
    const wanting = (input: SubmitInput, stop: 'cancel' | 'expire' | 'fail') =>
      world.tasks.step(input.task, { kind: 'wanted', stop });

    async function accepted(prompt: string, stop: 'cancel' | 'expire' | 'fail') {
      const input = await world.newTask(prompt);
      const paused = pauseFirstAt('submit.answered', `${input.task}:1`);
      const running = world.worker().submit(input);
      await paused.reached;
      world.tasks.forget(input.task);
      if (stop === 'expire') await world.tasks.step(input.task, { kind: 'extended', seconds: -3_600 });
      expect((await wanting(input, stop)).task).toMatchObject({ state: { at: 'sending', stop } });
      return { input, running, release: () => paused.release() };
    }
    const phaseOf = (prompt: string) => world.simulator.control.tasks(prompt).map(({ phase }) => phase);

    it.each([
      ['cancel', 'task_cancelled'],
      ['expire', 'task_expired'],
      ['fail', 'internal_error'],
    ] as const)('%s: the run that was accepted cancels at once', async (stop, code) => {
      const prompt = `${label()} [sim:queue=600]`;
      const { input, running, release } = await accepted(prompt, stop);
      release();
      expect(await running).toMatchObject({
        state: { at: 'ending', ending: { kind: 'failed', error: { code } } },
      });
      expect(await world.record(input)).not.toHaveProperty('wanted');
      expect([posts(prompt), phaseOf(prompt)]).toEqual([1, ['cancelled']]);
    });

    it('a cancellation that the upstream refuses is withdrawn, and the task continues', async () => {
      const prompt = `${label()} [sim:queue=0] [sim:render=600]`;
      const { input, running, release } = await accepted(prompt, 'cancel');
      await expect.poll(() => phaseOf(prompt)).toEqual(['running']);
      release();
      expect(await running).toMatchObject(waiting);
      const record = await world.record(input);
      expect(record).not.toHaveProperty('wanted');
      expect([record.status, phaseOf(prompt)]).toEqual(['submitted', ['running']]);
    });

    it.each(['expire', 'fail'] as const)('%s: a job that has ended meanwhile counts', async (stop) => {
      const prompt = label();
      const { input, running, release } = await accepted(prompt, stop);
      await expect.poll(() => phaseOf(prompt)).toEqual(['succeeded']);
      release();
      expect(await running).toMatchObject({ state: { at: 'ending', ending: { kind: 'succeeded' } } });
      expect((await world.record(input)).outcome).toMatchObject({ kind: 'succeeded', items: [{}] });
    });

    it('nothing is sent if it was known before', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      let admit = (): void => undefined;
      let arrived = (): void => undefined;
      const atGate = new Promise<void>((resolve) => (arrived = resolve));
      const enter = () => {
        arrived();
        return new Promise<undefined>((resolve) => (admit = () => resolve(undefined)));
      };
      const late = world.worker({ gate: gateOf(enter) }).submit(input);
      await atGate;
      expect((await wanting(input, 'cancel')).task?.state).toMatchObject({ at: 'ending' });
      admit();
      expect(await late).toMatchObject({
        state: { at: 'ending', ending: { error: { code: 'task_cancelled' } } },
      });
      expect([posts(prompt), (await world.record(input)).attempts]).toEqual([0, []]);
    });
  });

  describe('repeated by an operator', () => {
    const resubmit = (input: SubmitInput, channel?: string) =>
      world.store().step(input.task, { kind: 'resubmitted', ...(channel === undefined ? {} : { channel }) });

    async function lostOf(prompt: string, change?: NewTask) {
      const input = await world.newTask(prompt, change);
      const paused = pauseFirstAt('submit.answered', `${input.task}:1`);
      const stopped = world.worker().submit(input);
      await paused.reached;
      expect(await world.worker().submit(input, again)).toMatchObject(lostHere);
      return { input, stopped, release: () => paused.release() };
    }

    it('is refused if the first submission was accepted meanwhile', async () => {
      const prompt = label();
      const { input, stopped, release } = await lostOf(prompt);
      release();
      expect(await stopped).toMatchObject(waiting);
      expect(await resubmit(input)).toMatchObject({ ok: false, code: 'not_now' });
      expect(await world.worker().submit(input)).toMatchObject(waiting);
      expect([posts(prompt), (await world.record(input)).attempts.length]).toEqual([1, 1]);
    });

    it('closes the first attempt: a late answer is recorded as a stray job', async () => {
      const { input, stopped, release } = await lostOf(label(), two);
      await resubmit(input, 'second');
      const other = await world.worker().submit({ ...input, candidate: there });
      expect(other).toMatchObject({ state: { at: 'waiting', n: 2 } });
      release();
      expect(await stopped).toMatchObject({ state: { at: 'waiting', n: 2 } });
      const [first, taken] = [await attemptOf(input, 1), await attemptOf(input, 2)];
      expect(first).toMatchObject({ state: 'abandoned', stray: { id: expect.any(String) } });
      expect(taken.operation).not.toEqual(first.stray);
      expect(await world.record(input)).toMatchObject({ channel: 'second', upstreamId: taken.operation?.id });
      const said = world.logged.filter(
        (line) => line.includes(input.task) && line.includes(first.stray?.id ?? '-'),
      );
      expect(said.join()).toMatch(/had continued without/);
    });
  });

  const failureOf = (run: Promise<unknown>): Promise<unknown> => run.catch((error: unknown) => error);
  const delayOf = (failure: unknown): number =>
    failure instanceof ApplicationFailure ? Number(failure.nextRetryDelay) : -1;

  describe('that is refused for now', () => {
    it.each(['0', '-5'])('is retried less and less often if retry-after is %s', async (value) => {
      const input = await world.newTask(`${label()} [sim:429=${value}]`);
      const delayAt = async (attempt: number): Promise<number> =>
        delayOf(await failureOf(world.worker().submit(input, { attempt, scheduledTimestampMs: Date.now() })));
      expect(await delayAt(1)).toBeGreaterThanOrEqual(1000);
      expect(await delayAt(6)).toBeGreaterThanOrEqual(0.8 * 60_000);
    });

    it('is resubmitted under the same number, so that waiting does not lengthen the record', async () => {
      const prompt = `${label()} [sim:429*2]`;
      const input = await world.newTask(prompt);
      for (const run of [undefined, again]) {
        expect(await failureOf(world.worker().submit(input, run))).toMatchObject({ type: 'NotAccepted' });
        expect(await attemptOf(input)).toMatchObject({ state: 'not_accepted', code: expect.any(String) });
      }
      expect(await world.worker().submit(input, again)).toMatchObject(waiting);
      expect([posts(prompt), (await world.record(input)).attempts.length]).toEqual([3, 1]);
    });

    it('leaves for the next channel, and a late run on the first one sends nothing', async () => {
      const prompt = `${label()} [sim:429*1]`;
      const input = await world.newTask(prompt, two);
      const moved = await world.worker().submit(input);
      expect(moved.state).toMatchObject({ at: 'queued', left: [there] });
      expect((await attemptOf(input)).state).toBe('not_accepted');
      expect((await world.worker().submit(input, again)).state).toEqual(moved.state);
      expect(posts(prompt)).toBe(1);
      const accepted = await world.worker().submit({ ...input, candidate: there });
      expect(accepted).toMatchObject({ state: { at: 'waiting', n: 2 }, channel: 'second' });
    });

    it('returns what it held at the first channel, from whichever run can', async () => {
      const prompt = `${label()} [sim:429*1]`;
      const input = await world.newTask(prompt, two);
      const left: unknown[] = [];
      const dies = { ...openGate, leave: () => Promise.reject(new Error('no answer')) };
      await expect(world.worker({ gate: dies }).submit(input)).rejects.toThrow('no answer');
      // The task must move to the second channel while it still holds a slot at the first, or else this test proves
      // nothing.
      expect((await world.record(input)).state).toMatchObject({ at: 'queued', left: [there] });
      const gate = { ...openGate, leave: async (...from: unknown[]) => void left.push(from) };
      await world.worker({ gate }).submit(input, again);
      expect(left).toEqual([[input.task, here]]);
      expect(posts(prompt)).toBe(1);
    });

    it('returns nothing of the second channel if it was paused before it returned the first', async () => {
      const prompt = `${label()} [sim:429*1]`;
      const input = await world.newTask(prompt, two);
      const [standing, resumed] = [latch(), latch()];
      const left: unknown[] = [];
      const leave = async (...from: unknown[]) => {
        standing.resolve();
        await resumed.promise;
        left.push(from);
      };
      const stood = world.worker({ gate: { ...openGate, leave } }).submit(input);
      await standing.promise;
      expect(await world.worker().submit({ ...input, candidate: there })).toMatchObject({
        state: { at: 'waiting', n: 2 },
      });
      resumed.resolve();
      await stood;
      expect(left).toEqual([[input.task, here]]);
    });

    it('is retried no earlier than the time that a channel specified, but sooner on the other channel', async () => {
      const prompt = label();
      const input = await world.newTask(prompt, two);
      world.simulator.control.addFault({ match: { prompt }, fault: '429=600', times: 1 });
      expect(await world.worker().submit(input)).toMatchObject({ state: { left: [there] } });
      expect((await world.record(input)).resting).toEqual([{ ...here, ms: 600_000 }]);
      // The second channel does not say when to return, so the task waits there for at most five minutes.
      world.simulator.control.addFault({ match: { prompt }, fault: '503', times: 1 });
      const at = Date.now();
      const times = { scheduledTimestampMs: at - 300_000, currentAttemptScheduledTimestampMs: at };
      await world.worker().submit({ ...input, candidate: there }, { attempt: 9, ...times });
      const { state, resting = [] } = await world.record(input);
      expect(state).toMatchObject({ at: 'pausing', ms: 5_000 });
      expect(resting).toMatchObject([{ ...here, ms: 300_000 }]);
      const resumed: TaskView = await world.worker().submit(input, again);
      expect(resumed.state.at).toBe('pausing');
      const next = await world.store().step(input.task, { kind: 'resumed' });
      expect(next.task?.state).toMatchObject({ at: 'queued', round: 2, left: [there] });
      expect((await world.worker().submit(input, again)).state).toMatchObject({ at: 'queued' });
      expect(posts(prompt)).toBe(2);
    });

    it('does not count on the room of a channel that specified a later time', async () => {
      const prompt = label();
      const input = await world.newTask(prompt, two);
      world.simulator.control.addFault({ match: { prompt }, fault: '429=600', times: 1 });
      expect(await world.worker().submit(input)).toMatchObject({ state: { left: [there] } });
      const asked: unknown[] = [];
      const enter: Parameters<typeof gateOf>[0] = async ({ candidates }) => {
        asked.push(candidates);
        return { kind: 'full', ms: 90_000, ahead: 2 };
      };
      const at = Date.now();
      const full = world.worker({ gate: gateOf(enter) });
      const waitOf = async (beganMs: number) => {
        const times = { scheduledTimestampMs: at - beganMs, currentAttemptScheduledTimestampMs: at };
        return failureOf(full.submit({ ...input, candidate: there }, { attempt: 2, ...times }));
      };
      const waits = (nextRetryDelay: unknown) => ({ type: 'AtConcurrencyLimit', nextRetryDelay });
      expect(await waitOf(0)).toMatchObject(waits(90_000));
      expect(await waitOf(601_000)).toMatchObject(waits(90_000));
      expect(await waitOf(580_000)).toMatchObject(waits(20_000));
      expect(await waitOf(599_000)).toMatchObject(waits(5_000));
      expect(asked).toEqual([[there], [here, there], [there], [there]]);
    });

    it('pauses until the first of two specified times', async () => {
      const prompt = label();
      const input = await world.newTask(prompt, two);
      world.simulator.control.addFault({ match: { prompt }, fault: '429=600', times: 1 });
      await world.worker().submit(input);
      world.simulator.control.addFault({ match: { prompt }, fault: '429=900', times: 1 });
      const paused = await world.worker().submit({ ...input, candidate: there });
      expect(paused.state).toMatchObject({ at: 'pausing', ms: 600_000 });
    });

    it('records no attempt if another channel had room', async () => {
      const prompt = label();
      const input = await world.newTask(prompt, two);
      const gate = gateOf(async () => ({ kind: 'elsewhere' }));
      expect((await world.worker({ gate }).submit(input)).state).toMatchObject({
        left: [there],
        full: [here],
      });
      expect([posts(prompt), (await world.record(input)).attempts]).toEqual([0, []]);
    });

    it('keeps the job when another run was accepted while this one moved elsewhere', async () => {
      const prompt = label();
      const input = await world.newTask(prompt, two);
      const enter = async () => {
        expect(await world.worker().submit(input)).toMatchObject(waiting);
        return { kind: 'elsewhere' } as const;
      };
      expect(await world.worker({ gate: gateOf(enter) }).submit(input)).toMatchObject(waiting);
      expect(posts(prompt)).toBe(1);
    });
  });

  describe('whose request or credential is missing', () => {
    it('sends nothing if the request is gone, and the task fails with a reason', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      await world.database.db.collection<{ _id: string }>('requests').deleteOne({ _id: input.task });
      expect((await world.worker().submit(input)).state).toEqual({
        at: 'ending',
        ending: { kind: 'failed' },
      });
      expect(await world.record(input)).toMatchObject({ attempts: [], outcome: { code: 'request_missing' } });
      expect(posts(prompt)).toBe(0);
    });

    it('sends a request that a stale read misses, because only a certain absence is final', async () => {
      const prompt = label();
      const db = await staleReads(world.database.db, ['requests']);
      const requests = createRequestStore(db, Date.now, testSealing);
      const input = await world.newTask(prompt);
      expect(await requests.glance(input.task)).toBeUndefined();
      expect((await world.worker({ requests }).submit(input)).state.at).toBe('waiting');
      expect(posts(prompt)).toBe(1);
    });

    const parts = ['channel', 'credential', 'model'] as const;
    const without = (
      part: (typeof parts)[number],
      { channels, ...config }: GatewayConfig,
    ): GatewayConfig => ({
      ...config,
      channels: channels.flatMap((channel) => {
        if (channel.id !== 'ark') return [channel];
        if (part === 'credential')
          return [{ ...channel, credentials: [{ id: 'renamed', api_key: 'simulated' }] }];
        return part === 'model' ? [{ ...channel, models: {} }] : [];
      }),
    });

    it.each(parts)('moves to the next channel if the %s is gone, and asks for an operator', async (part) => {
      const prompt = label();
      const input = await world.newTask(prompt, { candidates: [here, there] });
      const before = world.config;
      world.config = without(part, before);
      expect((await world.worker().submit(input)).state).toMatchObject({ at: 'queued', left: [there] });
      expect(await world.record(input)).toMatchObject({
        concern: 'channel_gone',
        attention: 'channel_gone',
        attempts: [],
      });
      expect(posts(prompt)).toBe(0);
      expect(await world.worker().submit({ ...input, candidate: there })).toMatchObject(waiting);
      world.config = before;
      expect(await world.record(input)).not.toHaveProperty('attention');
    });

    it.each([
      ['channel', 'no longer has channel ark'],
      ['credential', 'no longer has credential a of channel ark'],
      ['model', 'no longer has model seedance of channel ark'],
    ] as const)(
      'waits for the %s if there is no other channel, and sends once it is back',
      async (part, words) => {
        const prompt = label();
        const input = await world.newTask(prompt);
        const before = world.config;
        world.config = without(part, before);
        await expect(world.worker().submit(input)).rejects.toThrow(words);
        world.config = before;
        expect(await world.worker().submit(input, again)).toMatchObject(waiting);
        expect(posts(prompt)).toBe(1);
      },
    );
  });

  describe('whose upstream returns a job that another task has', () => {
    it('is lost and logged, and is not repeated for minutes', async () => {
      const [first, input] = [await world.newTask(label()), await world.newTask(label())];
      const job = (await world.worker().submit(first)).upstreamId ?? '';
      const tasks = world.store();
      let writes = 0;
      const renamed = (id: string, event: TaskEvent) => {
        writes += 1;
        return tasks.step(id, event.kind === 'accepted' ? { ...event, operation: { id: job } } : event);
      };
      const after = await world.worker({ tasks: { ...tasks, step: renamed } }).submit(input);
      expect(after.state).toMatchObject({ at: 'searching', code: 'upstream_id_taken', taken: true });
      expect(writes).toBe(3);
      expect(await attemptOf(input)).toMatchObject({
        state: 'lost',
        code: 'upstream_id_taken',
        message: expect.stringMatching(
          /^The upstream accepted the submission, but returned the job \S+, which belongs to another task\.$/,
        ),
      });
      const said = world.logged.filter(
        (line) => line.includes(input.task) && line.includes('belongs to another task'),
      );
      expect(said).toHaveLength(1);
      expect(JSON.parse(said[0] ?? '{}')).toMatchObject({ level: 'error', upstream_id: expect.any(String) });
      expect(await world.record(first)).toMatchObject({ upstreamId: job, state: { at: 'waiting' } });
    });
  });

  describe('while MongoDB fails briefly', () => {
    function faulty(
      kind: TaskEvent['kind'],
      after: boolean,
      failure: Error = new MongoNetworkError('reset'),
    ) {
      const tasks = world.store();
      let failures = 1;
      const step: typeof tasks.step = async (id, event, act) => {
        if (event.kind !== kind || failures === 0) return tasks.step(id, event, act);
        failures -= 1;
        if (after) await tasks.step(id, event, act);
        throw failure;
      };
      return { tasks: { ...tasks, step } };
    }

    it.each([false, true])('a refusal of the request stays a refusal (written: %s)', async (after) => {
      const prompt = `${label()} [sim:moderation]`;
      const input = await world.newTask(prompt);
      const ended = await world.worker(faulty('rejected', after)).submit(input);
      expect(ended.state).toEqual({ at: 'ending', ending: { kind: 'failed' } });
      expect(await world.record(input)).toMatchObject({
        attempts: [{ state: 'rejected' }],
        outcome: { kind: 'failed' },
      });
      expect(posts(prompt)).toBe(1);
    });

    it.each([false, true])('a claim whose response was lost is our own (written: %s)', async (after) => {
      const prompt = label();
      const input = await world.newTask(prompt);
      expect(await world.worker(faulty('sending', after)).submit(input)).toMatchObject(waiting);
      expect(posts(prompt)).toBe(1);
    });

    it.each([false, true])(
      'an accepted job is written until the write succeeds (written: %s)',
      async (after) => {
        const prompt = label();
        const input = await world.newTask(prompt);
        expect(await world.worker(faulty('accepted', after)).submit(input)).toMatchObject(waiting);
        expect((await attemptOf(input)).state).toBe('accepted');
        expect(posts(prompt)).toBe(1);
      },
    );

    it('a write that would fail every time is not repeated', async () => {
      const input = await world.newTask(label());
      const bug = new TypeError('a bug');
      await expect(world.worker(faulty('accepted', false, bug)).submit(input)).rejects.toBe(bug);
      expect((await attemptOf(input)).state).toBe('sending');
    });
  });
});

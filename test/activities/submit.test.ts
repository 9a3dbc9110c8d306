import { ApplicationFailure } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SubmitInput } from '../../activities/types.ts';
import { createAttemptStore } from '../../src/store/attempts.ts';
import { pauseFirstAt } from '../support/race.ts';
import { openActivityWorld } from './support.ts';
import type { ActivityWorld } from './support.ts';

describe('submit', () => {
  let world: ActivityWorld;
  let count = 0;
  beforeAll(async () => {
    world = await openActivityWorld();
  });
  afterAll(() => world.close());

  const label = (): string => `submit-${(count += 1)}-end`;
  const posts = (prompt: string): number => world.simulator.control.submissions(prompt).submits;
  const record = async ({ task, n }: SubmitInput) => {
    const found = await world.attempts.find(`${task}:${n}`);
    if (found === undefined) throw new Error('no record');
    return found;
  };

  it('sends once; a repeat finds the job in the record', async () => {
    const prompt = label();
    const input = await world.newTask(prompt);
    const first = await world.worker().submit(input);
    expect(first.kind).toBe('accepted');
    expect(await world.worker().submit(input, { attempt: 2 })).toMatchObject(first);
    expect(posts(prompt)).toBe(1);
    expect(await world.tasks.find(input.task)).toMatchObject({ status: 'submitted', channel: 'ark' });
  });

  it('finds an accepted job before it waits for anything: a full channel, a line', async () => {
    const input = await world.newTask(label());
    const first = await world.worker().submit(input);
    const never = () => Promise.reject(new Error('it waited'));
    const deps = {
      gate: {
        enter: never,
        report: async () => undefined,
        anyHasRoom: async () => false,
        leave: async () => undefined,
      },
      submitLimiter: () => ({ enter: never, giveBack: () => undefined }),
    };
    expect(await world.worker(deps).submit(input, { attempt: 2 })).toMatchObject(first);
  });

  describe('of a worker that is stopped', () => {
    it('between its claim and its request, while the next one retries: ambiguous there, and one post', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      const paused = pauseFirstAt('submit.begun', `${input.task}:1`);
      const stopped = world.worker().submit(input);
      await paused.reached;
      expect((await record(input)).state).toBe('sending');
      const retry = await world.worker().submit(input, { attempt: 2 });
      expect(retry).toEqual({ kind: 'ambiguous', code: 'submission_lost' });
      expect(posts(prompt)).toBe(0);
      paused.release();
      expect((await stopped).kind).toBe('accepted');
      expect(posts(prompt)).toBe(1);
      expect((await world.worker().findLostJob(input)).kind).toBe('accepted');
    });

    it('for so long that others decide: it does not send at all', async () => {
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
      expect((await world.worker().submit(input, { attempt: 2 })).kind).toBe('accepted');
      expect(posts(prompt)).toBe(1);
    });

    it('with the answer in its hands: the job is found by its marker, and its late write changes nothing', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      const paused = pauseFirstAt('submit.answered', `${input.task}:1`);
      const stopped = world.worker().submit(input);
      await paused.reached;
      expect((await world.worker().submit(input, { attempt: 2 })).kind).toBe('ambiguous');
      const found = await world.worker().findLostJob(input);
      expect(found.kind).toBe('accepted');
      paused.release();
      expect(await stopped).toEqual(found);
      expect(posts(prompt)).toBe(1);
    });

    it('with a refusal in its hands, after another run has found the job: accepted stays', async () => {
      const prompt = `${label()} [sim:accepted-then-silent]`;
      const input = await world.newTask(prompt);
      const paused = pauseFirstAt('submit.answered', `${input.task}:1`);
      const stopped = world.worker().submit(input);
      await paused.reached;
      const found = await world.worker().findLostJob(input);
      expect(found.kind).toBe('accepted');
      paused.release();
      expect(await stopped).toMatchObject(found);
      expect((await record(input)).state).toBe('accepted');
    });

    it('after the job is on record, before it is visible: the next run shows it', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      const paused = pauseFirstAt('submit.accepted', `${input.task}:1`);
      const stopped = world.worker().submit(input);
      await paused.reached;
      expect((await world.tasks.find(input.task))?.status).toBe('pending');
      const next = await world.worker().submit(input, { attempt: 2 });
      expect((await world.tasks.find(input.task))?.status).toBe('submitted');
      paused.release();
      expect(next).toMatchObject(await stopped);
    });
  });

  describe('against a cancellation', () => {
    it('that comes before its claim: the withdrawal wins, whenever the claim arrives, and nothing is sent', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      let admit = (): void => undefined;
      let arrived = (): void => undefined;
      const atGate = new Promise<void>((resolve) => (arrived = resolve));
      const gate = {
        enter: () => {
          arrived();
          return new Promise<undefined>((resolve) => (admit = () => resolve(undefined)));
        },
        report: async () => undefined,
        anyHasRoom: async () => false,
        leave: async () => undefined,
      };
      const late = world.worker({ gate }).submit(input);
      await atGate;
      const decided = await world.worker().findLostJob(input);
      expect(decided).toEqual({ kind: 'not_accepted', code: 'never_sent' });
      admit();
      expect((await late).kind).toBe('not_accepted');
      expect(posts(prompt)).toBe(0);
      expect((await record(input)).state).toBe('withdrawn');
    });

    it('that comes after its request: the record says that it was sent, and the job is found', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      const paused = pauseFirstAt('submit.answered', `${input.task}:1`);
      const running = world.worker().submit(input);
      await paused.reached;
      expect((await world.worker().findLostJob(input)).kind).toBe('accepted');
      paused.release();
      await running;
      expect(posts(prompt)).toBe(1);
    });
  });

  describe('again, because an operator says so', () => {
    const next = (input: SubmitInput): SubmitInput => ({ ...input, n: input.n + 1 });

    it('is the job of the first attempt, if that was accepted meanwhile', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      const paused = pauseFirstAt('submit.answered', `${input.task}:1`);
      const stopped = world.worker().submit(input);
      await paused.reached;
      expect((await world.worker().submit(input, { attempt: 2 })).kind).toBe('ambiguous');
      paused.release();
      const first = await stopped;
      expect(await world.worker().submit(next(input))).toEqual(first);
      expect(posts(prompt)).toBe(1);
      expect(await world.attempts.find(`${input.task}:2`)).toBeUndefined();
    });

    it('names the channel of the first attempt, if its job is adopted from another', async () => {
      const input = await world.newTask(label());
      await world.worker().submit(input);
      const other = { ...next(input), candidate: { channel: 'ark', credential: 'other' } };
      expect(await world.worker().submit(other)).toMatchObject({
        kind: 'accepted',
        candidate: { channel: 'ark', credential: 'a' },
      });
    });

    it('closes the first attempt: a late answer is on record as a stray job, and not the task’s', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      const paused = pauseFirstAt('submit.answered', `${input.task}:1`);
      const stopped = world.worker().submit(input);
      await paused.reached;
      const second = await world.worker().submit(next(input));
      paused.release();
      expect(await stopped).toEqual({ kind: 'not_accepted', code: 'given_up' });
      const first = await record(input);
      expect(first.state).toBe('abandoned');
      expect(first.stray?.id).toMatch(/./);
      expect(second).not.toMatchObject({ operation: first.stray });
      expect(await world.tasks.find(input.task)).toMatchObject({
        upstreamId: second.kind === 'accepted' ? second.operation.id : 'none',
      });
    });
  });

  it.each(['0', '-5'])('is retried less and less often where retry-after is %s', async (value) => {
    const input = await world.newTask(`${label()} [sim:429=${value}]`, { persistMs: 600_000 });
    const delayAt = async (attempt: number): Promise<number> => {
      const times = { attempt, scheduledTimestampMs: Date.now() };
      const failure: unknown = await world
        .worker()
        .submit(input, times)
        .catch((error: unknown) => error);
      return failure instanceof ApplicationFailure ? Number(failure.nextRetryDelay) : 0;
    };
    expect(await delayAt(1)).toBeGreaterThanOrEqual(1000);
    expect(await delayAt(6)).toBeGreaterThanOrEqual(0.8 * 60_000);
  });

  it('does not send a refused attempt again once the next one exists (a workflow reset)', async () => {
    const prompt = `${label()} [sim:429*1]`;
    const input = await world.newTask(prompt, { persistMs: 60_000 });
    await expect(world.worker().submit(input)).rejects.toMatchObject({ type: 'NotAccepted' });
    expect((await record(input)).state).toBe('not_accepted');
    const second = await world.worker().submit({ ...input, n: 2 });
    expect(second.kind).toBe('accepted');
    expect(await world.worker().submit(input)).toMatchObject({ kind: 'not_accepted' });
    expect(posts(prompt)).toBe(2);
  });

  it('hears "not accepted" only after a write that no earlier run can undo', async () => {
    const prompt = `${label()} [sim:429]`;
    const input = await world.newTask(prompt);
    expect(await world.worker().submit(input)).toMatchObject({ kind: 'not_accepted' });
    expect((await record(input)).state).toBe('withdrawn');
    const elsewhere = await world.newTask(label());
    const gate = {
      enter: async () => ({ kind: 'elsewhere' }) as const,
      report: async () => undefined,
      anyHasRoom: async () => false,
      leave: async () => undefined,
    };
    await world.worker({ gate }).submit(elsewhere);
    expect((await record(elsewhere)).state).toBe('withdrawn');
  });

  it('is not "not accepted" when another run was accepted while this one was sent elsewhere', async () => {
    const prompt = label();
    const input = await world.newTask(prompt);
    const gate = {
      enter: async () => {
        expect((await world.worker().submit(input)).kind).toBe('accepted');
        return { kind: 'elsewhere' } as const;
      },
      report: async () => undefined,
      anyHasRoom: async () => false,
      leave: async () => undefined,
    };
    const operation = { id: expect.any(String) };
    expect(await world.worker({ gate }).submit(input)).toMatchObject({ kind: 'accepted', operation });
    expect(posts(prompt)).toBe(1);
  });

  describe('without what it needs', () => {
    it('sends nothing where the request is gone, and the task fails with a reason', async () => {
      const input = await world.newTask(label());
      await world.database.db.collection<{ _id: string }>('requests').deleteOne({ _id: input.task });
      expect(await world.worker().submit(input)).toEqual({
        kind: 'rejected',
        code: 'request_missing',
      });
      expect((await record(input)).state).toBe('withdrawn');
      expect((await world.tasks.find(input.task))?.outcome).toMatchObject({ code: 'request_missing' });
    });

    it.each([
      ['credential', { channel: 'ark', credential: 'gone' }],
      ['channel', { channel: 'gone', credential: 'a' }],
    ])('turns to the next channel where the %s is gone', async (_what, candidate) => {
      const prompt = label();
      const input = await world.newTask(prompt, { candidate });
      expect(await world.worker().submit(input)).toEqual({
        kind: 'not_accepted',
        code: 'channel_gone',
      });
      expect((await record(input)).state).toBe('withdrawn');
      expect(posts(prompt)).toBe(0);
    });

    it('waits for the credential where there is no other channel, and sends once it is back', async () => {
      const prompt = label();
      const input = await world.newTask(prompt, {
        candidate: { channel: 'ark', credential: 'renamed' },
        persistMs: 60_000,
      });
      await expect(world.worker().submit(input)).rejects.toThrow(
        /no longer has credential renamed of channel ark/,
      );
      const before = world.config;
      world.config = {
        ...before,
        channels: before.channels.map((channel) => ({
          ...channel,
          credentials: [{ id: 'renamed', api_key: 'simulated' }],
        })),
      };
      expect((await world.worker().submit(input, { attempt: 2 })).kind).toBe('accepted');
      world.config = before;
      expect(posts(prompt)).toBe(1);
    });
  });

  describe('while MongoDB hiccups', () => {
    /** The n-th call of one method fails, as after a connection that broke; what it wrote may be there. */
    function faulty(method: 'begin' | 'refuse' | 'accept', after: boolean) {
      const store = createAttemptStore(world.database.db, Date.now);
      let failures = 1;
      const fail = async <Result>(act: () => Promise<Result>): Promise<Result> => {
        if (failures === 0) return act();
        failures -= 1;
        if (after) await act();
        throw new Error('connection reset');
      };
      const broken = {
        begin: (...args: Parameters<typeof store.begin>) => fail(() => store.begin(...args)),
        refuse: (...args: Parameters<typeof store.refuse>) => fail(() => store.refuse(...args)),
        accept: (...args: Parameters<typeof store.accept>) => fail(() => store.accept(...args)),
      };
      return { attempts: { ...store, [method]: broken[method] } };
    }

    it.each([false, true])('a refusal of the request stays one (written: %s)', async (after) => {
      const prompt = `${label()} [sim:moderation]`;
      const input = await world.newTask(prompt);
      const result = await world.worker(faulty('refuse', after)).submit(input);
      expect(result.kind).toBe('rejected');
      expect((await record(input)).state).toBe('rejected');
      expect((await world.tasks.find(input.task))?.outcome?.kind).toBe('failed');
      expect(posts(prompt)).toBe(1);
    });

    it.each([false, true])('a claim whose response was lost is our own (written: %s)', async (after) => {
      const prompt = label();
      const input = await world.newTask(prompt);
      expect((await world.worker(faulty('begin', after)).submit(input)).kind).toBe('accepted');
      expect(posts(prompt)).toBe(1);
    });

    it('an accepted job is in the heartbeats, and the next worker has it from there', async () => {
      const prompt = label();
      const input = await world.newTask(prompt);
      const away = { ...world.attempts, accept: () => Promise.reject(new Error('away')) };
      let clock = Date.now();
      // Of this run: on a busy machine those before have left some, too.
      const before = world.heartbeats.length;
      const remembered = () =>
        world.heartbeats.slice(before).findLast((details) => details !== undefined && details !== null);
      const lost = world.worker({ attempts: away, now: () => clock }).submit(input);
      const operation = { id: expect.any(String) };
      await expect.poll(remembered, { timeout: 20_000 }).toMatchObject({ operation });
      // This worker dies.
      clock += 3_600_000;
      await expect(lost).rejects.toThrow('away');
      expect((await record(input)).state).toBe('sending');
      const again = await world.worker().submit(input, { attempt: 2, heartbeatDetails: remembered() });
      expect(again).toMatchObject({ kind: 'accepted', ...(remembered() as object) });
      expect((await record(input)).state).toBe('accepted');
      expect(posts(prompt)).toBe(1);
    });

    it.each([false, true])('an accepted job is written until it is written (written: %s)', async (after) => {
      const prompt = label();
      const input = await world.newTask(prompt);
      expect((await world.worker(faulty('accept', after)).submit(input)).kind).toBe('accepted');
      expect((await record(input)).state).toBe('accepted');
      expect(posts(prompt)).toBe(1);
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { circuitRules, openedBy, signOf } from '../../src/domain/circuit-rules.ts';
import { createCircuits } from '../../src/capacity/circuits.ts';
import type { Circuits, UpstreamFailure } from '../../src/capacity/circuits.ts';
import { createChannelHealthStore } from '../../src/store/channel-health.ts';
import { openDatabase } from './support.ts';

const refused = (outcome: UpstreamFailure['outcome'], status?: number): UpstreamFailure => ({
  outcome,
  status,
  code: `http_${status ?? 'none'}`,
  retryAfterMs: undefined,
});

describe('what an answer says about a credential', () => {
  it('takes a rejection and a moderation for a sign of life', () => {
    expect(signOf(refused('rejected', 400))).toBe('alive');
  });

  it('tells the account, the model and the upstream itself apart', () => {
    expect(signOf(refused('unavailable', 403))).toBe('account');
    expect(signOf(refused('unavailable', 404))).toBe('model');
    expect(signOf(refused('not_sent'))).toBe('failure');
    expect(signOf(refused('ambiguous', 500))).toBe('failure');
    expect(signOf(refused('throttled', 429))).toBe('throttled');
  });

  it('doubles the cool-down while probes fail, up to a limit, and long for an account', () => {
    const failure = { sign: 'failure', code: 'x' } as const;
    let record = openedBy(failure, undefined, 0);
    expect(record.coolDownMs).toBe(15_000);
    record = openedBy(failure, record, 20_000);
    expect(record).toMatchObject({ coolDownMs: 30_000, until: 50_000 });
    for (let probes = 0; probes < 10; probes += 1) record = openedBy(failure, record, 0);
    expect(record.coolDownMs).toBe(circuitRules.failure.coolDownMaxMs);
    expect(openedBy({ sign: 'account', code: 'x' }, undefined, 0).coolDownMs).toBe(300_000);
  });

  it('waits as long as a throttling upstream says, but not for ever', () => {
    const opened = (retryAfterMs: number) =>
      openedBy({ sign: 'throttled', code: '429', retryAfterMs }, undefined, 0).coolDownMs;
    expect(opened(30_000)).toBe(30_000);
    expect(opened(3_600_000)).toBe(60_000);
  });
});

describe('circuits that processes share', () => {
  const target = { channel: 'c', credential: 'a', model: 'm' };
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let clock = 1_000_000;
  const now = () => clock;
  const open = (): Circuits =>
    createCircuits({
      store: createChannelHealthStore(database.db, now),
      now,
      onChange: () => undefined,
      onError: (error) => {
        throw error;
      },
    });
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterAll(() => database.drop());

  it('open after failures in a row, which a sign of life interrupts', async () => {
    const circuits = open();
    for (let failures = 1; failures < circuitRules.failure.consecutiveFailures; failures += 1) {
      await circuits.report(target, refused('not_sent'));
    }
    await circuits.report(target, refused('rejected', 400));
    for (let failures = 1; failures < circuitRules.failure.consecutiveFailures; failures += 1) {
      await circuits.report(target, refused('ambiguous', 502));
    }
    expect(await circuits.enter(target, 1000)).toEqual({ open: false });
    expect(await database.db.collection('channel_health').countDocuments()).toBe(0);
    await circuits.report(target, refused('ambiguous', 502));
    expect(await circuits.enter(target, 1000)).toMatchObject({ open: true, retryAfterMs: 15_000 });
    expect(circuits.outage(target)).toMatchObject({ channel: 'c', reason: 'circuit_open' });
  });

  it('let one probe through at a time, of all processes, and close when it succeeds', async () => {
    const processes = [open(), open(), open()];
    for (const circuits of processes) await circuits.refresh();
    clock += 15_000;
    expect(processes[0]?.outage(target)).toBeUndefined();
    const decisions = await Promise.all(processes.map((circuits) => circuits.enter(target, 1000)));
    expect(decisions.filter((decision) => !decision.open)).toHaveLength(1);
    const prober = processes[decisions.findIndex((decision) => !decision.open)];
    await prober?.report(target, undefined);
    for (const circuits of processes) {
      await circuits.refresh();
      expect(await circuits.enter(target, 1000)).toEqual({ open: false });
    }
  });

  it('open longer on a relapse, and again at the first failure of a probe', async () => {
    const circuits = open();
    await circuits.refresh();
    for (let failures = 0; failures < circuitRules.failure.consecutiveFailures; failures += 1) {
      await circuits.report(target, refused('not_sent'));
    }
    expect(await circuits.enter(target, 1000)).toMatchObject({ retryAfterMs: 30_000 });
    clock += 30_000;
    expect(await circuits.enter(target, 1000)).toEqual({ open: false });
    await circuits.report(target, refused('not_sent'));
    expect(await circuits.enter(target, 1000)).toMatchObject({ open: true, retryAfterMs: 60_000 });
  });

  it('leave the other models of a credential alone when one is missing there', async () => {
    const circuits = open();
    const other = { ...target, credential: 'b' };
    for (let failures = 0; failures < circuitRules.model.consecutiveFailures; failures += 1) {
      await circuits.report(other, refused('unavailable', 404));
    }
    expect(circuits.outage(other)?.reason).toBe('circuit_open');
    expect(circuits.outage({ ...other, model: 'another' })).toBeUndefined();
  });
});

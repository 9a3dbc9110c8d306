import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  circuitRules,
  closedAfter,
  failedAgain,
  historyMs,
  openedBy,
  openingsMax,
  orderedBy,
  signOf,
} from '../../src/health/circuit-rules.ts';
import { healthOf } from '../../src/health/channel-health.ts';
import { createCircuits, type Circuits, type UpstreamFailure } from '../../src/capacity/circuits.ts';
import { createChannelHealthStore } from '../../src/store/channel-health.ts';
import { openDatabase } from './support.ts';

const refused = (outcome: UpstreamFailure['outcome'], status?: number): UpstreamFailure => ({
  outcome,
  status,
  code: `http_${status ?? 'none'}`,
  retryAfterMs: undefined,
});

describe('what a response reveals about a credential', () => {
  it('treats a rejection or a moderation as a sign of life', () => {
    expect(signOf(refused('rejected', 400))).toBe('alive');
  });

  it('distinguishes the account, the model and the upstream itself', () => {
    expect(signOf(refused('unavailable', 401))).toBe('account');
    expect(signOf(refused('unavailable', 402))).toBe('account');
    expect(signOf(refused('unavailable', 403))).toBe('model');
    expect(signOf(refused('unavailable', 404))).toBe('model');
    expect(signOf(refused('unavailable', 307))).toBe('failure');
    expect(signOf(refused('ambiguous', 500))).toBe('failure');
    expect(signOf(refused('throttled', 429))).toBe('throttled');
  });

  it('learns from a request without a response only that this process may not reach the upstream', () => {
    for (const code of ['dns_failed', 'connect_failed', 'connect_timeout', 'tls_failed'])
      expect(signOf({ ...refused('not_sent'), code })).toBe('unreachable');
    for (const code of ['timeout', 'connection_lost'])
      expect(signOf({ ...refused('ambiguous'), code })).toBe('unreachable');
    expect(signOf({ ...refused('ambiguous'), code: 'adapter_failed' })).toBeUndefined();
    expect(signOf({ ...refused('unavailable'), code: 'mapping_missing' })).toBeUndefined();
    expect(signOf({ ...refused('rejected'), code: 'not_of_ours' })).toBeUndefined();
  });

  it('doubles the cool-down while probes fail, up to a limit, and uses long ones for an account', () => {
    const failure = { sign: 'failure', code: 'x', tasks: [], accounts: [] } as const;
    let record = openedBy(failure, undefined, 0);
    expect(record.coolDownMs).toBe(15_000);
    record = openedBy(failure, record, 20_000);
    expect(record).toMatchObject({ coolDownMs: 30_000, until: 50_000 });
    for (let probes = 0; probes < 10; probes += 1) record = openedBy(failure, record, 0);
    expect(record.coolDownMs).toBe(circuitRules.failure.coolDownMaxMs);
    expect(openedBy({ sign: 'account', code: 'x', tasks: [], accounts: [] }, undefined, 0).coolDownMs).toBe(
      300_000,
    );
  });

  it('records its last openings, and does not count a failed probe as another one', () => {
    const failure = (code: string) => ({ sign: 'failure', code, tasks: [], accounts: [] }) as const;
    let record = openedBy(failure('first'), undefined, 1);
    record = openedBy(failure('probe'), record, 2);
    record = closedAfter(record, 3);
    record = failedAgain(openedBy(failure('second'), record, 4), 5);
    expect(record.openings).toEqual([
      { at: 1, sign: 'failure', code: 'first' },
      { at: 4, sign: 'failure', code: 'second' },
    ]);
    const order = { by: 'anna', reason: 'asked', until: 9 } as const;
    record = orderedBy({ ...order, state: 'open' }, orderedBy({ ...order, state: 'closed' }, record, 6), 7);
    expect(record.openings?.at(-1)).toEqual({
      at: 7,
      sign: 'failure',
      code: 'operator',
      by: 'anna',
      reason: 'asked',
    });
    for (let n = 0; n < 2 * openingsMax; n += 1)
      record = openedBy(failure(String(n)), closedAfter(record, n), n);
    expect(record.openings?.map(({ code }) => code)).toEqual(
      Array.from({ length: openingsMax }, (_, n) => String(n + openingsMax)),
    );
    record = openedBy(failure('a day later'), closedAfter(record, 0), historyMs + openingsMax);
    expect(record.openings?.at(-1)?.code).toBe('a day later');
    expect(record.openings).toHaveLength(openingsMax);
    record = openedBy(failure('two days later'), closedAfter(record, 0), 3 * historyMs);
    expect(record.openings).toHaveLength(1);
  });

  it('waits as long as a throttling upstream asks, up to a limit', () => {
    const opened = (retryAfterMs: number) =>
      openedBy({ sign: 'throttled', code: '429', retryAfterMs, tasks: [], accounts: [] }, undefined, 0)
        .coolDownMs;
    expect(opened(30_000)).toBe(30_000);
    expect(opened(3_600_000)).toBe(60_000);
  });
});

describe('circuits that processes share', () => {
  const place = { channel: 'c', credential: 'a', model: 'm' };
  const account = 'account_0';
  let tasks = 0;
  const next = (where = place) => ({
    ...where,
    account: `account_${tasks % 3}`,
    task: `task_${(tasks += 1)}`,
  });
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let clock = 1_000_000;
  const now = () => clock;
  const open = (onChange: (id: string) => void = () => undefined): Circuits =>
    createCircuits({
      store: createChannelHealthStore(database.db, now),
      now,
      onChange,
      onError: (error) => {
        throw error;
      },
    });
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterAll(() => database.drop());

  async function partAt(target: string) {
    const [credential = '', model] = target.split('/');
    const channel = { id: 'c', enabled: true, credentials: [{ id: credential }], models: { m: {}, m2: {} } };
    const circuits = await createChannelHealthStore(database.db, now).list();
    const nothing = () => undefined;
    const facts = {
      circuits,
      nodes: [],
      switchOf: nothing,
      unserved: nothing,
      waitingAt: nothing,
      behind: undefined,
      now: clock,
    };
    return healthOf(channel, facts).parts.find((part) => part.model === model);
  }

  it('open after consecutive failures, which a sign of life interrupts', async () => {
    const circuits = open();
    for (let failures = 1; failures < circuitRules.failure.tasks; failures += 1) {
      await circuits.report(next(), refused('ambiguous', 502));
    }
    await circuits.report(next(), refused('rejected', 400));
    for (let failures = 1; failures < circuitRules.failure.tasks; failures += 1) {
      await circuits.report(next(), refused('ambiguous', 502));
    }
    expect(await circuits.enter(next(), 1000, [])).toEqual({ open: false });
    expect(await database.db.collection('channel_health').countDocuments()).toBe(0);
    await circuits.report(next(), refused('ambiguous', 502));
    expect(await circuits.enter(next(), 1000, [])).toMatchObject({ open: true, retryAfterMs: 15_000 });
    expect(circuits.outage(place)).toMatchObject({ channel: 'c', reason: 'circuit_open' });
  });

  it('are due if the clock has been set back by more than a cool-down, even while a probe was in flight', async () => {
    const [one, other] = [open(), open()];
    const there = { ...place, credential: 'set-back' };
    clock += 3_600_000;
    for (let failures = 0; failures < circuitRules.failure.tasks; failures += 1)
      await one.report(next(there), refused('ambiguous', 502));
    clock += 20_000;
    expect(await one.enter(next(there), 60_000, [])).toEqual({ open: false });
    await other.refresh();
    clock -= 3_600_000;
    expect(other.outage(there)).toBeUndefined();
    expect(await other.enter(next(there), 1000, [])).toEqual({ open: false });
    expect(await one.enter(next(there), 1000, [])).toMatchObject({ open: true, isTried: true });
    await other.report(next(there), refused('ambiguous', 502));
    expect(await other.enter(next(there), 1000, [])).toMatchObject({ open: true, retryAfterMs: 30_000 });
  });

  it('of one process are due if the clock has been set back by more than a cool-down', async () => {
    const circuits = open();
    const there = { ...place, credential: 'set-back-here' };
    clock += 3_600_000;
    const unreached = { ...refused('not_sent'), code: 'connect_failed' };
    for (let failures = 0; failures < circuitRules.unreachable.tasks; failures += 1)
      await circuits.report(next(there), unreached);
    expect(await circuits.enter(next(there), 1000, [])).toMatchObject({ open: true });
    clock -= 3_600_000;
    expect(await circuits.enter(next(there), 1000, [])).toEqual({ open: false });
  });

  it('keep the time that an operator has chosen, however far ahead', async () => {
    const circuits = open();
    const there = { ...place, credential: 'ordered-for-days' };
    const until = clock + 7 * 86_400_000;
    await circuits.override(there, { state: 'open', by: 'anna', reason: 'asked', until });
    expect(await circuits.enter(next(there), 1000, [])).toMatchObject({ open: true });
  });

  it('report an opening and a closing once, whatever probes fail in between, and never give a past time', async () => {
    const noticed: string[] = [];
    const circuits = open((id) => noticed.push(id));
    const there = { ...place, credential: 'noticed' };
    const fail = () => circuits.report(next(there), refused('ambiguous', 502));
    for (let failures = 0; failures < circuitRules.failure.tasks; failures += 1) await fail();
    const since = clock;
    for (let trials = 0; trials < 3; trials += 1) {
      expect(await partAt('noticed/m')).toMatchObject({ state: 'ill', since, until: expect.any(Number) });
      clock += circuitRules.failure.coolDownMaxMs;
      const probing = await partAt('noticed/m');
      expect(probing).toMatchObject({ state: 'probing', since, opened: { day: 1 } });
      expect(probing).not.toHaveProperty('until');
      await fail();
    }
    expect(noticed).toEqual(['c/noticed/m']);
    clock += circuitRules.failure.coolDownMaxMs;
    await circuits.report(next(there), undefined);
    expect(noticed).toEqual(['c/noticed/m', 'c/noticed/m']);
  });

  it('let one probe through at a time, across all processes, and close when it succeeds', async () => {
    const processes = [open(), open(), open()];
    for (const circuits of processes) await circuits.refresh();
    clock += 15_000;
    expect(processes[0]?.outage(place)).toBeUndefined();
    const decisions = await Promise.all(processes.map((circuits) => circuits.enter(next(), 1000, [])));
    expect(decisions.filter((decision) => !decision.open)).toHaveLength(1);
    const prober = processes[decisions.findIndex((decision) => !decision.open)];
    await prober?.report(next(), undefined);
    for (const circuits of processes) {
      await circuits.refresh();
      expect(await circuits.enter(next(), 1000, [])).toEqual({ open: false });
    }
  });

  it('open for longer on a relapse, and again at the first failure of a probe', async () => {
    const circuits = open();
    await circuits.refresh();
    for (let failures = 0; failures < circuitRules.failure.tasks; failures += 1) {
      await circuits.report(next(), refused('ambiguous', 502));
    }
    expect(await circuits.enter(next(), 1000, [])).toMatchObject({ retryAfterMs: 30_000 });
    clock += 30_000;
    expect(await circuits.enter(next(), 1000, [])).toEqual({ open: false });
    await circuits.report(next(), refused('ambiguous', 502));
    expect(await circuits.enter(next(), 1000, [])).toMatchObject({ open: true, retryAfterMs: 60_000 });
  });

  it('stay closed for the other models of a credential if one model does not exist there', async () => {
    const circuits = open();
    const other = { ...place, credential: 'b' };
    for (let failures = 0; failures < circuitRules.model.tasks; failures += 1) {
      await circuits.report(next(other), refused('unavailable', 404));
    }
    expect(circuits.outage(other)?.reason).toBe('circuit_open');
    expect(circuits.outage({ ...other, model: 'another' })).toBeUndefined();
  });

  const isOpen = async (circuits: Circuits, request: ReturnType<typeof next>) =>
    (await circuits.enter(request, 1000, [])).open;
  const poison = ['poison_1', 'poison_2', 'poison_3'];
  const throttled = refused('throttled', 503);

  async function openedByPoison(where: typeof place): Promise<Circuits> {
    const circuits = open();
    await circuits.refresh();
    for (const task of poison) await circuits.report({ ...where, account, task }, throttled);
    for (let n = poison.length; n < circuitRules.throttled.tasks; n += 1)
      await circuits.report(next(where), throttled);
    expect(circuits.outage(where)?.reason).toBe('circuit_open');
    return circuits;
  }

  it('the probe is never a task that opened the circuit, and such tasks do not reopen it by failing', async () => {
    const where = { ...place, credential: 'poisoned' };
    const circuits = await openedByPoison(where);
    const elsewhere = open();
    await elsewhere.refresh();
    clock += 10_000;
    for (const task of poison) {
      expect(await circuits.enter({ ...where, account, task }, 1000, [])).toMatchObject({
        open: true,
        retryAfterMs: 10_000,
      });
      expect(await isOpen(elsewhere, { ...where, account, task })).toBe(true);
    }
    const innocent = next(where);
    expect(await isOpen(circuits, innocent)).toBe(false);
    await circuits.report(innocent, undefined);
    expect(await isOpen(circuits, next(where))).toBe(false);
    await elsewhere.refresh();
    for (let n = 0; n < 5 * circuitRules.throttled.tasks; n += 1) {
      const request = { ...where, account, task: poison[n % 3] ?? '' };
      expect(await isOpen(elsewhere, request)).toBe(false);
      await elsewhere.report(request, throttled);
    }
    expect(elsewhere.outage(where)).toBeUndefined();
  });

  it('a suspect that this process does not know yet is refused by the stored record', async () => {
    const where = { ...place, credential: 'stale' };
    const circuits = await openedByPoison(where);
    const stale = open();
    await stale.refresh();
    clock += 10_000;
    const late = { ...where, account, task: 'late' };
    expect(await isOpen(circuits, late)).toBe(false);
    await circuits.report(late, throttled);
    clock += 20_000;
    expect(await isOpen(stale, late)).toBe(true);
    expect(await isOpen(stale, next(where))).toBe(false);
  });

  it('if there is no other task, a suspect is tried after one more cool-down, and others need not wait for it', async () => {
    const where = { ...place, credential: 'lonely' };
    const circuits = await openedByPoison(where);
    const suspect = { ...where, account, task: 'poison_1' };
    clock += 19_999;
    expect(await isOpen(circuits, suspect)).toBe(true);
    clock += 1;
    expect(await isOpen(circuits, suspect)).toBe(false);
    await circuits.report(suspect, throttled);
    expect(await circuits.enter(suspect, 1000, [])).toMatchObject({ open: true, retryAfterMs: 20_000 });
    const innocent = next(where);
    expect(await isOpen(circuits, innocent)).toBe(false);
    await circuits.report(innocent, undefined);
    expect(circuits.outage(where)).toBeUndefined();
    const again = await openedByPoison({ ...where, credential: 'alone' });
    clock += 20_000;
    expect(await isOpen(again, { ...suspect, credential: 'alone' })).toBe(false);
    await again.report({ ...suspect, credential: 'alone' }, undefined);
    expect(again.outage({ ...where, credential: 'alone' })).toBeUndefined();
  });

  it('other tasks still open it while suspects are remembered, and at most twenty are remembered', async () => {
    const where = { ...place, credential: 'down' };
    const circuits = await openedByPoison(where);
    for (let trial = 0; trial < 30; trial += 1) {
      clock += 60_000;
      const request = next(where);
      expect(await isOpen(circuits, request)).toBe(false);
      await circuits.report(request, throttled);
      expect(await isOpen(circuits, next(where))).toBe(true);
    }
    const stored = (await createChannelHealthStore(database.db, now).list()).find(
      ({ id }) => id === 'c/down/m',
    );
    expect(stored?.failedTasks).toHaveLength(20);
    expect(stored?.failedTasks?.at(-1)).toBe(`task_${tasks - 1}`);
    clock += 60_000;
    await circuits.report(next(where), undefined);
    for (let n = 0; n < circuitRules.throttled.tasks; n += 1) await circuits.report(next(where), throttled);
    expect(circuits.outage(where)?.reason).toBe('circuit_open');
  });

  it('an upstream that is full for one model still gets requests for the others', async () => {
    const where = { ...place, credential: 'busy' };
    const circuits = await openedByPoison(where);
    expect(circuits.outage({ ...where, model: 'another' })).toBeUndefined();
    expect(await isOpen(circuits, next({ ...where, model: 'another' }))).toBe(false);
    for (let n = 0; n < circuitRules.account.tasks; n += 1)
      await circuits.report(next({ ...where, model: 'another' }), refused('unavailable', 402));
    expect(circuits.outage({ ...where, model: 'third' })?.reason).toBe('circuit_open');
  });

  it.each([
    ['redirects', refused('unavailable', 307), circuitRules.failure.tasks],
    ['a missing model', refused('unavailable', 404), circuitRules.model.tasks],
    ['an empty account', refused('unavailable', 402), circuitRules.account.tasks],
    ['throttling', throttled, circuitRules.throttled.tasks],
    ['errors of a server', refused('ambiguous', 500), circuitRules.failure.tasks],
  ])('%s: one task counts once, however often it fails', async (name, failure, enough) => {
    const where = { ...place, credential: name };
    const circuits = open();
    const task = next(where);
    for (let n = 0; n < 3 * enough; n += 1) await circuits.report(task, failure);
    for (let n = 2; n < enough; n += 1) await circuits.report(next(where), failure);
    expect(await isOpen(circuits, next(where))).toBe(false);
    await circuits.report(next(where), failure);
    expect(await isOpen(circuits, next(where))).toBe(true);
  });

  it.each([403, 404, 307, 500])('a model with status %i does not block the others', async (status) => {
    const where = { ...place, credential: `answers-${status}` };
    const circuits = open();
    for (let n = 0; n < 10; n += 1)
      await circuits.report(next(where), refused(status === 500 ? 'ambiguous' : 'unavailable', status));
    expect(await isOpen(circuits, next(where))).toBe(true);
    expect(await isOpen(circuits, next({ ...where, model: 'another' }))).toBe(false);
  });

  it('a probe that fails because of its model counts against the model, not the account', async () => {
    const where = { ...place, credential: 'overdue' };
    const circuits = open();
    for (let n = 0; n < circuitRules.account.tasks; n += 1)
      await circuits.report(next(where), refused('unavailable', 402));
    clock += circuitRules.account.coolDownMs;
    for (let n = 0; n < circuitRules.failure.tasks; n += 1) {
      const trial = next(where);
      expect(await isOpen(circuits, trial)).toBe(false);
      await circuits.report(trial, refused('ambiguous', 500));
    }
    expect(await isOpen(circuits, next(where))).toBe(true);
    const other = next({ ...where, model: 'another' });
    expect(await isOpen(circuits, other)).toBe(false);
    await circuits.report(other, undefined);
    expect(await isOpen(circuits, next({ ...where, model: 'third' }))).toBe(false);
  });

  const unreachable = { ...refused('not_sent'), code: 'connect_failed' };

  it('a process with a broken network pauses without stopping others', async () => {
    const where = { ...place, credential: 'cut-off' };
    const [broken, well] = [open(), open()];
    for (let n = 0; n < 10; n += 1) await broken.report(next(where), unreachable);
    const refusal = await broken.enter(next(where), 1000, []);
    expect(refusal).toEqual({ open: true, detail: 'the host cannot be reached (connect_failed)' });
    expect(await isOpen(broken, next({ ...where, model: 'another' }))).toBe(false);
    expect(broken.outage(where)).toBeUndefined();
    await well.refresh();
    expect(await isOpen(well, next(where))).toBe(false);
    expect(await partAt('cut-off/m')).toBeUndefined();
    expect([broken.unreached(), well.unreached()]).toMatchObject([
      [{ id: 'c/cut-off/m', state: 'open' }],
      [],
    ]);
    clock += circuitRules.unreachable.coolDownMs;
    const trial = next(where);
    expect(await isOpen(broken, trial)).toBe(false);
    expect(await isOpen(broken, next(where))).toBe(true);
    await broken.report(trial, refused('ambiguous', 500));
    expect(await isOpen(broken, next(where))).toBe(false);
  });

  it('a process that reaches nothing neither closes a shared circuit nor keeps it open', async () => {
    const where = { ...place, credential: 'both' };
    const circuits = open();
    for (let n = 0; n < circuitRules.account.tasks; n += 1)
      await circuits.report(next(where), refused('unavailable', 402));
    clock += circuitRules.account.coolDownMs;
    const trial = next(where);
    expect(await isOpen(circuits, trial)).toBe(false);
    await circuits.report(trial, unreachable);
    expect(await isOpen(circuits, next(where))).toBe(true);
    clock += 1000;
    expect(await isOpen(circuits, next(where))).toBe(false);
  });

  const failModel = async (circuits: Circuits, where: typeof place) => {
    for (let n = 0; n < circuitRules.failure.tasks; n += 1)
      await circuits.report(next(where), refused('ambiguous', 502));
  };

  it('of two failing models close the credential, unless another one works; a third model is its probe', async () => {
    const where = { ...place, credential: 'two-ill' };
    const circuits = open();
    const well = { ...where, model: 'well' };
    await failModel(circuits, where);
    clock += 1000;
    await circuits.report(next(well), undefined);
    await failModel(circuits, { ...where, model: 'm2' });
    expect(await partAt('two-ill')).toBeUndefined();
    clock += 1000;
    const other = { ...where, credential: 'all-ill' };
    await failModel(circuits, other);
    await failModel(circuits, { ...other, model: 'm2' });
    expect(await partAt('all-ill')).toMatchObject({ state: 'ill', models: ['m', 'm2'] });
    expect(await isOpen(circuits, next(other))).toBe(true);
    const probe = next({ ...other, model: 'm3' });
    expect(circuits.outage(probe)).toBeUndefined();
    expect(await isOpen(circuits, probe)).toBe(false);
    expect(await isOpen(circuits, next({ ...other, model: 'm3' }))).toBe(true);
    await circuits.report(probe, undefined);
    expect(await partAt('all-ill')).toMatchObject({ state: 'serving' });
    expect(await isOpen(circuits, next({ ...other, model: 'm3' }))).toBe(false);
    expect(await isOpen(circuits, next(other))).toBe(true);
  });

  it.each([
    ['lost', refused('ambiguous', 500), 55],
    ['refused', refused('unavailable', 404), 2],
    ['without a balance', refused('unavailable', 402), 2],
    ['unreachable', { ...refused('not_sent'), code: 'connect_failed' }, 5],
  ])(
    'of one account whose tasks are %s does not block other accounts, however slow the responses',
    async (name, failure, times) => {
      const where = { ...place, credential: `one-account-${name}` };
      const circuits = open();
      for (let n = 0; n < times; n += 1) await circuits.report({ ...next(where), account }, failure);
      expect(await isOpen(circuits, { ...next(where), account })).toBe(true);
      const others = ['b', 'c', 'b', 'd'].map((other) => ({ ...next(where), account: other }));
      const enterAll = () => Promise.all(others.map((request) => isOpen(circuits, request)));
      expect(others.map((request) => circuits.outage(request))).toEqual(others.map(() => undefined));
      // The requests overlap: each one is sent before any of the earlier ones has a response.
      expect(await enterAll()).toEqual([false, false, false, false]);
      clock += circuitRules.account.coolDownMs;
      expect(await isOpen(circuits, { ...next(where), account })).toBe(false);
      expect(await enterAll()).toEqual([false, false, false, false]);
      const [first = next(where)] = others;
      await circuits.report(first, failure);
      expect(await isOpen(circuits, { ...next(where), account: 'e' })).toBe(true);
    },
  );

  it('of one account closes with the first success of another account, whose failures are no evidence', async () => {
    const where = { ...place, credential: 'one-account-heals' };
    const circuits = open();
    for (let n = 0; n < circuitRules.model.tasks; n += 1)
      await circuits.report({ ...next(where), account }, refused('unavailable', 403));
    const others = ['b', 'c', 'd'].map((other) => ({ ...next(where), account: other }));
    for (const request of others) expect(await isOpen(circuits, request)).toBe(false);
    const [b = next(where), c = next(where), d = next(where)] = others;
    await circuits.report(b, refused('ambiguous', 500));
    expect(await isOpen(circuits, c)).toBe(false);
    expect(await partAt('one-account-heals/m')).toMatchObject({
      state: 'ill',
      evidence: [{ accounts: [account] }],
    });
    await circuits.report(d, undefined);
    expect(await partAt('one-account-heals/m')).toMatchObject({ state: 'serving' });
    expect(await isOpen(circuits, { ...next(where), account })).toBe(false);
  });

  it('reports a change once other processes can read it', async () => {
    const { model: _model, ...credential } = { ...place, credential: 'written-first' };
    const store = createChannelHealthStore(database.db, now);
    const read: Promise<string | undefined>[] = [];
    const circuits = open((id) => {
      read.push(store.list().then((all) => all.find((one) => one.id === id)?.state));
    });
    const order = { by: 'anna', reason: 'they asked us to', until: clock + 60_000 };
    for (const state of ['open', 'closed'] as const) {
      await circuits.override(credential, { ...order, state });
      expect(await read.pop()).toBe(state);
    }
  });

  it('an operator can open a circuit, which no response closes early, and can close it again', async () => {
    const { model: _model, ...credential } = { ...place, credential: 'ordered' };
    const circuits = open();
    const order = { by: 'anna', reason: 'they asked us to' };
    const until = clock + 60_000;
    expect(await circuits.override(credential, { ...order, state: 'open', until })).toBe('closed');
    const where = { ...place, credential: 'ordered' };
    expect(await isOpen(circuits, next(where))).toBe(true);
    await circuits.report(next(where), undefined);
    expect(await partAt('ordered')).toMatchObject({ state: 'paused', by: 'anna', until });
    const elsewhere = open();
    await elsewhere.refresh();
    expect(await isOpen(elsewhere, next({ ...where, model: 'another' }))).toBe(true);
    expect(await elsewhere.override(credential, { ...order, state: 'closed', until: 0 })).toBe('open');
    expect(await elsewhere.override(credential, { ...order, state: 'closed', until: 0 })).toBe(undefined);
    await circuits.refresh();
    expect(await isOpen(circuits, next(where))).toBe(false);
    expect(await partAt('ordered')).toMatchObject({ state: 'serving', by: 'anna' });
    await circuits.override({ ...credential, model: 'm' }, { ...order, state: 'open', until });
    clock = until;
    const trial = next(where);
    expect(await isOpen(circuits, trial)).toBe(false);
    await circuits.report(trial, undefined);
    const opening = { code: 'operator', by: 'anna', reason: 'they asked us to' };
    expect(await partAt('ordered/m')).toMatchObject({ state: 'serving', openings: [opening] });
  });
});

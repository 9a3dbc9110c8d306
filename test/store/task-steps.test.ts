import { MongoNetworkError, type Collection } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Task, TaskActionRecord } from '../../src/task/record.ts';
import { taskFailures } from '../../src/task/failures.ts';
import { stopOf, type TaskEvent } from '../../src/task/state.ts';
import type { TaskDocument } from '../../src/store/task-document.ts';
import { createTaskStore, type TaskStore } from '../../src/store/tasks.ts';
import { openDatabase } from '../capacity/support.ts';
import {
  firstCandidate,
  firstRecord,
  secondCandidate,
  succeededWith,
  taskDriver,
} from '../support/task-records.ts';
import { testSealing } from '../support/sealing.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let tasks: TaskStore;
let count = 0;
beforeAll(async () => {
  database = await openDatabase();
  tasks = openStore();
  await tasks.ensureIndexes();
});
afterAll(() => database.drop());

const openStore = (): TaskStore => createTaskStore(database.db, Date.now, testSealing);
const documents = (): Collection<TaskDocument> => database.db.collection<TaskDocument>('tasks');

async function newTask(change: Partial<Task> = {}, store = tasks): Promise<string> {
  const id = `task_${(count += 1)}`;
  await store.insert(firstRecord(id, change));
  return id;
}

async function read(id: string): Promise<TaskDocument> {
  const found = await documents().findOne({ _id: id });
  if (found === null) throw new Error(`${id} is gone`);
  return found;
}

const sendingBy = (owner: string, candidate = firstCandidate): TaskEvent => {
  return { kind: 'sending', candidate, owner, marker: 'm' };
};
const acceptedAs = (id: string, n = 1): TaskEvent => ({ kind: 'accepted', n, operation: { id } });
const act = (id: string, reason = 'due'): TaskActionRecord => {
  return { id, action: 'fail', by: 'anna', reason, detail: 'done', at: 1 };
};

describe('of simultaneous writers', () => {
  it('exactly one begins the submission, and the others are decided again on its record', async () => {
    const id = await newTask();
    const stores = Array.from({ length: 20 }, openStore);
    for (const store of stores) expect(await store.look(id)).toMatchObject({ rev: 0 });
    const answers = await Promise.all(stores.map((store, n) => store.step(id, sendingBy(`run${n}`))));
    const winners = answers.flatMap((answer, n) => (answer.ok ? [n] : []));
    expect(winners).toHaveLength(1);
    for (const answer of answers.filter(({ ok }) => !ok)) {
      expect(answer).toMatchObject({ code: 'decided', task: { attempts: [{ owner: `run${winners[0]}` }] } });
    }
    expect(await read(id)).toMatchObject({ rev: 1, attempts: [{ n: 1, state: 'sending' }] });
  });

  it('both take effect if both events are possible', async () => {
    const id = await newTask();
    const [one, other] = [openStore(), openStore()];
    await Promise.all([one.look(id), other.look(id)]);
    const extended = (seconds: number): TaskEvent => ({ kind: 'extended', seconds });
    const answers = await Promise.all([one.step(id, extended(60)), other.step(id, extended(600))]);
    expect(answers.map(({ ok }) => ok)).toEqual([true, true]);
    expect(await read(id)).toMatchObject({ rev: 2, deadlineAt: 60_001 + 660_000 });
  });

  it('a submission is claimed again by one of many runs after a refusal, under the same number', async () => {
    const id = await newTask();
    await tasks.step(id, sendingBy('first'));
    const refused = {
      kind: 'not_accepted',
      candidate: firstCandidate,
      n: 1,
      code: 'c',
      message: 'm',
    } as const;
    await tasks.step(id, { ...refused, owner: 'first', stays: true });
    const runs = Array.from({ length: 20 }, (_, n) => openStore().step(id, sendingBy(`run${n}`)));
    expect((await Promise.all(runs)).filter(({ ok }) => ok)).toHaveLength(1);
    expect((await read(id)).attempts).toMatchObject([{ n: 1, state: 'sending' }]);
    // If the first run repeats its event late, the current run must not lose its right to send.
    expect(await tasks.step(id, { ...refused, owner: 'first', stays: true })).toMatchObject({
      code: 'decided',
    });
    expect((await read(id)).attempts).toMatchObject([{ state: 'sending' }]);
  });

  it('either the end or the submission begins, never both', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = await newTask();
      const [sent, wanted] = await Promise.all([
        openStore().step(id, sendingBy('run')),
        openStore().step(id, { kind: 'wanted', stop: 'cancel' }),
      ]);
      const { state, attempts } = await read(id);
      const stop = stopOf(state);
      expect(wanted.ok).toBe(true);
      expect([state.at, attempts.length, stop]).toEqual(
        sent.ok ? ['sending', 1, 'cancel'] : ['ending', 0, undefined],
      );
    }
  });
});

describe('an outdated copy', () => {
  it('leads to no second write', async () => {
    const id = await newTask();
    const old = openStore();
    expect(await old.look(id)).toMatchObject({ rev: 0, attempts: [] });
    await taskDriver(tasks).accept(id);
    const before = await read(id);
    expect(await old.step(id, sendingBy('late'))).toMatchObject({ ok: false, code: 'not_now' });
    const { reads: _reads, ...after } = await read(id);
    expect(after).toEqual(before);
    expect(await old.look(id)).toMatchObject({ rev: before.rev, status: 'submitted' });
  });

  it('causes no refusal: a refusal is based on a record that a write has read', async () => {
    const id = await newTask();
    const old = openStore();
    await taskDriver(tasks).ask(id);
    await old.look(id);
    await tasks.step(id, { kind: 'resubmitted' });
    expect(await old.step(id, sendingBy('run'))).toMatchObject({
      ok: true,
      task: { attempts: [{ n: 1 }, { n: 2 }] },
    });
    expect(await old.step(id, { kind: 'asked' })).toMatchObject({ ok: false, code: 'not_now' });
    expect(await read(id)).toMatchObject({ reads: 2 });
  });

  it('omits no step: a step is skipped only on a record that was read with a write', async () => {
    const id = await newTask();
    const [old, cancel] = [openStore(), { kind: 'wanted', stop: 'cancel' } as const];
    await taskDriver(tasks).accept(id);
    await tasks.step(id, cancel);
    expect(await old.look(id)).toMatchObject({ state: { stop: 'cancel' } });
    await tasks.step(id, { kind: 'unstoppable' });
    expect(await old.step(id, cancel)).toMatchObject({ ok: true, task: { state: { stop: 'cancel' } } });
    expect(await read(id)).toMatchObject({ state: { stop: 'cancel' } });
  });

  it('is dropped on request', async () => {
    const id = await newTask();
    const old = openStore();
    await old.look(id);
    await tasks.step(id, sendingBy('run'));
    expect(await old.look(id)).toMatchObject({ rev: 0 });
    old.forget(id);
    expect(await old.look(id)).toMatchObject({ rev: 1 });
  });
});

describe('a write whose outcome is unknown', () => {
  function losingAnswers(): { readonly store: TaskStore; loseNext: boolean } {
    const losing = { store: tasks, loseNext: false };
    const db = new Proxy(database.db, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (name !== 'collection') return typeof member === 'function' ? member.bind(target) : member;
        return (...asked: Parameters<typeof target.collection>) => {
          const collection = target.collection(...asked);
          return new Proxy(collection, {
            get(inner, method) {
              const own: unknown = Reflect.get(inner, method);
              if (typeof own !== 'function') return own;
              return async (...sent: unknown[]) => {
                const answer: unknown = await own.apply(inner, sent);
                if (method !== 'findOneAndUpdate' || !losing.loseNext) return answer;
                losing.loseNext = false;
                throw new MongoNetworkError('connection 1 closed');
              };
            },
          });
        };
      },
    });
    return Object.assign(losing, { store: createTaskStore(db, Date.now, testSealing) });
  }

  it('has the same result when it is repeated', async () => {
    const id = await newTask();
    const losing = losingAnswers();
    const events: readonly TaskEvent[] = [
      sendingBy('run'),
      { kind: 'lost', n: 1, owner: 'run', code: 'c' },
      acceptedAs('job-same'),
    ];
    for (const event of events) {
      losing.loseNext = true;
      await expect(losing.store.step(id, event)).rejects.toThrow('connection 1 closed');
      const { rev } = await read(id);
      expect(await losing.store.step(id, event)).toMatchObject({ ok: true, task: { rev } });
    }
    expect(await read(id)).toMatchObject({ rev: 3, attempts: [{ n: 1, operation: { id: 'job-same' } }] });
  });

  it('gives no other run the right to send', async () => {
    const id = await newTask();
    const losing = losingAnswers();
    losing.loseNext = true;
    await expect(losing.store.step(id, sendingBy('first'))).rejects.toThrow();
    expect(await losing.store.step(id, sendingBy('second'))).toMatchObject({ ok: false, code: 'decided' });
  });
});

describe('a refusal', () => {
  it('is based on a write that reads, and changes nothing else', async () => {
    const id = await newTask();
    const before = await read(id);
    const refused = await tasks.step(id, { kind: 'approved' });
    expect(refused).toMatchObject({
      ok: false,
      code: 'not_now',
      message: '`approved` is not possible while the task is waiting to be submitted.',
      task: { id, rev: 0 },
    });
    expect(await read(id)).toEqual({ ...before, reads: 1 });
  });

  it('of a task without a record says so, and creates none', async () => {
    expect(await tasks.step('task_none', sendingBy('run'))).toEqual({
      ok: false,
      code: 'absent',
      message: 'The task has no record.',
    });
    expect(await documents().findOne({ _id: 'task_none' })).toBeNull();
  });
});

describe('an operator’s act', () => {
  it('is written once for each id, however many processes write it at once', async () => {
    const id = await newTask();
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => openStore().step(id, { kind: 'acted' }, act('update-1', `${n}`))),
    );
    expect((await read(id)).actions).toHaveLength(1);
    await tasks.step(id, { kind: 'acted' }, act('update-2'));
    expect((await read(id)).actions?.map((action) => action.id)).toEqual(['update-1', 'update-2']);
  });

  it('happens once: its repeat is neither written nor carried out again', async () => {
    const id = await newTask();
    const extend = (store: TaskStore) => store.step(id, { kind: 'extended', seconds: 60 }, act('update-1'));
    expect(await extend(tasks)).toMatchObject({ ok: true });
    for (const store of [tasks, openStore()]) expect(await extend(store)).toMatchObject({ ok: true });
    expect(await read(id)).toMatchObject({ rev: 1, deadlineAt: 120_001 });
  });

  it('was planned for one revision, and is refused at any other', async () => {
    const id = await newTask();
    const extend = (name: string, rev: number) =>
      openStore().step(id, { kind: 'extended', seconds: 60 }, { ...act(name), rev });
    const both = await Promise.all([extend('update-1', 0), extend('update-2', 0)]);
    expect(both.filter(({ ok }) => ok)).toHaveLength(1);
    const refused = { ok: false, message: expect.stringContaining('plan') };
    expect(await extend('update-3', 7)).toMatchObject(refused);
    expect((await read(id)).actions).toHaveLength(1);
    expect((await read(id)).actions?.[0]).not.toHaveProperty('rev');
  });

  it('that could not be carried out is not recorded', async () => {
    const id = await newTask();
    expect(await tasks.step(id, { kind: 'approved' }, act('update-1'))).toMatchObject({ ok: false });
    expect(await read(id)).not.toHaveProperty('actions');
  });

  it('stays readable: the newest hundred are kept', async () => {
    const id = await newTask();
    for (let n = 0; n < 103; n += 1) await tasks.step(id, { kind: 'acted' }, act(`update-${n}`));
    const kept = (await read(id)).actions?.map((action) => action.id) ?? [];
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([100, 'update-3', 'update-102']);
  });
});

describe('an upstream’s job', () => {
  it('belongs to one task of a channel; the same id at another channel is another job', async () => {
    const [first, second, elsewhere] = [await newTask(), await newTask(), await newTask()];
    const drive = taskDriver(tasks);
    await drive.accept(first, 'same');
    await drive.send(second);
    const taken = await tasks.step(second, acceptedAs('same'));
    expect(taken).toMatchObject({
      ok: false,
      code: 'job_taken',
      message: 'The job belongs to another task.',
    });
    expect(await read(second)).toMatchObject({
      state: { at: 'sending', n: 1 },
      attempts: [{ state: 'sending' }],
    });
    expect(await tasks.ownerOf('one/same')).toBe(first);
    await drive.send(elsewhere, secondCandidate);
    expect(await tasks.step(elsewhere, acceptedAs('same'))).toMatchObject({ ok: true });
    expect(await tasks.ownerOf('two/same')).toBe(elsewhere);
  });

  it('is assigned to one of several tasks that claim it at once', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => newTask()));
    for (const id of ids) await taskDriver(tasks).ask(id);
    const adopted: TaskEvent = { kind: 'adopted', operation: { id: 'wanted-by-all' } };
    const answers = await Promise.all(ids.map((id) => openStore().step(id, adopted)));
    expect(answers.map((answer) => (answer.ok ? 'ok' : answer.code)).toSorted()).toEqual([
      ...Array.from({ length: 7 }, () => 'job_taken'),
      'ok',
    ]);
  });

  it('is free after its adoption was undone', async () => {
    const [first, second] = [await newTask(), await newTask()];
    for (const id of [first, second]) await taskDriver(tasks).ask(id);
    const adopted: TaskEvent = { kind: 'adopted', operation: { id: 'named-wrongly' } };
    await tasks.step(first, adopted);
    expect(await tasks.step(second, adopted)).toMatchObject({ code: 'job_taken' });
    await tasks.step(first, { kind: 'undone' });
    expect(await tasks.ownerOf('one/named-wrongly')).toBeUndefined();
    expect(await read(first)).not.toHaveProperty('jobs');
    expect(await tasks.step(second, adopted)).toMatchObject({ ok: true });
    expect(await tasks.ownerOf('one/named-wrongly')).toBe(second);
  });

  it('in a late response is kept beside the attempt, and belongs to no task', async () => {
    const id = await newTask();
    await taskDriver(tasks).ask(id);
    await tasks.step(id, { kind: 'wanted', stop: 'fail' });
    expect(await tasks.step(id, acceptedAs('late-job'))).toMatchObject({ ok: true });
    expect(await read(id)).toMatchObject({ attempts: [{ state: 'abandoned', stray: { id: 'late-job' } }] });
    expect(await tasks.ownerOf('one/late-job')).toBeUndefined();
  });
});

describe('the fields derived from the record', () => {
  const drive = (): ReturnType<typeof taskDriver> => taskDriver(tasks);
  const derived = ['channel', 'credential', 'upstreamId', 'attention', 'jobs', 'owes'] as const;
  const follows = async (id: string) => {
    const document = await read(id);
    return Object.fromEntries(derived.flatMap((name) => (name in document ? [[name, document[name]]] : [])));
  };

  it('are absent before there is a job: no task without one is in the unique index', async () => {
    const ids = [await newTask(), await newTask()];
    for (const id of ids) {
      await drive().send(id);
      expect(await follows(id)).toEqual({});
    }
  });

  it('name the channel of the job, even after the end', async () => {
    const id = await newTask();
    await drive().accept(id, 'job-1');
    const where = { ...firstCandidate, upstreamId: 'job-1', jobs: ['one/job-1'] };
    expect(await follows(id)).toEqual(where);
    await drive().succeed(id, succeededWith('https://files.example/a.mp4'));
    expect(await follows(id)).toEqual(where);
  });

  it('name the possible channel of a lost job, and the concern about it, until it is found', async () => {
    const id = await newTask();
    await drive().lose(id);
    expect(await follows(id)).toEqual(firstCandidate);
    await tasks.step(id, { kind: 'asked' });
    expect(await follows(id)).toEqual({ ...firstCandidate, attention: 'submit_ambiguous' });
    await tasks.step(id, { kind: 'adopted', operation: { id: 'job-2' } });
    expect(await follows(id)).toEqual({ ...firstCandidate, upstreamId: 'job-2', jobs: ['one/job-2'] });
    await tasks.step(id, { kind: 'undone' });
    expect(await follows(id)).toEqual({ ...firstCandidate, attention: 'submit_ambiguous' });
  });

  it('name the newest job of a task whose job was replaced, while the first one stays its own', async () => {
    const id = await newTask({
      plan: {
        candidates: [firstCandidate],
        fallback: { candidates: [secondCandidate], on: ['capacity'], neededSeconds: 0 },
      },
      deadlineAt: Date.now() + 3_600_000,
    });
    const n = await drive().accept(id, 'job-3');
    const failure = { class: 'capacity' } as const;
    const outcome = { kind: 'failed', code: 'c', message: 'm', failure } as const;
    const after = await tasks.step(id, { kind: 'polled', n, outcome, unbilled: true });
    expect(after).toMatchObject({ ok: true, task: { state: { at: 'queued', replaces: true } } });
    const again = await drive().send(id, secondCandidate);
    await tasks.step(id, acceptedAs('job-4', again));
    expect(await follows(id)).toEqual({
      ...secondCandidate,
      upstreamId: 'job-4',
      jobs: ['one/job-3', 'two/job-4'],
    });
    for (const upstreamId of ['job-3', 'job-4']) {
      expect(await tasks.findByUpstreamId(upstreamId)).toMatchObject({ id });
    }
  });

  it('ask for an operator as long as the state does', async () => {
    const id = await newTask();
    const n = await drive().accept(id);
    await tasks.step(id, { kind: 'broken', n, code: 'c' });
    expect(await follows(id)).toMatchObject({ attention: 'poll_failed' });
    await tasks.step(id, { kind: 'resumed' });
    expect(await follows(id)).not.toHaveProperty('attention');
    await drive().polled(id, succeededWith('https://files.example/b.mp4'));
    await tasks.step(id, { kind: 'reviewed', charge: '9', why: 'above_hold' });
    expect(await follows(id)).toMatchObject({ attention: 'charge_review' });
    await tasks.step(id, { kind: 'approved' });
    expect(await follows(id)).not.toHaveProperty('attention');
  });

  it('drop a concern with the state that it was about, whoever recorded it, and at the end', async () => {
    const [running, ended] = [await newTask(), await newTask()];
    for (const id of [running, ended]) {
      await drive().accept(id);
      await openStore().setConcern(id, 'poll_failing');
      expect(await follows(id)).toMatchObject({ attention: 'poll_failing' });
    }
    await tasks.step(running, { kind: 'broken', n: 1, code: 'c' });
    expect(await follows(running)).toMatchObject({ attention: 'poll_failed' });
    await drive().succeed(ended, succeededWith('https://files.example/c.mp4'));
    expect(await follows(ended)).not.toHaveProperty('attention');
    expect(await read(ended)).not.toHaveProperty('concern');
  });

  it('keep a concern through a step that does not change the state', async () => {
    const id = await newTask();
    await drive().accept(id);
    await openStore().setConcern(id, 'overdue');
    await tasks.step(id, { kind: 'extended', seconds: 60 });
    expect(await read(id)).toMatchObject({ concern: 'overdue', attention: 'overdue' });
    await openStore().withdrawConcern(id, 'overdue');
    await tasks.step(id, { kind: 'extended', seconds: 60 });
    expect(await follows(id)).not.toHaveProperty('attention');
  });

  it('contain a pending callback from the end on, if there is an address', async () => {
    const [wanted, unwanted] = [await newTask({ hasCallback: true }), await newTask()];
    await drive().accept(wanted);
    expect(await follows(wanted)).not.toHaveProperty('owes');
    for (const id of [wanted, unwanted]) await drive().fail(id, taskFailures.upstream);
    expect(await follows(wanted)).toMatchObject({ owes: wanted });
    expect(await follows(unwanted)).not.toHaveProperty('owes');
  });
});

describe('a creation', () => {
  const [first, second] = ['00000000000001-first', '00000000000002-second'];
  const creatingAs = (tryId: string): Task['state'] => ({
    at: 'creating',
    tryId,
    round: 1,
    left: [firstCandidate],
    full: [],
  });
  const abandonedBy = (tryId: string): TaskEvent => ({ kind: 'abandoned', tryId });
  const takenOverBy = (tryId: string): TaskEvent => ({ kind: 'taken_over', tryId });

  it('is not abandoned by a try that another one has taken over from', async () => {
    const id = await newTask({ state: creatingAs(first) });
    expect(await openStore().step(id, takenOverBy(second))).toMatchObject({ ok: true });
    expect(await tasks.step(id, abandonedBy(first))).toMatchObject({ ok: false, code: 'decided' });
    expect(await read(id)).toMatchObject({
      status: 'pending',
      state: { at: 'creating', tryId: second },
    });
    expect(await tasks.step(id, abandonedBy(second))).toMatchObject({ ok: true });
  });

  it('knows the hold of an earlier try', async () => {
    const id = await newTask({ state: creatingAs(first) });
    await tasks.step(id, { kind: 'held', hold: 7n });
    expect(await read(id)).toMatchObject({ hold: 7n, state: { tryId: first } });
  });

  it('is neither abandoned nor taken over once the task has begun', async () => {
    const id = await newTask({ state: creatingAs(first) });
    await openStore().step(id, sendingBy('run'));
    for (const event of [abandonedBy(first), takenOverBy(second), { kind: 'held', hold: 7n } as const]) {
      expect(await tasks.step(id, event)).toMatchObject({ ok: false, code: 'decided' });
    }
    expect(await read(id)).toMatchObject({ hold: 1n, attempts: [{ state: 'sending' }] });
  });

  it('is neither abandoned nor taken over once the task waits', async () => {
    for (const event of [abandonedBy(first), takenOverBy(second)]) {
      const id = await newTask({ state: creatingAs(first) });
      await openStore().step(id, { kind: 'begun' });
      expect(await tasks.step(id, event)).toMatchObject({ ok: false, code: 'decided' });
      expect(await read(id)).toMatchObject({ rev: 1, state: { at: 'queued' } });
    }
  });

  it('that was abandoned never becomes a task, and is removed', async () => {
    const id = await newTask({ state: creatingAs(first) });
    expect(await tasks.step(id, abandonedBy(first))).toMatchObject({ ok: true });
    for (const event of [takenOverBy(second), sendingBy('run'), { kind: 'orphaned' } as const]) {
      expect(await openStore().step(id, event)).toMatchObject({ ok: false, code: 'abandoned' });
    }
    expect(await tasks.step(id, abandonedBy(first))).toMatchObject({ ok: true });
    await openStore().setWait(id, { cause: 'slot' });
    expect(await openStore().setConcern(id, 'channel_gone')).toBe(false);
    await tasks.removeAbandoned(id);
    expect(await tasks.find(id)).toBeUndefined();
    expect(await tasks.step(id, takenOverBy(second))).toMatchObject({ code: 'absent' });
  });

  it('that was not abandoned, or was sent, is not removed', async () => {
    const id = await newTask({ state: creatingAs(first) });
    await tasks.removeAbandoned(id);
    await taskDriver(tasks).accept(id);
    await tasks.removeAbandoned(id);
    expect(await read(id)).toMatchObject({ status: 'submitted' });
  });

  it('is abandoned, or the task begins, never both', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = await newTask({ state: creatingAs(first) });
      const [abandoned, sent] = await Promise.all([
        openStore().step(id, abandonedBy(first)),
        openStore().step(id, sendingBy('run')),
      ]);
      expect(abandoned.ok).toBe(!sent.ok);
      expect((await read(id)).state.at).toBe(abandoned.ok ? 'ended' : 'sending');
    }
  });
});

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSealer } from '../../src/access/sealer.ts';
import { taskFailures } from '../../src/task/failures.ts';
import type { TaskOutcome } from '../../src/task/record.ts';
import { createTaskStore } from '../../src/store/tasks.ts';
import { openDatabase } from '../capacity/support.ts';
import type { Sealing } from '../../src/store/sealed-document.ts';
import { testSealing } from '../support/sealing.ts';
import { firstCandidate, firstRecord, secondCandidate, taskDriver } from '../support/task-records.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

const open = (sealing: Sealing = testSealing) =>
  createTaskStore(database.db, Date.now, { ...testSealing, ...sealing });
const stored = async (id: string) => {
  const document = await database.db.collection<{ _id: string }>('tasks').findOne({ _id: id });
  return JSON.stringify(document, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
};

const [first, second, third] = ['no to a heron', 'no to a fjord', 'no to both'];
const failed = {
  kind: 'failed',
  code: 'InvalidParameter',
  message: second,
  failure: { class: 'invalid_input' },
} as const satisfies TaskOutcome;

async function failedTask(id: string) {
  const tasks = open();
  const drive = taskDriver(tasks);
  await tasks.insert(firstRecord(id));
  const n = await drive.send(id);
  const refused = { candidate: firstCandidate, n, owner: 'run', code: 'busy', message: first, stays: true };
  await drive.step(id, { kind: 'not_accepted', ...refused });
  await drive.send(id, firstCandidate);
  await drive.step(id, { kind: 'rejected', n, owner: 'run', code: 'bad', message: third });
  await drive.step(id, {
    kind: 'ended',
    status: 'failed',
    charge: 0n,
    chargeEstimated: false,
    error: { ...taskFailures.upstream, message: second, class: 'invalid_input' },
  });
}

describe('the upstream’s messages about a task', () => {
  it('make it searchable, even after a process without their key has changed it', async () => {
    const tasks = open();
    const foundBy = async (text: string) =>
      (await tasks.findNamed(text)).map(({ by, task }) => [by, task.id]);
    await tasks.insert(firstRecord('task_found'));
    const n = await taskDriver(tasks).send('task_found');
    const said = { code: 'busy', message: 'there is no room for this walrus' };
    await taskDriver(tasks).step('task_found', { kind: 'rejected', n, owner: 'run', ...said });
    expect(await foundBy('WALRUS: busy')).toEqual([['error', 'task_found']]);
    await taskDriver(open(createSealer([randomBytes(32)]))).step('task_found', {
      kind: 'ended',
      status: 'failed',
      charge: 0n,
      chargeEstimated: false,
      error: { ...taskFailures.upstream, message: second, class: 'quota' },
    });
    expect(await foundBy('walrus room')).toEqual([['error', 'task_found']]);
    expect(await foundBy('walrus otter')).toEqual([]);
    expect(await foundBy('FJORD')).toEqual([['error', 'task_found']]);
    expect(await foundBy('walrus fjord')).toEqual([['error', 'task_found']]);
    expect(await foundBy('secrets_key')).toEqual([]);
  });

  it('are in no document in plain text, during its life or afterwards', async () => {
    const tasks = open();
    await tasks.insert(firstRecord('task_lost'));
    const n = await taskDriver(tasks).send('task_lost');
    await tasks.step('task_lost', { kind: 'lost', n, owner: 'run', code: 'http_500', message: first });
    expect((await open().find('task_lost'))?.attempts).toMatchObject([{ code: 'http_500', message: first }]);
    expect(await stored('task_lost')).not.toContain(first);

    await failedTask('task_over');
    const document = await stored('task_over');
    for (const words of [first, second, third]) expect(document).not.toContain(words);
    expect(document).toContain('invalid_input');
    const read = await open().find('task_over');
    expect(read).toMatchObject({
      attempts: [{ code: 'bad', message: third }],
      outcome: { kind: 'failed', code: 'bad', message: `bad: ${third}` },
      error: { code: 'provider_error', class: 'invalid_input', message: second },
    });
    expect(await open().look('task_over')).toEqual(read);
    const page = await open().list({ failureClass: 'invalid_input' }, { limit: 10 });
    expect(page.tasks).toEqual([read]);
  });

  it('of a first record are sealed too', async () => {
    const record = firstRecord('task_whole', { outcome: failed });
    await open().insert(record);
    expect(await open().find('task_whole')).toEqual(record);
    expect(await stored('task_whole')).not.toContain(second);
  });

  it('are removed with their task', async () => {
    const tasks = open();
    const drive = taskDriver(tasks);
    await tasks.insert(firstRecord('task_taken'));
    const n = await drive.send('task_taken');
    await drive.step('task_taken', { kind: 'lost', n, owner: 'run', code: 'http_500', message: first });
    const task = await drive.step('task_taken', { kind: 'accepted', n, operation: { id: 'up-taken' } });
    expect(task.attempts[0]).not.toHaveProperty('message');
    expect(await stored('task_taken')).not.toContain('"words"');
  });

  it('whose key is missing leave the rest of the task readable', async () => {
    await failedTask('task_other');
    const other = open(createSealer([randomBytes(32)]));
    expect(await other.find('task_other')).toMatchObject({
      status: 'failed',
      error: { class: 'invalid_input', message: expect.stringContaining('SECRETS_KEY') },
    });
  });

  it('survive the changes of a process that lacks their key', async () => {
    const id = 'task_both';
    const tasks = database.db.collection<{ _id: string; words: Readonly<Record<string, unknown>> }>('tasks');
    const held = async () => {
      const { words } = (await tasks.findOne({ _id: id })) ?? {};
      return new Map(Object.entries(words ?? {}).map(([part, value]) => [part, JSON.stringify(value)]));
    };
    await open().insert(firstRecord(id));
    const own = taskDriver(open());
    const n = await own.send(id);
    const refused = { n, owner: 'run', code: 'busy', message: first, stays: false };
    await own.step(id, { kind: 'not_accepted', candidate: firstCandidate, ...refused });
    const before = await held();
    expect([...before.keys()]).toEqual(['1']);

    const other = open(createSealer([randomBytes(32)]));
    const drive = taskDriver(other);
    const again = await drive.send(id, secondCandidate);
    await drive.step(id, { kind: 'rejected', n: again, owner: 'run', code: 'bad', message: third });
    const [unread, read] = (await other.find(id))?.attempts ?? [];
    expect(unread?.message).toContain('SECRETS_KEY');
    expect(read?.message).toBe(third);
    const between = await held();
    expect([...between.keys()].toSorted()).toEqual(['1', '2', 'outcome']);
    expect(between.get('1')).toBe(before.get('1'));

    const error = { ...taskFailures.upstream, message: second, class: 'invalid_input' } as const;
    const ended = { kind: 'ended', status: 'failed', charge: 0n, chargeEstimated: false, error } as const;
    await taskDriver(open()).step(id, ended);
    const after = await held();
    expect([...after.keys()].toSorted()).toEqual(['1', '2', 'error', 'outcome']);
    for (const part of ['1', '2', 'outcome']) expect(after.get(part)).toBe(between.get(part));
    expect((await open().find(id))?.attempts[0]?.message).toBe(first);
  });
});

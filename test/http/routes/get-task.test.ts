import { describe, expect, it, onTestFinished } from 'vitest';
import { splitWords } from '../../../src/flight/split-words.ts';
import { operatorRoles } from '../../../src/base/operator.ts';
import { taskFailures } from '../../../src/task/failures.ts';
import { adminCaller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { succeededWith } from '../../support/task-records.ts';

const world = useHttpWorld('route_get_task');

it('shows attempts, ledger entries, callbacks and actions, and not what was asked for', async () => {
  const account = await world.newAccount();
  const id: string = (await account.create({ prompt: 'a very private prompt' })).body.id;
  const { tasks } = world.stores;
  const n = await world.drive.accept(id);
  await world.drive.step(id, { kind: 'accepted', n, operation: { id: 'up-late' } });
  const callback = { task: id, round: 'task', target: 'https://me.example' };
  await tasks.beginCallback(callback);
  await tasks.recordCallback(callback, { at: 1, durationMs: 2, status: 500 }, 'pending');
  const { body, text } = await world.admin('GET', `/tasks/${id}`);
  expect(body).toMatchObject({
    id,
    account: account.id,
    key: account.keyId,
    kind: 'video',
    channel: 'one',
    credential: 'a',
    upstream_id: `up-${id}`,
    hold: '0.500000',
    charge: null,
    needs_attention: null,
    actions: [],
    attempts: [
      {
        n: 1,
        state: 'accepted',
        channel: 'one',
        upstream_id: `up-${id}`,
        stray_upstream_id: 'up-late',
        code: null,
      },
    ],
    ledger: [{ kind: 'hold', amount: '-0.500000', task: id }],
    callback: { state: 'pending', target: 'https://me.example', attempts: [{ status: 500, error: null }] },
  });
  expect(text).not.toContain('private prompt');
});

describe('the situation', () => {
  const newTask = async (): Promise<string> => (await (await world.newAccount()).create()).body.id;
  const situationOf = async (id: string) => (await world.admin('GET', `/tasks/${id}`)).body.situation;
  const nothing = {
    attention: null,
    advice: null,
    where: null,
    upstream_id: null,
    marker: null,
    charge: null,
    charge_per_hold: null,
  };
  const amounts = { charged: '0.000000', released: '0.000000', refunded: '0.000000', unpaid_jobs: 0 };
  const command = (id: string, words: string) => `gateway tasks action ${id} ${words} --reason "…"`;

  it('of a waiting task shows for what and until when it waits', async () => {
    const id = await newTask();
    const { deadline_at: until } = (await world.admin('GET', `/tasks/${id}`)).body;
    expect(await situationOf(id)).toEqual({
      ...nothing,
      name: 'queued',
      what: expect.stringMatching(
        /^The task is being submitted or is waiting for submission \(channels: one, two\)\./,
      ),
      waits_for: 'worker',
      since: expect.any(Number),
      until,
      actions: [
        { name: 'retry_now', access: 'tasks', command: command(id, 'retry_now'), ...amounts },
        { name: 'fail', access: 'tasks', command: command(id, 'fail'), ...amounts, released: '0.500000' },
        { name: 'cancel', access: 'tasks', command: command(id, 'cancel'), ...amounts, released: '0.500000' },
        { name: 'extend', access: 'tasks', command: command(id, 'extend --seconds 3600'), ...amounts },
      ],
    });
    await world.drive.accept(id);
    expect(await situationOf(id)).toMatchObject({
      name: 'waiting',
      what: 'Waiting for one.',
      where: { channel: 'one', credential: 'a' },
      upstream_id: `up-${id}`,
      marker: null,
    });
  });

  it('of a lost submission shows what to look for, where, and what can be done', async () => {
    const id = await newTask();
    await world.drive.ask(id);
    expect(await situationOf(id)).toMatchObject({
      name: 'asking',
      attention: 'submit_ambiguous',
      advice: expect.stringContaining('never resubmitted automatically'),
      where: { channel: 'one', credential: 'a' },
      marker: `mark-${id}-1`,
      actions: [
        { name: 'retry_now' },
        { name: 'adopt', command: command(id, 'adopt --upstream-id ID') },
        { name: 'resubmit', command: command(id, 'resubmit') },
        {
          name: 'complete',
          command: command(id, 'complete --result-url URL'),
          charged: null,
          released: null,
        },
        { name: 'fail', command: command(id, 'fail') },
        { name: 'extend' },
      ],
    });
  });

  it('of a charge that waits for a decision has the charge', async () => {
    const id = await newTask();
    await world.drive.polled(id, succeededWith('https://files.example/a.mp4'));
    await world.drive.step(id, { kind: 'reviewed', charge: '12345678', why: 'above_hold' });
    expect(await situationOf(id)).toMatchObject({
      name: 'review',
      attention: 'charge_review',
      charge: '12.345678',
      actions: [
        { name: 'accept_charge', charged: '12.345678', released: '0.000000' },
        { name: 'complete' },
        { name: 'fail' },
        { name: 'extend' },
      ],
    });
  });

  it('of a task that has ended needs no action, and is the same in the list', async () => {
    const id = await newTask();
    await world.drive.fail(id, taskFailures.upstream);
    const situation = await situationOf(id);
    expect(situation).toEqual({
      ...nothing,
      name: 'ended',
      what: 'The task has ended.',
      waits_for: null,
      since: expect.any(Number),
      until: null,
      actions: [],
    });
    const { data } = (await world.admin('GET', '/tasks?limit=100')).body;
    expect(data.find((task: { id: string }) => task.id === id).situation).toEqual(situation);
  });
});

describe('what it waits for', () => {
  const shown = async (id: string) => (await world.admin('GET', `/tasks/${id}`)).body.waiting;
  const newTask = async (): Promise<string> => (await (await world.newAccount()).create()).body.id;

  it('is reported even if Temporal has no activity', async () => {
    const id = await newTask();
    const quiet = { activity: null, message: null, polls: null, since: expect.any(Number) };
    expect(await shown(id)).toMatchObject({ reason: 'worker', ...quiet });
    await world.stores.tasks.setWait(id, { cause: 'slot' });
    expect(await shown(id)).toMatchObject({ reason: 'slot', ...quiet });
    await world.drive.ask(id);
    expect(await shown(id)).toMatchObject({ reason: 'submit_ambiguous', ...quiet });
    await world.drive.fail(id, taskFailures.upstream);
    expect(await shown(id)).toBeNull();
  });

  it.each([
    ['paused', /paused in Temporal/],
    ['no_worker', /No worker has begun the task’s next step/],
  ] as const)('is, above all else, that no worker serves it: %s', async (stall, message) => {
    const id = await newTask();
    const waiting = () => Promise.resolve({ stall, activity: 'submit', message: 'submitted' });
    const node = await world.startNode({ port: { ...world.port, waiting } });
    onTestFinished(() => node.close(0));
    expect((await node.admin('GET', `/tasks/${id}`)).body.waiting).toMatchObject({
      reason: stall,
      activity: 'submit',
      message: expect.stringMatching(message),
    });
  });
});

const operator = async (name: string, role: string) =>
  adminCaller(world.url, (await world.admin('POST', '/operators', { name, roles: [role] })).body.token);

it('shows result links to operators who may act, and without their access part to readers', async () => {
  const id: string = (await (await world.newAccount()).create()).body.id;
  const [link, frame] = [
    'https://cdn.example/a.mp4?X-Signature=secret',
    'https://cdn.example/f.png?sig=secret',
  ];
  const items = [{ url: link, lastFrameUrl: frame, expiresAt: 7 }, { base64: 'QUJD' }];
  await world.drive.succeed(id, { kind: 'succeeded', items, facts: {} });
  const seenBy = async (role: string) => {
    const admin = await operator(`r-${role}`, role);
    const one = (await admin('GET', `/tasks/${id}`)).body;
    const { data } = (await admin('GET', '/tasks?limit=100')).body;
    const listed = data.find((task: { id: string }) => task.id === id);
    expect([listed.data, listed.video_url]).toEqual([one.data, one.video_url]);
    return { data: one.data, video_url: one.video_url };
  };
  expect(await seenBy('everything')).toEqual({
    data: [{ url: link, last_frame_url: frame, expires_at: 7 }, { b64_json: 'QUJD' }],
    video_url: link,
  });
  const [bare, bareFrame] = ['https://cdn.example/a.mp4', 'https://cdn.example/f.png'];
  expect(await seenBy('read')).toEqual({
    data: [{ url: bare, last_frame_url: bareFrame, expires_at: 7 }, {}],
    video_url: bare,
  });
});

it('shows an upstream’s message without the prompt that it repeats', async () => {
  const account = await world.newAccount();
  // Each word has at least five letters, because a random id may happen to contain a shorter word.
  const prompt = 'violet hedgehog juggles marmalade';
  const id: string = (await account.create({ prompt })).body.id;
  const request = (await world.stores.requests.find(id))?.request;
  const said = splitWords(`the prompt "VIOLET hedgehog, juggles\\nmarmalade" is not allowed`, request);
  const failure = { class: 'moderation_input' } as const;
  const n = await world.drive.send(id);
  await world.drive.step(id, { kind: 'rejected', n, owner: 'run', code: 'moderated', ...said, failure });
  for (const role of [...operatorRoles, 'everything']) {
    const admin = await operator(`said-${role}`, role);
    const one = await admin('GET', `/tasks/${id}`);
    const texts = [
      one.text,
      (await admin('GET', '/tasks?limit=100')).text,
      (await admin('GET', `/find?text=${id}`)).text,
      (await admin('GET', `/tasks/${id}/record`)).text,
    ];
    expect(one.body.attempts[0]).toMatchObject({ code: 'moderated', message: '[caller]' });
    expect(texts.join()).not.toMatch(/violet|hedgehog|juggles|marmalade/i);
  }
});

it('shows withheld links whole to operators who may act, and without their access part to readers', async () => {
  const id: string = (await (await world.newAccount()).create()).body.id;
  const links = ['https://user:pass@cdn.example/a.mp4?X-Signature=secret#f', 'no\u001Blink'];
  const failure = { class: 'internal' } as const;
  await world.drive.polled(id, {
    kind: 'failed',
    code: 'unusable_link',
    message: 'x',
    failure,
    withheld: links,
  });
  const seenBy = async (role: string) => {
    const admin = await operator(`w-${role}`, role);
    const { data } = (await admin('GET', '/tasks?limit=100')).body;
    return [
      (await admin('GET', `/tasks/${id}`)).body.withheld_links,
      data.find((task: { id: string }) => task.id === id).withheld_links,
    ];
  };
  expect(await seenBy('everything')).toEqual([links, links]);
  const bare = ['https://cdn.example/a.mp4', '[url]'];
  expect(await seenBy('read')).toEqual([bare, bare]);
});

it('404', async () => {
  const answer = await world.admin('GET', '/tasks/none');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
});

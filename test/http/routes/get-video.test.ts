import { describe, expect, it, onTestFinished } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';
import { classified } from '../../../src/task/task.ts';
import { learnedTimes, type RenderKind } from '../../../src/models/render-times.ts';
import { caller, type TestAccount } from '../../support/client.ts';
import { succeededWith } from '../../support/task-records.ts';

const world = useHttpWorld('http_get_video');

async function newTask(): Promise<{ account: TestAccount; id: string; path: string }> {
  const account = await world.newAccount();
  const { body } = await account.create();
  return { account, id: body.id, path: `/v1/videos/generations/${body.id}` };
}

async function succeed(id: string): Promise<void> {
  const [url, lastFrameUrl] = ['https://cdn.example/v.mp4', 'https://cdn.example/f.png'];
  const items = [{ url, lastFrameUrl, expiresAt: 1_900_000_000 }];
  const usage = { completionTokens: 108_900, totalTokens: 108_900 };
  const facts = { usage, durationSeconds: 5.04 };
  await world.drive.succeed(id, { kind: 'succeeded', items, facts }, 1n, 'trace-1');
}

describe('fields in each state', () => {
  it('pending', async () => {
    const { account, id, path } = await newTask();
    const { body } = await account.call('GET', path);
    expect(body).toEqual({
      id,
      task_id: id,
      object: 'video.generation.task',
      status: 'pending',
      message: expect.stringMatching(
        /^The task is waiting to be submitted. No worker has taken it yet\. Since 20\S+Z\.$/,
      ),
      estimate: '0.500000',
      trace_id: '',
      model: 'clip',
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      data: [],
    });
  });

  it('submitted, then running with progress', async () => {
    const { account, id, path } = await newTask();
    const { tasks } = world.stores;
    await world.drive.accept(id, `up-${id}`, 'trace-9');
    expect((await account.call('GET', path)).body).toMatchObject({
      status: 'submitted',
      trace_id: 'trace-9',
      data: [],
    });
    await tasks.step(id, { kind: 'rendering', n: 1 });
    await tasks.recordProgress(id, { progress: 40 });
    const { body } = await account.call('GET', path);
    expect(body).toMatchObject({ status: 'running', progress: 40, data: [] });
    expect(JSON.stringify(body)).not.toMatch(/up-task_|credential|channel/);
  });

  it('a result that is not paid for yet stays hidden', async () => {
    const { account, id, path } = await newTask();
    await world.drive.polled(id, succeededWith('https://cdn.example/v.mp4'));
    const { text, body } = await account.call('GET', path);
    expect(body).toMatchObject({ status: 'submitted', data: [] });
    expect(text).not.toContain('cdn.example');
  });

  it('succeeded', async () => {
    const { account, id, path } = await newTask();
    await succeed(id);
    const { body } = await account.call('GET', path);
    expect(body).toEqual({
      id,
      task_id: id,
      object: 'video.generation.task',
      status: 'succeeded',
      message: 'The task succeeded.',
      trace_id: 'trace-1',
      model: 'clip',
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      completed_at: expect.any(Number),
      progress: 100,
      charge: '0.000001',
      data: [
        {
          url: 'https://cdn.example/v.mp4',
          last_frame_url: 'https://cdn.example/f.png',
          expires_at: 1_900_000_000,
        },
      ],
      video_url: 'https://cdn.example/v.mp4',
      duration: 5.04,
      usage: { completion_tokens: 108_900, total_tokens: 108_900 },
    });
  });

  it('succeeded: the headers report the charge, but not to a client that already has the response', async () => {
    const { account, id, path } = await newTask();
    const unfinished = await account.call('GET', path);
    await succeed(id);
    const finished = await account.call('GET', path);
    const headers = { 'if-none-match': finished.headers.etag ?? '' };
    const known = await account.call('GET', path, { headers });
    const costs = [unfinished, finished, known].map((answer) => [
      answer.headers['x-mediary-cost'],
      answer.headers['x-litellm-response-cost'],
    ]);
    expect(known.status).toBe(304);
    expect(costs).toEqual([
      [undefined, undefined],
      ['0.000001', '0.000001'],
      [undefined, undefined],
    ]);
  });

  it('succeeded, and the upstream has reported a link and nothing else', async () => {
    const { account, id, path } = await newTask();
    await world.drive.succeed(id, succeededWith('https://cdn.example/v.mp4'));
    const { body } = await account.call('GET', path);
    expect(body).toMatchObject({
      video_url: 'https://cdn.example/v.mp4',
      duration: 5,
      usage: { completion_tokens: 0, total_tokens: 0 },
    });
  });

  it('failed', async () => {
    const { account, id, path } = await newTask();
    const error = { code: 'provider_error', message: 'The prompt was refused.' } as const;
    await world.drive.fail(id, classified(error));
    const { body } = await account.call('GET', path);
    expect(body).toMatchObject({ status: 'failed', message: 'The task failed.', data: [], error });
    expect(body).not.toHaveProperty('usage');
    expect(body).not.toHaveProperty('video_url');
    expect(body.error).toEqual({ ...error, class: 'internal' });
  });

  it.each([
    [{ class: 'moderation_input', input: 'image' }],
    [{ class: 'invalid_input', field: 'ratio' }],
    [{ class: 'capacity' }],
  ] as const)('failed, of %j', async (failure) => {
    const { account, id, path } = await newTask();
    const error = { code: 'provider_error', message: 'No.', ...failure } as const;
    await world.drive.fail(id, error);
    expect((await account.call('GET', path)).body.error).toEqual(error);
  });
});

describe('visibility of a task', () => {
  it.each([
    ['unknown', () => '/v1/videos/generations/task_0000000000000000000000'],
    ['no id of ours', () => '/v1/videos/generations/x'],
    ['an operator', () => '/v1/videos/generations/%7B%22%24ne%22%3A1%7D'],
    ['a very long one', () => `/v1/videos/generations/task_${'a'.repeat(4_000)}`],
  ])('404: %s', async (_, path) => {
    const { account } = await newTask();
    const answer = await account.call('GET', path());
    expect(answer.status).toBe(404);
    expect(answer.body.error).toEqual({
      message: 'There is no task with this id.',
      type: 'invalid_request_error',
      param: 'task_id',
      code: 'task_not_found',
    });
  });

  it('404: another account’s task, in the same words', async () => {
    const { path } = await newTask();
    const stranger = await world.newAccount();
    const [theirs, unknown] = await Promise.all([
      stranger.call('GET', path),
      stranger.call('GET', '/v1/videos/generations/task_0000000000000000000000'),
    ]);
    expect([theirs.status, theirs.text]).toEqual([404, unknown.text]);
  });

  it('another key of the same account sees it if it reads the account', async () => {
    const { account, path } = await newTask();
    for (const [scopes, status] of [
      [['read_own'], 404],
      [['read_account'], 200],
    ] as const) {
      const { body } = await world.admin('POST', '/keys', { account: account.id, scopes });
      expect((await world.call('GET', path, { key: body.key })).status).toBe(status);
    }
  });

  it.each(['/v1/videos/generations/', '/v1/video/generations/'])(
    '400: task_id is absent in %s',
    async (path) => {
      const { account } = await newTask();
      const answer = await account.call('GET', path);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({ code: 'missing_parameter', param: 'task_id' });
    },
  );
});

describe('etag and retry-after', () => {
  it('304 to the version that the caller has, 200 after a change', async () => {
    const { account, id, path } = await newTask();
    const first = await account.call('GET', path);
    const { etag = '' } = first.headers;
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const match of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await account.call('GET', path, { headers: { 'if-none-match': match } });
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
    }
    expect((await account.call('GET', path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    await succeed(id);
    const changed = await account.call('GET', path, { headers: { 'if-none-match': etag } });
    expect([changed.status, changed.body.status]).toEqual([200, 'succeeded']);
    expect(changed.headers.etag).not.toBe(etag);
  });

  it('retry-after is 2-5 seconds while unfinished, and absent afterwards', async () => {
    const createdAt = Date.now();
    world.clock.stoppedAt = createdAt;
    const { account, id, path } = await newTask();
    for (const [elapsedMs, expected] of [
      [0, '5'],
      [45_000, '2'],
      [60_000, '2'],
      [300_000, '5'],
    ] as const) {
      world.clock.stoppedAt = createdAt + elapsedMs;
      expect((await account.call('GET', path)).headers['retry-after']).toBe(expected);
    }
    world.clock.stoppedAt = undefined;
    await succeed(id);
    expect((await account.call('GET', path)).headers['retry-after']).toBeUndefined();
  });
});

describe('?wait=', () => {
  it('responds as soon as the status changes', async () => {
    const { account, id, path } = await newTask();
    // Accept the task first, so that requests that start waiting below see exactly one change.
    await world.drive.accept(id);
    const startedAt = Date.now();
    const waiting = account.call('GET', `${path}?wait=30`);
    setTimeout(() => void succeed(id), 300);
    const answer = await waiting;
    expect(answer.body.status).toBe('succeeded');
    expect(Date.now() - startedAt).toBeLessThan(29_000);
    expect(answer.headers.etag).toBeDefined();
  });

  it('responds with the current state when the time is over', async () => {
    const { account, path } = await newTask();
    const startedAt = Date.now();
    const answer = await account.call('GET', `${path}?wait=1`);
    const took = Date.now() - startedAt;
    expect([answer.status, answer.body.status]).toEqual([200, 'pending']);
    expect(took).toBeGreaterThanOrEqual(950);
  });

  it('progress is not a change of status', async () => {
    const { account, id, path } = await newTask();
    const waiting = account.call('GET', `${path}?wait=1`);
    await world.stores.tasks.recordProgress(id, { progress: 10 });
    expect((await waiting).body.status).toBe('pending');
  });

  it('a finished task, or a caller with an old copy, gets a response at once', async () => {
    const { account, id, path } = await newTask();
    const startedAt = Date.now();
    await account.call('GET', `${path}?wait=30`, { headers: { 'if-none-match': '"old"' } });
    await succeed(id);
    await account.call('GET', `${path}?wait=30`);
    expect(Date.now() - startedAt).toBeLessThan(29_000);
  });

  it('with if-none-match, the response at the end of the wait is a 304', async () => {
    const { account, path } = await newTask();
    const { etag = '' } = (await account.call('GET', path)).headers;
    const answer = await account.call('GET', `${path}?wait=0.5`, { headers: { 'if-none-match': etag } });
    expect(answer.status).toBe(304);
  });

  it.each(['-1', '31', 'x', '1e9', 'NaN'])('400: wait=%s', async (wait) => {
    const { account, path } = await newTask();
    const answer = await account.call('GET', `${path}?wait=${wait}`);
    expect([answer.status, answer.body.error.param]).toEqual([400, 'wait']);
  });

  it('another account cannot wait for it', async () => {
    const { path } = await newTask();
    const stranger = await world.newAccount();
    expect((await stranger.call('GET', `${path}?wait=30`)).status).toBe(404);
  });

  it('many waiters cost one query at a time', async () => {
    // The clock stands still, so that no wait ends before the last one has started.
    world.clock.stoppedAt = Date.now();
    onTestFinished(() => void (world.clock.stoppedAt = undefined));
    const asked: (readonly string[])[] = [];
    let inFlight = 0;
    let inFlightMax = 0;
    const { tasks } = world.stores;
    const node = await world.startNode({
      tasks: {
        ...tasks,
        findMany: async (ids) => {
          asked.push(ids);
          inFlightMax = Math.max(inFlightMax, (inFlight += 1));
          try {
            return await tasks.findMany(ids);
          } finally {
            inFlight -= 1;
          }
        },
      },
    });
    const { account, id, path } = await newTask();
    // Accept the task first. Otherwise, the waiting requests would respond when it is submitted, before it succeeds.
    await world.drive.accept(id);
    const waiting = Array.from({ length: 50 }, () =>
      node.call('GET', `${path}?wait=30`, { key: account.key }),
    );
    const areWaiting = async () =>
      /^mediary_http_waiting_requests(?:\{[^}]*\})? 50$/m.test(await node.deps.metrics.render());
    await expect.poll(areWaiting).toBe(true);
    const before = asked.length;
    await expect.poll(() => asked.length).toBeGreaterThan(before + 1);
    await succeed(id);
    const answers = await Promise.all(waiting);
    expect(new Set(answers.map(({ body }) => body.status))).toEqual(new Set(['succeeded']));
    expect(inFlightMax).toBe(1);
    expect(new Set(asked.map((ids) => ids.join()))).toEqual(new Set([id]));
  });
});

describe('eta_seconds', () => {
  it('depends on the request, not only on the model', async () => {
    const { account, id, path } = await newTask();
    const asked: RenderKind[] = [];
    const times = (kind: RenderKind) => {
      asked.push(kind);
      return undefined;
    };
    const { url } = await world.startNode({ renders: { times } });
    await world.drive.accept(id);
    await caller(url, account.key)('GET', path);
    expect(asked).toEqual([{ channel: 'one', model: 'clip', output: '720p/5' }]);
  });

  const samples = Array.from({ length: 20 }, (_, n) => ({ ms: 600_000 + n * 10_000, at: 0 }));
  const node = () => world.startNode({ renders: { times: () => learnedTimes(samples, 0) } });

  it('reports when half and nine tenths of such tasks have ended, and retry-after follows it', async () => {
    const { account, id, path } = await newTask();
    const { url } = await node();
    const get = (headers = {}) => caller(url, account.key)('GET', path, { headers });
    const before = await get();
    expect(before.body).not.toHaveProperty('eta_seconds');
    await world.drive.accept(id);
    const { body, headers } = await get();
    expect(body.eta_seconds.p50).toBeGreaterThan(650);
    expect(body.eta_seconds.p90).toBeGreaterThan(body.eta_seconds.p50);
    expect(body.eta_seconds.p90).toBeLessThanOrEqual(790);
    expect(headers['retry-after']).toBe('5');
    const unchanged = await get({ 'if-none-match': headers.etag });
    expect(unchanged.status).toBe(304);
    await succeed(id);
    expect((await get()).body).not.toHaveProperty('eta_seconds');
  });
});

import { describe, expect, it } from 'vitest';
import { useHttpWorld, videoBody } from '../support/http-world.ts';

const world = useHttpWorld('http_other_operations');

describe('cancelVideo', () => {
  it('ends the task and gives the hold back', async () => {
    const account = await world.newAccount();
    const { body } = await account.create();
    const answer = await account.call('POST', `/v1/videos/generations/${body.id}/cancel`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      id: body.id,
      status: 'failed',
      data: [],
      error: { code: 'task_cancelled' },
    });
    expect((await account.call('GET', '/v1/balance')).body).toMatchObject({
      available: '100.000000',
      held: '0.000000',
    });
  });

  it('409: the upstream refuses, and the task goes on', async () => {
    const account = await world.newAccount();
    const { body } = await account.create();
    world.port.refuseCancel = true;
    const answer = await account.call('POST', `/v1/video/generations/${body.id}/cancel`);
    world.port.refuseCancel = false;
    expect([answer.status, answer.body.error.code]).toEqual([409, 'task_not_cancellable']);
    expect((await account.call('GET', `/v1/videos/generations/${body.id}`)).body.status).toBe('pending');
  });

  it('409: it is over already', async () => {
    const account = await world.newAccount();
    const { body } = await account.create();
    await account.call('POST', `/v1/videos/generations/${body.id}/cancel`);
    const answer = await account.call('POST', `/v1/videos/generations/${body.id}/cancel`);
    expect([answer.status, answer.body.error.code]).toEqual([409, 'task_not_cancellable']);
  });

  it('404: unknown, and another account’s', async () => {
    const account = await world.newAccount();
    const stranger = await world.newAccount();
    const { body } = await account.create();
    for (const id of ['x', 'task_0000000000000000000000', body.id]) {
      const answer = await stranger.call('POST', `/v1/videos/generations/${id}/cancel`);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
    }
  });
});

describe('estimateVideo', () => {
  const estimate = async (body: object, headers = {}) => {
    const { call } = await world.newAccount();
    return call('POST', '/v1/videos/generations/estimate', { body: { ...videoBody, ...body }, headers });
  };

  it('the hold, the expected charge and the rule', async () => {
    const answer = await estimate({ duration: -1, seconds: '5' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      object: 'video.generation.estimate',
      model: 'clip',
      currency: 'USD',
      hold: '1.200000',
      expected: '0.500000',
      price: { unit: 'second', rule: 1, when: {}, price: '0.100000', quantity: 5 },
      warnings: ['seconds'],
    });
  });

  it('creates nothing and needs no balance', async () => {
    const account = await world.newAccount({ credit: '0' });
    const answer = await account.call('POST', '/v1/video/generations/estimate', { body: videoBody });
    expect(answer.status).toBe(200);
    expect((await account.call('GET', '/v1/videos/generations')).body.data).toEqual([]);
  });

  it('with x-explain-route it says which channels would be tried and why others would not', async () => {
    const { body } = await estimate({}, { 'x-explain-route': '1' });
    expect(body.route.candidates).toEqual([
      { channel: 'one', credential: 'a' },
      { channel: 'two', credential: 'b' },
    ]);
    expect(body.route.dropped).toEqual([
      { channel: 'three', reason: 'model_not_served', detail: expect.any(String) },
    ]);
  });

  it('refuses what a create refuses', async () => {
    const answer = await estimate({ images: ['https://forbidden.example/'] });
    expect([answer.status, answer.body.error.param]).toEqual([400, 'images[0]']);
  });
});

describe('models', () => {
  it('what the key may use, with capabilities and prices', async () => {
    const { call } = await world.newAccount();
    const { body } = await call('GET', '/v1/models');
    expect(body.object).toBe('list');
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['clip', 'plain', 'other', 'picture']);
    expect(body.data[0]).toMatchObject({
      object: 'model',
      created: expect.any(Number),
      owned_by: 'mediary',
      kind: 'video',
      capabilities: {
        resolutions: ['720p', '480p', '1080p'],
        durations: { min: 2, max: 12, default: 5, auto: true },
      },
      pricing: {
        currency: 'USD',
        unit: 'second',
        rules: [
          { when: { resolution: ['1080p'] }, price: '0.200000' },
          { when: {}, price: '0.100000' },
        ],
      },
    });
    expect((await call('GET', '/v1/models/clip')).body).toEqual(body.data[0]);
  });

  it('hides what the key may not use', async () => {
    const byModel = await world.newAccount({ key: { models: ['plain'] } });
    expect((await byModel.call('GET', '/v1/models')).body.data).toHaveLength(1);
    expect((await byModel.call('GET', '/v1/models/clip')).body.error.code).toBe('model_not_allowed');
    const byChannel = await world.newAccount({ key: { channels: ['three'] } });
    expect((await byChannel.call('GET', '/v1/models')).body.data).toHaveLength(1);
    expect((await byChannel.call('GET', '/v1/models/clip')).body.error.code).toBe('channel_not_allowed');
  });

  it('an unknown model', async () => {
    const { call } = await world.newAccount();
    const answer = await call('GET', '/v1/models/nothing');
    expect([answer.status, answer.body.error.code]).toEqual([404, 'model_not_found']);
    expect(answer.body.error.type).toBe('invalid_request_error');
  });
});

it('getBalance: decimal strings of six places', async () => {
  const { call } = await world.newAccount({ credit: '0.000001' });
  expect((await call('GET', '/v1/balance')).body).toEqual({
    object: 'balance',
    currency: 'USD',
    available: '0.000001',
    held: '0.000000',
  });
});

describe('service', () => {
  it('healthz and readyz', async () => {
    expect((await world.call('GET', '/healthz')).body).toEqual({ status: 'ok' });
    expect((await world.call('GET', '/readyz')).body).toEqual({ status: 'ready' });
  });

  it('readyz names what is missing', async () => {
    world.clock.aheadMs += 1_000;
    world.port.notReady = new Error('no worker');
    const node = await world.startNode({ pingMongo: () => Promise.reject(new Error('down')) });
    const [temporal, both] = await Promise.all([world.call('GET', '/readyz'), node.call('GET', '/readyz')]);
    world.port.notReady = undefined;
    world.clock.aheadMs = 0;
    expect([temporal.status, temporal.body.error.message]).toEqual([503, 'Not ready: temporal.']);
    expect([both.status, both.body.error.message]).toEqual([503, 'Not ready: mongodb, temporal.']);
    expect(both.headers['retry-after']).toBe('5');
  });

  it('a check that never ends is missing too', { timeout: 10_000 }, async () => {
    const node = await world.startNode({ pingMongo: () => new Promise(() => {}) });
    expect((await node.call('GET', '/readyz')).status).toBe(503);
  });

  it('readyz asks the servers once a second, however often it is asked', async () => {
    let asked = 0;
    let now = 1_000_000;
    const node = await world.startNode({
      now: () => now,
      pingMongo: async () => {
        asked += 1;
        await new Promise((resolve) => setTimeout(resolve, 50));
      },
    });
    const ask = async () => (await node.call('GET', '/readyz')).status;
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200]);
    now += 999;
    expect([await ask(), asked]).toEqual([200, 1]);
    now += 1;
    expect([await ask(), asked]).toEqual([200, 2]);
  });

  it('metrics carry operations and outcomes, and nothing of callers', async () => {
    const account = await world.newAccount();
    await account.create({ prompt: 'a secret prompt' });
    await account.create({ model: 'nothing' });
    const answer = await world.call('GET', '/metrics');
    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
    expect(answer.text).toContain('mediary_http_request_seconds_count{operation="createVideo",status="200"}');
    expect(answer.text).toContain('mediary_create_requests_total{outcome="model_not_found"}');
    expect(answer.text).not.toMatch(new RegExp(`secret prompt|${account.id}|${account.keyId}|task_`));
  });

  it('metrics can be served elsewhere', async () => {
    const node = await world.startNode({ exposeMetrics: false });
    expect((await node.call('GET', '/metrics')).status).toBe(404);
  });
});

describe('requests a minute', () => {
  it('hold across nodes, and say when to come back', async () => {
    const { key } = await world.newAccount({ key: { requests_per_minute: 5 } });
    const node = await world.startNode();
    const minute = 60_000;
    world.clock.aheadMs = minute - (Date.now() % minute) + 10_000;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? world : node).call('GET', '/v1/balance', { key }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(3);
    expect(refused[0]?.body.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
    expect(refused[0]?.headers).toMatchObject({
      'x-ratelimit-limit-requests': '5',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': expect.stringMatching(/^\d+s$/),
      'retry-after': expect.stringMatching(/^\d+$/),
    });
    const passed = answers
      .filter(({ status }) => status === 200)
      .map(({ headers }) => headers['x-ratelimit-remaining-requests']);
    expect(new Set(passed)).toEqual(new Set(['0', '1', '2', '3', '4']));
    world.clock.aheadMs += minute;
    expect((await world.call('GET', '/v1/balance', { key })).status).toBe(200);
    world.clock.aheadMs = 0;
  });

  it('a key without a limit of its own has the one of all keys, which costs nothing', async () => {
    const node = await world.startNode({
      rateLimits: { count: () => Promise.reject(new Error('asked')) },
      limits: { keyRequestsPerMinute: 3 },
      now: () => 1_000_000,
    });
    const [a, b] = [await world.newAccount(), await world.newAccount()];
    const statuses = async (key: string) => {
      const answers = await Promise.all([1, 2, 3, 4].map(() => node.call('GET', '/v1/models', { key })));
      return answers.map(
        ({ status, headers }) => `${status} ${String(headers['x-ratelimit-remaining-requests'])}`,
      );
    };
    const expected = ['200 0', '200 1', '200 2', '429 0'];
    expect((await statuses(a.key)).toSorted()).toEqual(expected);
    expect((await statuses(b.key)).toSorted()).toEqual(expected);
  });

  it('a key has a limit of requests in progress, and another key is not concerned', async () => {
    let finish = (): void => {};
    const slow = new Promise<void>((resolve) => (finish = resolve));
    const node = await world.startNode({
      limits: { keyConcurrentRequests: 2 },
      createTask: async ({ request: { model } }) => {
        await slow;
        return { id: 'task_1', model, createdAt: 0, warnings: [], replayed: false };
      },
    });
    const [a, b] = [await world.newAccount(), await world.newAccount()];
    const create = ({ key }: { key: string }) =>
      node.call('POST', '/v1/videos/generations', { key, body: { model: 'clip', prompt: 'a boat' } });
    const creating = [create(a), create(a)];
    await expect.poll(async () => (await node.call('GET', '/v1/models', { key: a.key })).status).toBe(429);
    const refused = await node.call('GET', '/v1/models', { key: a.key });
    expect(refused.body.error.code).toBe('rate_limit_exceeded');
    expect(refused.headers['retry-after']).toBe('1');
    expect((await node.call('GET', '/v1/models', { key: b.key })).status).toBe(200);
    finish();
    expect((await Promise.all(creating)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await node.call('GET', '/v1/models', { key: a.key })).status).toBe(200);
  });

  it('without a default limit nothing is counted', async () => {
    const node = await world.startNode({
      rateLimits: { count: () => Promise.reject(new Error('asked')) },
      limits: { keyRequestsPerMinute: 0 },
    });
    const { key } = await world.newAccount();
    const answer = await node.call('GET', '/v1/balance', { key });
    expect(answer.status).toBe(200);
    expect(answer.headers['x-ratelimit-limit-requests']).toBeUndefined();
  });
});

describe('receiveUpstreamCallback', () => {
  async function newTask() {
    const account = await world.newAccount();
    const { body } = await account.create();
    const record = await world.stores.requests.find(body.id);
    return { id: body.id as string, path: `/callbacks/upstream/${body.id}/${record?.callbackToken}` };
  }

  const markSubmitted = (id: string) =>
    world.stores.tasks.markSubmitted(id, {
      version: BigInt(Date.now()) * 1000n,
      channel: 'one',
      credential: 'a',
      upstreamId: `up-${id}`,
      traceId: '',
    });

  it('wakes the poller when the adapter says that there is news', async () => {
    const { id, path } = await newTask();
    await markSubmitted(id);
    expect((await world.call('POST', path, { body: { done: false } })).body).toEqual({ status: 'ok' });
    expect(world.port.woken).not.toContain(id);
    expect((await world.call('POST', path, { body: { done: true } })).status).toBe(200);
    expect(world.port.woken).toContain(id);
  });

  it('wakes it in any case before the channel is known', async () => {
    const { id, path } = await newTask();
    await world.call('POST', path, { body: {} });
    expect(world.port.woken).toContain(id);
  });

  it('before the answer to the submission the attempt says who calls', async () => {
    const { id, path } = await newTask();
    await world.stores.attempts.begin(
      { task: id, n: 1, channel: 'one', credential: 'a', marker: 'm' },
      'run',
    );
    await world.call('POST', path, { body: { done: false } });
    expect(world.port.woken).not.toContain(id);
    await world.call('POST', path, { body: { done: true } });
    expect(world.port.woken).toContain(id);
  });

  it('answers the challenge of an upstream that tries the address', async () => {
    const { id, path } = await newTask();
    await markSubmitted(id);
    const answer = await world.call('POST', path, { body: { challenge: 'c0ffee' } });
    expect(answer.body).toEqual({ challenge: 'c0ffee' });
    expect(world.port.woken).not.toContain(id);
  });

  it('a forged signature is ignored, and one that cannot be checked is a hint like any other', async () => {
    const { id, path } = await newTask();
    await markSubmitted(id);
    const send = (signature: string) =>
      world.call('POST', path, { body: { done: true }, headers: { 'x-signature': signature } });
    expect((await send('forged')).status).toBe(200);
    expect(world.port.woken).not.toContain(id);
    await send('unverifiable');
    expect(world.port.woken).toContain(id);
  });

  it.each([
    ['no JSON', 'not json', 'text/plain'],
    ['nothing', undefined, 'application/json'],
    ['a list', '[1]', 'application/json'],
    ['no media type', '{}', ''],
  ])('takes %s', async (_, body, type) => {
    const { path } = await newTask();
    expect((await world.call('POST', path, { body, headers: { 'content-type': type } })).status).toBe(200);
  });

  it('404: a wrong token, an unknown task', async () => {
    const { id, path } = await newTask();
    const paths = [
      `/callbacks/upstream/${id}/wrong`,
      `${path}x`,
      path.slice(0, -1),
      path.replace(id, 'task_0000000000000000000000'),
    ];
    for (const wrong of paths) {
      const answer = await world.call('POST', wrong, { body: { done: true } });
      expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
    }
    expect(world.port.woken).not.toContain(id);
  });

  it('413: more than 64 KB, 415: encoded', async () => {
    const { path } = await newTask();
    expect((await world.call('POST', path, { body: 'x'.repeat(65_537) })).status).toBe(413);
    expect(
      (await world.call('POST', path, { body: 'x', headers: { 'content-encoding': 'gzip' } })).status,
    ).toBe(415);
  });

  it('a lost wake-up changes nothing for the upstream, and the token stays out of the log', async () => {
    const { id, path } = await newTask();
    const node = await world.startNode({
      port: { ...world.port, wake: () => Promise.reject(new Error('temporal is away')) },
    });
    expect((await node.call('POST', path, { body: {} })).status).toBe(200);
    const log = world.logLines.join('');
    expect(log).toContain('temporal is away');
    expect(log).toContain(id);
    expect(log).not.toContain(path.split('/').at(-1));
  });
});

import { writeFile } from 'node:fs/promises';
import { request, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';
import { imageYaml, pixel, refuse, sendImages, sendJson, startImageUpstream } from './support.ts';
import type { ImageUpstream, UpstreamCall } from './support.ts';

let first: ImageUpstream;
let second: ImageUpstream;
let gateway: TestGateway;

async function open(): Promise<void> {
  [first, second] = await Promise.all([startImageUpstream(), startImageUpstream()]);
  gateway = await startGateway({
    yaml: imageYaml({ first: first.url, second: second.url }),
    worker: false,
  });
}
async function close(): Promise<void> {
  await gateway.stop();
  await Promise.all([first.close(), second.close()]);
}
async function restart(): Promise<void> {
  await close();
  await open();
}
beforeAll(open);
afterAll(close);
beforeEach(() => {
  for (const upstream of [first, second]) {
    upstream.answer = sendImages;
    upstream.calls.length = 0;
  }
});

const body = { model: 'gpt-image', prompt: 'a red cube' };
const path = '/v1/images/generations';
const generate = (account: TestAccount, more = {}, headers = {}) =>
  account.call('POST', path, { body: { ...body, ...more }, headers });

async function leases(): Promise<number> {
  return gateway.core.mongo.db.collection('image_leases').countDocuments({});
}

async function marginByChannel(): Promise<unknown> {
  const dayOf = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const { body: margin } = await gateway.admin('GET', `/margin?by=channel&from=${dayOf(-2)}&to=${dayOf(2)}`);
  return margin.data;
}

async function entriesOf(account: TestAccount): Promise<Record<string, any>[]> {
  const { body: list } = await gateway.admin('GET', `/admin/v1/accounts/${account.id}/ledger?limit=100`);
  return list.data;
}

const untouched = { available: '100.000000', held: '0.000000' };

it('a prompt becomes images, held before and charged after', async () => {
  const account = await gateway.account({ credit: '1' });
  let heldMeanwhile: unknown;
  let leasesMeanwhile = 0;
  first.answer = async (call, response) => {
    heldMeanwhile = await account.balance();
    leasesMeanwhile = await leases();
    sendImages(call, response);
  };
  const answer = await generate(account, { n: 2, size: '1024x1024' });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.body).toMatchObject({
    created: expect.any(Number),
    data: [{ b64_json: pixel.toString('base64') }, { b64_json: pixel.toString('base64') }],
    usage: { total_tokens: 1_107 },
  });
  expect(heldMeanwhile).toMatchObject({ available: '0.500000', held: '0.500000' });
  expect(leasesMeanwhile).toBe(1);
  expect(await account.balance()).toMatchObject({ available: '0.920000', held: '0.000000' });
  expect(await marginByChannel()).toMatchObject([
    { channel: 'first', charged: '0.080000', cost: '0.060000', margin: '0.020000' },
  ]);
  expect(first.calls).toHaveLength(1);
  expect(first.calls[0]?.json).toMatchObject({ model: 'gpt-image-1.5', n: 2, size: '1024x1024' });
});

it('images that may have been billed have an unknown cost', async () => {
  await restart();
  onTestFinished(restart);
  const account = await gateway.account();
  let delivering = 1;
  first.answer = (call, response) => {
    delivering -= 1;
    if (delivering >= 0) sendImages(call, response);
    else response.destroy();
  };
  const some = await generate(account, { model: 'dall-e', n: 4 });
  expect(some.body.data).toHaveLength(1);
  expect((await generate(account, { model: 'dall-e', n: 3 })).status).toBe(500);
  expect(await marginByChannel()).toMatchObject([{ channel: 'first', charged: '0.080000', cost_unknown: 6 }]);
});

it('the response contains the charge, which is zero if the hold was released meanwhile', async () => {
  const account = await gateway.account();
  first.answer = async (call, response) => {
    const { task } = (await entriesOf(account)).find(({ kind }) => kind === 'hold') ?? {};
    await gateway.core.ledger.release({ account: account.id, task, held: 250_000n });
    sendImages(call, response);
  };
  const { status, headers } = await generate(account);
  expect([status, headers['x-mediary-cost']]).toEqual([200, '0.000000']);
  expect(await account.balance()).toMatchObject(untouched);
});

it('the price of the requested quality is held and charged', async () => {
  const account = await gateway.account();
  expect((await generate(account, { quality: 'high' })).status).toBe(200);
  expect(await account.balance()).toMatchObject({ available: '99.750000' });
});

it('a price by tokens holds the maximum of the formula, and charges the upstream’s count', async () => {
  const account = await gateway.account();
  let heldMeanwhile: unknown;
  first.answer = async (call, response) => {
    heldMeanwhile = await account.balance();
    sendImages(call, response);
  };
  const asked = { model: 'by-token', quality: 'medium', size: '1024x1024', n: 2 };
  expect((await generate(account, asked)).status).toBe(200);
  expect(heldMeanwhile).toMatchObject({ held: '0.084480' });
  expect(await account.balance()).toMatchObject({ available: '99.957760', held: '0.000000' });
});

it('a balance that is too small is a 402, and nothing is sent', async () => {
  const account = await gateway.account({ credit: '0.03' });
  const answer = await generate(account);
  expect(answer.status).toBe(402);
  expect(answer.body.error).toMatchObject({ code: 'insufficient_balance', type: 'billing_error' });
  expect(first.calls).toHaveLength(0);
  expect(await account.balance()).toMatchObject({ available: '0.030000', held: '0.000000' });
});

it('fields that the upstream knows are sent, others are not', async () => {
  const account = await gateway.account();
  await generate(account, { background: 'opaque', output_format: 'png', user: 'u1', whatever: 1, n: null });
  expect(first.calls[0]?.json).toMatchObject({
    background: 'opaque',
    output_format: 'png',
    user: 'u1',
    n: 1,
  });
  expect(first.calls[0]?.json).not.toHaveProperty('whatever');
});

describe('a channel that renders one image per call', () => {
  const dalle = { model: 'dall-e', n: 3 };
  const sendUrl = (call: UpstreamCall, response: ServerResponse): void =>
    sendJson(response, 200, {
      created: 1_713_833_628,
      data: [{ url: `https://images.example/${first.calls.indexOf(call)}.png` }],
    });

  it('is called several times in parallel', async () => {
    const account = await gateway.account();
    const waiting: (() => void)[] = [];
    first.answer = (call, response) => {
      waiting.push(() => sendUrl(call, response));
      // Respond only once all requests have arrived. If they came one after the other, the test would time out.
      if (waiting.length === 3) for (const go of waiting) go();
    };
    const answer = await generate(account, dalle);
    expect(answer.body.data).toHaveLength(3);
    expect(answer.body.data[0]).toMatchObject({
      url: expect.stringMatching(/^https:/),
      expires_at: 1_713_837_228,
    });
    expect(first.calls.map(({ json }) => json['n'])).toEqual([1, 1, 1]);
    expect(await account.balance()).toMatchObject({ available: '99.760000', held: '0.000000' });
  });

  it('charges and returns the images that arrived', async () => {
    const account = await gateway.account();
    first.answer = (call, response) =>
      first.calls.indexOf(call) === 1
        ? refuse(500, 'server_error', 'boom')(call, response)
        : sendUrl(call, response);
    const answer = await generate(account, dalle);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toHaveLength(2);
    expect(await account.balance()).toMatchObject({ available: '99.840000', held: '0.000000' });
  });

  it('fails only if none arrived', async () => {
    const account = await gateway.account();
    first.answer = refuse(400, 'content_policy_violation', 'Your request was rejected.');
    const answer = await generate(account, dalle);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'content_policy_violation']);
    expect(first.calls).toHaveLength(3);
    expect(await account.balance()).toMatchObject(untouched);
  });
});

describe('a request that the upstream refuses', () => {
  // A circuit left open by one test would block the channel in the next.
  beforeEach(restart);

  it('is a 400 on the prompt with its words, without its secrets', async () => {
    const account = await gateway.account();
    first.answer = refuse(
      400,
      'moderation_blocked',
      'Rejected by our safety system at https://api.internal.example/v1 (request id req_0123456789abcdef).',
    );
    const answer = await generate(account);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({
      code: 'content_policy_violation',
      param: 'prompt',
      class: 'moderation_input',
    });
    expect(answer.body.error.message).toContain('moderation_blocked');
    expect(answer.body.error.message).toContain('Rejected by our safety system');
    expect(answer.body.error.message).not.toMatch(/internal\.example|req_0123/);
    expect(second.calls).toHaveLength(0);
    expect(await account.balance()).toMatchObject(untouched);
    expect((await entriesOf(account)).map(({ kind }) => kind)).toEqual(['credit', 'hold', 'release']);
  });

  it.each([
    ['429', refuse(429, 'rate_limit_exceeded', 'Slow down.', { 'retry-after': '7' })],
    ['503 with a body of its own', refuse(503, 'overloaded', 'Overloaded.')],
    ['401', refuse(401, 'invalid_api_key', 'Wrong key.')],
    ['an empty purse', refuse(429, 'insufficient_quota', 'You exceeded your quota.')],
  ])('with %s moves to the next channel', async (_name, answerWith) => {
    const account = await gateway.account();
    first.answer = answerWith;
    const answer = await generate(account);
    expect(answer.status).toBe(200);
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
    expect(await account.balance()).toMatchObject({ available: '99.960000', held: '0.000000' });
  });

  it('by every channel is a 503 with retry-after if they are busy', async () => {
    const account = await gateway.account();
    for (const upstream of [first, second])
      upstream.answer = refuse(429, 'rate_limit_exceeded', 'Slow down.', { 'retry-after': '7' });
    const answer = await generate(account);
    expect(answer.status).toBe(503);
    expect(answer.body.error.code).toBe('service_unavailable');
    expect(answer.headers['retry-after']).toBe('7');
    expect(answer.headers['x-should-retry']).toBeUndefined();
    expect(await account.balance()).toMatchObject(untouched);
  });
});

describe('a request that the upstream may have accepted', () => {
  beforeEach(restart);
  afterAll(restart);

  it.each([
    ['a 500', refuse(500, 'server_error', 'boom')],
    [
      'a 502 of a proxy',
      (_: UpstreamCall, response: ServerResponse) => response.writeHead(502).end('<html>'),
    ],
    ['a broken connection', (_: UpstreamCall, response: ServerResponse) => void response.destroy()],
    [
      'half an answer',
      (_: UpstreamCall, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('{"data":[{"b64_json":"aaaa');
        setTimeout(() => response.destroy(), 20);
      },
    ],
    [
      'a success without images',
      (_: UpstreamCall, response: ServerResponse) => sendJson(response, 200, { data: [] }),
    ],
    ['a success that is not JSON', (_: UpstreamCall, response: ServerResponse) => response.end('{"data":["')],
  ])('%s is never sent to another channel, not charged, and not retryable', async (_name, answerWith) => {
    const account = await gateway.account();
    first.answer = answerWith;
    const answer = await generate(account);
    expect(answer.status).toBe(500);
    expect(answer.body.error).toMatchObject({ code: 'provider_error', type: 'api_error' });
    expect(answer.headers['x-should-retry']).toBe('false');
    expect([first.calls.length, second.calls.length]).toEqual([1, 0]);
    expect(await account.balance()).toMatchObject(untouched);
    expect((await entriesOf(account)).at(-1)).toMatchObject({
      kind: 'release',
      note: expect.stringContaining('ambiguous'),
    });
  });
});

it('an upstream that cannot be reached is skipped', async () => {
  const account = await gateway.account();
  const other = await startGateway({
    // No program ever listens on port 1. A port that was free a moment ago may already belong to another test.
    yaml: imageYaml({ first: 'http://127.0.0.1:1/v1', second: second.url }),
    worker: false,
  });
  try {
    const there = await other.account();
    expect((await generate(there)).status).toBe(200);
    expect(second.calls).toHaveLength(1);
  } finally {
    await other.stop();
  }
  expect(await account.balance()).toMatchObject(untouched);
});

it('a channel whose model is removed during the request is not called', async () => {
  const yaml = imageYaml({ first: first.url, second: second.url });
  const publish = async (text: string) => {
    await writeFile(gateway.environment['GATEWAY_CONFIG'] ?? '', text);
    expect((await gateway.admin('POST', '/config/reload')).status).toBe(200);
  };
  onTestFinished(() => publish(yaml));
  const served = yaml.lastIndexOf('      gpt-image: { upstream: gpt-image-1.5 }\n');
  const without = `${yaml.slice(0, served)}      seedream: { upstream: s }\n${yaml.slice(served).replace(/^.*\n/, '')}`;
  first.answer = async (call, response) => {
    await publish(without);
    refuse(503, 'overloaded', 'busy', { 'retry-after': '1' })(call, response);
  };
  const account = await gateway.account();
  expect((await generate(account)).status).toBe(503);
  expect([first.calls.length, second.calls.length]).toEqual([1, 0]);
  expect(await account.balance()).toMatchObject(untouched);
});

describe('a caller who disconnects', () => {
  it('pays for what the upstream delivered', async () => {
    const account = await gateway.account();
    let arrived: () => void = () => undefined;
    const sent = new Promise<void>((resolve) => (arrived = resolve));
    let respond: () => void = () => undefined;
    first.answer = (call, response) => {
      arrived();
      respond = () => sendImages(call, response);
    };
    const controller = new AbortController();
    const lost = hangingCall(account, controller.signal);
    await sent;
    controller.abort();
    await lost;
    respond();
    await expect.poll(() => account.balance()).toMatchObject({ available: '99.960000', held: '0.000000' });
  });

  it('pays nothing if the upstream failed', async () => {
    const account = await gateway.account();
    let arrived: () => void = () => undefined;
    const sent = new Promise<void>((resolve) => (arrived = resolve));
    let respond: () => void = () => undefined;
    first.answer = (call, response) => {
      arrived();
      respond = () => refuse(500, 'server_error', 'boom')(call, response);
    };
    const controller = new AbortController();
    const lost = hangingCall(account, controller.signal);
    await sent;
    controller.abort();
    await lost;
    respond();
    await expect.poll(() => account.balance()).toMatchObject(untouched);
  });
});

function hangingCall(account: TestAccount, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const call = request(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
      signal,
    });
    call.on('error', () => resolve());
    call.end(JSON.stringify(body));
  });
}

it("Seedream's dialect: links, and the price of the requested size", async () => {
  const account = await gateway.account();
  first.answer = (call, response) =>
    sendJson(response, 200, {
      model: call.json['model'],
      created: 1_757_321_139,
      data: [{ url: 'https://media.example/a.jpeg?X-Tos-Expires=86400', size: '2048x2048' }],
      usage: { generated_images: 1, output_tokens: 16_384, total_tokens: 16_384 },
    });
  const answer = await generate(account, { model: 'seedream', size: '2K', n: 2, watermark: false });
  expect(answer.status).toBe(200);
  expect(answer.body.data).toHaveLength(2);
  expect(answer.body.usage).toMatchObject({ output_tokens: 32_768 });
  expect(first.calls.map(({ path: called }) => called)).toEqual([
    '/v1/images/generations',
    '/v1/images/generations',
  ]);
  expect(first.calls[0]?.json).toMatchObject({ size: '2K', watermark: false });
  expect(await account.balance()).toMatchObject({ available: '99.940000', held: '0.000000' });
});

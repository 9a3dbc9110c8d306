import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startApi } from '../../src/api.ts';
import { caller, postForm, type Answer, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import {
  imageYaml, pixel, png, refuse, sendImages, sendJson, startImageUpstream, whileMinutesPass,
} from './support.ts'; // prettier-ignore
import type { ImageUpstream } from './support.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  upstream = await startImageUpstream();
  gateway = await startGateway({
    yaml: imageYaml({ first: upstream.url }),
    worker: false,
    environment: { IMAGE_KEPT_BYTES_MAX: String(24 * 1024 * 1024) },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});
beforeEach(async () => {
  upstream.answer = sendImages;
  upstream.calls.length = 0;
  for (const name of ['idempotency', 'image_result_bodies'])
    await gateway.core.mongo.db.collection(name).deleteMany({});
  account = await gateway.account();
});

const path = '/v1/images/generations';
const body = { model: 'gpt-image', prompt: 'a red cube' };
const key = { 'idempotency-key': 'k1' };
const generate = (more = {}, headers: Record<string, string> = key) =>
  account.call('POST', path, { body: { ...body, ...more }, headers });
const balance = async (): Promise<string> => (await account.balance()).available;

it('the same key gets the same answer, with one call and one charge', async () => {
  const first = await generate({ n: 2 });
  const second = await generate({ n: 2 });
  expect(second.status).toBe(200);
  expect(second.body).toEqual(first.body);
  expect([first, second].map(({ headers }) => headers['idempotency-replayed'])).toEqual([undefined, 'true']);
  expect(first.headers).toHaveProperty('x-mediary-cost');
  expect(second.headers).not.toHaveProperty('x-mediary-cost');
  const image = first.headers['x-mediary-image'];
  expect(second.headers['x-mediary-image']).toBe(image);
  const receipt = await account.call('GET', `/v1/images/generations/${String(image)}/receipt`);
  expect(receipt.body.payload).toMatchObject({
    status: 'succeeded',
    charge: first.headers['x-mediary-cost'],
  });
  expect(upstream.calls).toHaveLength(1);
  expect(await balance()).toBe('99.920000');
});

it('another body is a 409', async () => {
  await generate();
  const answer = await generate({ n: 2 });
  expect(answer.status).toBe(409);
  expect(answer.body.error.code).toBe('idempotency_key_reused');
  expect(upstream.calls).toHaveLength(1);
});

it('another account, route or key makes a different request', async () => {
  await generate();
  await generate({}, { 'idempotency-key': 'k2' });
  const other = await gateway.account();
  await other.call('POST', path, { body, headers: key });
  const image = `data:image/png;base64,${pixel.toString('base64')}`;
  await account.call('POST', '/v1/images/edits', { body: { ...body, image }, headers: key });
  expect(upstream.calls).toHaveLength(4);
});

it('on two processes at the same time, the second waits for the first', async () => {
  const api = await startApi(gateway.core);
  const elsewhere = caller(api.url, account.key);
  upstream.answer = (call, response) => void setTimeout(() => sendImages(call, response), 400);
  const answers = await Promise.all([
    generate(),
    generate(),
    elsewhere('POST', path, { body, headers: key }),
    elsewhere('POST', path, { body, headers: key }),
  ]);
  await api.stop();
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  for (const answer of answers) expect(answer.body).toEqual(answers[0]?.body);
  expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(3);
  expect(upstream.calls).toHaveLength(1);
  expect(await balance()).toBe('99.960000');
});

it('files are compared by content', async () => {
  const send = async (bytes: Buffer): Promise<Answer> => {
    const form = new FormData();
    for (const [name, value] of Object.entries(body)) form.append(name, value);
    form.append('image', new File([new Uint8Array(bytes)], 'a.png'));
    return postForm(gateway.url, '/v1/images/edits', { form, key: account.key, headers: key });
  };
  expect((await send(png(2, 2))).status).toBe(200);
  const again = await send(png(2, 2));
  expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
  expect((await send(png(3, 3))).status).toBe(409);
  expect(upstream.calls).toHaveLength(1);
});

it('a caller who disconnected can fetch the images that it paid for', async () => {
  let arrived: () => void = () => undefined;
  const sent = new Promise<void>((resolve) => (arrived = resolve));
  upstream.answer = (call, response) => {
    arrived();
    setTimeout(() => sendImages(call, response), 300);
  };
  const lost = request(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json', ...key },
  });
  lost.on('error', () => undefined);
  lost.end(JSON.stringify(body));
  await sent;
  lost.destroy();
  const answer = await generate();
  expect(answer.status).toBe(200);
  expect(answer.body.data[0].b64_json).toBe(pixel.toString('base64'));
  expect(upstream.calls).toHaveLength(1);
  expect(await balance()).toBe('99.960000');
});

describe('failures', () => {
  it('a request that was rejected before it was sent leaves the key free', async () => {
    const poor = await gateway.account({ credit: '0.01' });
    expect((await poor.call('POST', path, { body, headers: key })).status).toBe(402);
    await gateway.admin('POST', `/admin/v1/accounts/${poor.id}/credits`, { amount: '1', reference: 'more' });
    expect((await poor.call('POST', path, { body, headers: key })).status).toBe(200);
  });

  it('a request that was not accepted leaves it free too', async () => {
    upstream.answer = refuse(429, 'rate_limit_exceeded', 'Slow down.');
    expect((await generate()).status).toBe(503);
    upstream.answer = sendImages;
    expect((await generate()).status).toBe(200);
    expect(await balance()).toBe('99.960000');
  });

  it('a request that may have been accepted is never resubmitted', async () => {
    upstream.answer = refuse(500, 'server_error', 'boom');
    const first = await generate();
    upstream.answer = sendImages;
    const second = await generate();
    expect([first.status, second.status]).toEqual([500, 500]);
    expect(second.body).toEqual(first.body);
    expect(second.headers['x-should-retry']).toBe('false');
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(upstream.calls).toHaveLength(1);
    expect(await balance()).toBe('100.000000');
  });

  it('the same is true for one that the upstream rejected', async () => {
    upstream.answer = refuse(400, 'moderation_blocked', 'No.');
    await generate();
    expect((await generate()).status).toBe(400);
    expect(upstream.calls).toHaveLength(1);
  });
});

it.each([
  ['and was charged', {}, /It was charged. Ask the operator of this service about img_/],
  ['and was not charged', { made: 'img_unpaid' }, /No charge is on record for it/],
])(
  'whose process died before it stored the response %s: reports that, and makes no call',
  async (_, change, sentence) => {
    expect((await generate()).status).toBe(200);
    const records = gateway.core.mongo.db.collection('idempotency');
    const died = { state: 'running', ...change };
    expect((await records.updateMany({}, { $set: died })).matchedCount).toBe(1);
    const { status, body: said } = await whileMinutesPass(gateway, generate());
    expect([status, said.error.message]).toEqual([500, expect.stringMatching(sentence)]);
    expect(upstream.calls).toHaveLength(1);
  },
);

describe('large responses', () => {
  const sendLarge = (megabytes: number) => (_call: unknown, response: Parameters<typeof sendImages>[1]) =>
    sendJson(response, 200, {
      created: 1,
      data: [{ b64_json: 'QUJD'.repeat((megabytes * 1024 * 1024) / 4) }],
    });

  it('of 9 MB are kept in pieces', async () => {
    upstream.answer = sendLarge(9);
    const first = await generate();
    const second = await generate();
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(second.body.data[0].b64_json.length).toBe(9 * 1024 * 1024);
    expect(second.body.data[0].b64_json === first.body.data[0].b64_json).toBe(true);
    const pieces = gateway.core.mongo.db.collection('image_result_bodies');
    expect(await pieces.countDocuments({})).toBe(3);
  });

  it('that are repeated but not read use the memory of their account, and of no other', async () => {
    upstream.answer = sendLarge(23);
    const other = await gateway.account();
    await generate();
    const repeat = async ({ key: token }: TestAccount): Promise<number> => {
      const asked = request(`${gateway.url}${path}`, {
        method: 'POST',
        agent: false,
        headers: { ...key, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      });
      asked.on('error', () => undefined);
      const [answer] = await once(asked.end(JSON.stringify(body)), 'response');
      unread.push(answer);
      return answer.statusCode;
    };
    const unread: IncomingMessage[] = [];
    onTestFinished(() => unread.forEach((answer) => answer.destroy()));
    const statuses = [await repeat(account), await repeat(account), await repeat(account)];
    expect(statuses).toEqual([200, 200, 429]);
    expect(await repeat(other)).toBe(200);
    unread.shift()?.destroy();
    await expect.poll(() => repeat(account)).toBe(200);
    expect(upstream.calls).toHaveLength(2);
  });

  it('beyond the storage limit are delivered once, and never rendered twice', async () => {
    upstream.answer = sendLarge(25);
    expect((await generate()).status).toBe(200);
    const again = await generate();
    expect(again.status).toBe(409);
    expect(again.body.error.code).toBe('idempotency_key_reused');
    expect(upstream.calls).toHaveLength(1);
  });
});

it('after 24 hours the key is free', async () => {
  await generate();
  const results = gateway.core.mongo.db.collection('idempotency');
  await results.updateMany({}, { $set: { expires: new Date(Date.now() - 1) } });
  const answer = await generate({ n: 2 });
  expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([200, undefined]);
});

it('a malformed key is a 400', async () => {
  const answer = await generate({}, { 'idempotency-key': 'a b' });
  expect(answer.body.error).toMatchObject({ code: 'invalid_parameter', param: 'Idempotency-Key' });
});

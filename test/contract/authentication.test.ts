import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pixel } from '../images/support.ts';
import { createOnce } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { contractYaml, startSameInterface, type SameInterface } from './same-interface.ts';

/** Tests section 5 of the interface document on every endpoint. */

let upstream: SameInterface;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startSameInterface();
  gateway = await startGateway({ yaml: contractYaml(upstream.url) });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const task = 'task_0000000000000000000000';
const image = `data:image/png;base64,${pixel.toString('base64')}`;
const creates: [path: string, body: Record<string, unknown>][] = [
  ['/v1/videos/generations', { model: 'clip', prompt: 'x' }],
  ['/v1/video/generations', { model: 'clip', prompt: 'x' }],
  ['/v1/images/generations', { model: 'picture', prompt: 'x' }],
  ['/v1/images/edits', { model: 'picture', prompt: 'x', image }],
];
const endpoints: [method: string, path: string, body?: Record<string, unknown>][] = [
  ...creates.map(([path, body]): [string, string, Record<string, unknown>] => ['POST', path, body]),
  ['GET', `/v1/videos/generations/${task}`],
  ['GET', `/v1/video/generations/${task}`],
];

it.each(endpoints)('%s %s takes a key in the header authorization', async (method, path, body) => {
  const account = await gateway.account();
  const reads = method === 'GET';
  const { status } = await (reads ? account.call(method, path) : createOnce(account.call, path, body));
  expect(status).toBe(reads ? 404 : 200);
});

it.each(endpoints)('%s %s gives 401 without a key, and with one that is not valid', async (...endpoint) => {
  const [method, path, body] = endpoint;
  for (const authorization of [undefined, 'Bearer sk-wrong', 'Basic c2s6']) {
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await gateway.call(method, path, { body, headers });
    expect(answer.status).toBe(401);
    expect(answer.body.error).toMatchObject({ type: 'authentication_error', code: 'invalid_api_key' });
  }
});

describe('a key with permissions', () => {
  it.each(creates)('POST %s gives 403 for a model that the key may not use', async (path, body) => {
    const account = await gateway.account({ key: { models: ['seedance'] } });
    const answer = await account.call('POST', path, { body });
    expect(answer.status).toBe(403);
    expect(answer.body.error).toMatchObject({ type: 'permission_error', code: 'model_not_allowed' });
    expect(await account.balance()).toMatchObject({ held: '0.000000' });
  });

  it.each(creates)('POST %s gives 403 where the key may use no channel of the model', async (path, body) => {
    const account = await gateway.account({ key: { channels: ['ark'] } });
    const answer = await account.call('POST', path, { body });
    expect(answer.status).toBe(403);
    expect(answer.body.error).toMatchObject({ type: 'permission_error', code: 'channel_not_allowed' });
  });

  it.each(creates)('POST %s works with the model and the channel on the lists', async (path, body) => {
    const account = await gateway.account({ key: { models: ['clip', 'picture'], channels: ['same'] } });
    expect((await createOnce(account.call, path, body)).status).toBe(200);
  });
});

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { imageYaml, pixel, sendImages, startImageUpstream } from './support.ts';
import type { ImageUpstream } from './support.ts';

let first: ImageUpstream;
let second: ImageUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  [first, second] = await Promise.all([startImageUpstream(), startImageUpstream()]);
  gateway = await startGateway({
    yaml: imageYaml({ first: first.url, second: second.url }),
    worker: false,
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([first.close(), second.close()]);
});
afterEach(() => {
  for (const upstream of [first, second]) {
    upstream.answer = sendImages;
    upstream.calls.length = 0;
  }
});

const body = { model: 'gpt-image', prompt: 'a red cube' };
const path = '/v1/images/generations';

test('a prompt becomes an image, held before and charged after', async () => {
  const account = await gateway.account({ credit: '1' });
  let heldMeanwhile: unknown;
  first.answer = async (call, response) => {
    heldMeanwhile = await account.balance();
    sendImages(call, response);
  };
  const answer = await account.call('POST', path, { ...body, n: 2, size: '1024x1024' });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    created: expect.any(Number),
    data: [{ b64_json: pixel.toString('base64') }, { b64_json: pixel.toString('base64') }],
    usage: { total_tokens: 1_107 },
  });
  expect(heldMeanwhile).toMatchObject({ available: '0.920000', held: '0.080000' });
  expect(await account.balance()).toMatchObject({ available: '0.920000', held: '0.000000' });
  expect(first.calls).toHaveLength(1);
  expect(first.calls[0]?.json).toMatchObject({ model: 'gpt-image-1', n: 2, size: '1024x1024' });
});

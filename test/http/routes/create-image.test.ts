import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { imageYaml, pixel, sendImages, startImageUpstream } from '../../images/support.ts';
import type { ImageUpstream } from '../../images/support.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import type { TestAccount } from '../../support/client.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startImageUpstream();
  gateway = await startGateway({ yaml: imageYaml({ first: upstream.url }), worker: false });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});
afterEach(() => {
  upstream.answer = sendImages;
  upstream.calls.length = 0;
});

const create = (account: TestAccount, fields: object) =>
  account.call('POST', '/v1/images/generations', {
    body: { model: 'gpt-image', prompt: 'a red cube', ...fields },
  });

it('200: the images, and the usage that the upstream reported', async () => {
  const account = await gateway.account({ credit: '1' });
  const { status, body, headers } = await create(account, { n: 2 });
  const data = [{ b64_json: pixel.toString('base64') }, { b64_json: pixel.toString('base64') }];
  expect([status, body]).toEqual([200, expect.objectContaining({ created: expect.any(Number), data })]);
  expect(await account.balance()).toMatchObject({ available: '0.920000', held: '0.000000' });
  expect(headers).toMatchObject({ 'x-mediary-cost': '0.080000', 'x-litellm-response-cost': '0.080000' });
});

it.each([
  [{ model: undefined }, 400, 'missing_parameter', 'model'],
  [{ prompt: undefined }, 400, 'missing_parameter', 'prompt'],
  [{ n: 0 }, 400, 'invalid_parameter', 'n'],
  [{ response_format: 'tiff' }, 400, 'invalid_parameter', 'response_format'],
  [{ model: 'nothing' }, 400, 'model_not_found', 'model'],
])('%j: %i, nothing held and nothing sent', async (fields, status, code, param) => {
  const account = await gateway.account();
  const answer = await create(account, fields);
  expect([answer.status, answer.body.error]).toEqual([status, expect.objectContaining({ code, param })]);
  expect(upstream.calls).toEqual([]);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
});

it('402: the hold does not fit', async () => {
  const poor = await gateway.account({ credit: '0.03' });
  const answer = await create(poor, {});
  expect([answer.status, answer.body.error.code]).toEqual([402, 'insufficient_balance']);
  expect(upstream.calls).toEqual([]);
});

it('402: an end user’s cap is exhausted, by `user` and `safety_identifier` alike, but others’ are not', async () => {
  const account = await gateway.account();
  // Use another account, because an account's limits are cached for a few seconds.
  const other = await gateway.account();
  const estimate = await other.call('POST', '/v1/images/generations/estimate', {
    body: { model: 'gpt-image', prompt: 'a red cube' },
  });
  const { hold } = estimate.body;
  const caps = { total: hold, reason: 'free plan' };
  await gateway.admin('POST', `/admin/v1/accounts/${account.id}/end-user-caps`, caps);
  const first = await create(account, { user: 'u1' });
  expect([first.status, first.headers['x-mediary-cap'], first.headers['x-mediary-cap-limit']]).toEqual([
    200, 'end_user/total', hold,
  ]); // prettier-ignore
  const again = await create(account, { safety_identifier: 'u1' });
  expect([again.status, again.body.error]).toEqual([
    402,
    expect.objectContaining({
      code: 'spend_cap_exceeded',
      cap: expect.objectContaining({ scope: 'end_user' }),
    }),
  ]);
  expect((await create(account, { user: 'u2' })).status).toBe(200);
  expect(upstream.calls).toHaveLength(2);
  expect(await account.balance()).toMatchObject({ held: '0.000000' });
});

it('403: a model that the key may not use', async () => {
  const account = await gateway.account({ key: { models: ['dall-e'] } });
  const answer = await create(account, {});
  expect([answer.status, answer.body.error.code]).toEqual([403, 'model_not_allowed']);
});

it('401: no key', async () => {
  const answer = await gateway.call('POST', '/v1/images/generations', {
    body: { model: 'gpt-image', prompt: 'x' },
  });
  expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_api_key']);
});

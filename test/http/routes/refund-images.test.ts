import { afterAll, beforeAll, expect, it } from 'vitest';
import { runPlanned } from '../../cli/support.ts';
import type { TestAccount } from '../../support/client.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { imageYaml, startImageUpstream, type ImageUpstream } from '../../images/support.ts';

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

async function generated(account: TestAccount, n = 1): Promise<string> {
  const body = { model: 'gpt-image', prompt: 'a red cube', n, size: '1024x1024' };
  const answer = await account.call('POST', '/v1/images/generations', { body });
  expect(answer.status).toBe(200);
  return String(answer.headers['x-mediary-image']);
}

/** Does a dry run first. If the dry run is rejected, sends the refund anyway. */
async function refund(image: string, body: Readonly<Record<string, unknown>> = {}) {
  const ask = (also: object) =>
    gateway.admin('POST', `/images/${image}/refund`, { reason: 'a stain', ...body, ...also });
  const tried = await ask({ dry_run: true });
  return body['dry_run'] === true ? tried : ask({ plan: tried.body.result?.plan ?? 'none' });
}

it('are refunded once, with operator and reason in the ledger and in the audit log', async () => {
  const account = await gateway.account({ credit: '10' });
  const image = await generated(account, 2);
  const { available } = await account.balance();
  const charged = (10 - Number(available)).toFixed(6);
  const money = `${charged} USD is refunded to the account ${account.id}; ${charged} USD was charged.`;
  const tried = await refund(image, { dry_run: true });
  const would = { task: 'The images stay as they are.', money };
  expect(tried.body).toEqual({ result: { would, plan: expect.any(String) } });
  const unseen = await gateway.admin('POST', `/images/${image}/refund`, { reason: 'a stain' });
  expect([unseen.status, unseen.body.error.param]).toEqual([400, 'plan']);
  expect(await account.balance()).toMatchObject({ available });

  const [one, other] = await Promise.all([refund(image), refund(image, { reason: 'a spot' })]);
  const [done, late] = one.status === 200 ? [one, other] : [other, one];
  expect([done.status, late.status]).toEqual([200, 409]);
  expect(done.body.result.did.money).toBe(money);
  expect(late.body.error).toMatchObject({ code: 'action_not_possible' });
  expect(await account.balance()).toMatchObject({ available: '10.000000', held: '0.000000' });
  const { data } = (await gateway.admin('GET', `/accounts/${account.id}/ledger`)).body;
  expect(data.at(-1)).toMatchObject({
    kind: 'refund',
    task: image,
    note: expect.stringMatching(/^by admin: a s/),
  });
  const { body: log } = await gateway.admin('GET', '/audit');
  expect(log.data).toContainEqual(
    expect.objectContaining({
      action: 'refundImages',
      task: image,
      by: 'admin',
      reason: expect.stringMatching(/^a s/),
    }),
  );
});

it('are refunded in part by the command line', async () => {
  const account = await gateway.account({ credit: '10' });
  const image = await generated(account);
  const { available } = await account.balance();
  const line = ['tasks', 'action', image, 'refund', '--amount', '0.01', '--reason', 'a stain'];
  const { text } = await runPlanned(gateway, line, { token: gateway.adminToken });
  expect(text).toContain('0.010000 USD is refunded');
  expect((await account.balance()).available).toBe((Number(available) + 0.01).toFixed(6));
});

it('are not refunded beyond their charge, while they are being generated, or if unknown', async () => {
  const account = await gateway.account({ credit: '10' });
  const image = await generated(account);
  expect((await refund(image, { amount: '9' })).body.error.message).toMatch(/a refund cannot exceed that/);
  expect((await refund(image, { amount: '0' })).body.error.param).toBe('amount');
  expect((await refund('img_none')).body.error.code).toBe('task_not_found');
  expect((await refund('task_none')).body.error.code).toBe('task_not_found');
  const { keyId: key } = account;
  const hold = {
    account: account.id,
    by: { key, model: 'gpt-image' },
    amount: 1n,
    basis: '{}',
    overdraftLimit: 0n,
  };
  const open = `img_${'a'.repeat(20)}`;
  await gateway.core.ledger.hold({ ...hold, task: open });
  expect((await refund(open)).body.error.message).toBe('The images are still being generated.');
  await gateway.core.ledger.release({ account: account.id, task: open, held: 1n });
  expect((await refund(open)).body.error.message).toMatch(/nothing was charged for it/);
});

it('are included, less their refund, in a trial of other prices', async () => {
  const account = await gateway.account({ credit: '10' });
  const [image, refunded] = [await generated(account, 2), await generated(account)];
  await refund(refunded);
  const body = {
    models: { 'gpt-image': { lines: [{ measure: 'image', price: '0.5' }] } },
    since: Math.floor(Date.now() / 1000) - 60,
    account: account.id,
  };
  const result = async (more = {}) => {
    const { text } = await gateway.admin('POST', '/prices/try', { ...body, ...more });
    return JSON.parse(text.trim().split('\n').at(-1) ?? '').result;
  };
  const { charge } = (await account.call('GET', `/v1/images/generations/${image}/receipt`)).body.payload;
  expect(await result()).toMatchObject({ tasks: 2, unpriced: 0, before: charge, after: '1.000000' });
  expect(await result({ since: body.since + 120 })).toMatchObject({ tasks: 0, unpriced: 0 });
  expect(await result({ model: 'other' })).toMatchObject({ tasks: 0, unpriced: 0 });
  expect(await result({ models: { other: body.models['gpt-image'] } })).toMatchObject({
    tasks: 0,
    unpriced: 2,
  });
});

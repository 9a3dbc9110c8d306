import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeAccount } from '../../src/local/first-account.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ worker: false });
});
afterAll(() => gateway.stop());

it('a first start that ended before its credit is continued by the next one, and credited once', async () => {
  const { adminToken, url: apiUrl } = gateway;
  const settings = { secretsKey: '', adminToken, account: 'local', apiUrl };
  expect((await gateway.admin('POST', '/accounts', { id: 'local', name: 'Local account' })).status).toBe(200);
  const made = await makeAccount(settings);
  expect(made.balance).toMatchObject({ available: '100.000000', held: '0.000000' });
  expect(await makeAccount({ ...settings, apiKey: made.apiKey })).toEqual(made);
  const again = await makeAccount(settings);
  expect(again.apiKey).not.toBe(made.apiKey);
  expect(again.balance).toEqual(made.balance);
});

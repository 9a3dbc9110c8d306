import { beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { useHttpWorld } from '../support/http-world.ts';
import { adminCaller, type AdminCall } from '../support/client.ts';

const world = useHttpWorld('http_without_amounts');
const amount = /\d\.\d{6}/;
/** These routes may show prices, because they show the configuration or parts of it. */
const withPrices = ['getConfig', 'listConfigVersions', 'listCatalogue', 'listOfferedModels'];

let operators: Record<'reader' | 'viewer', AdminCall>;
let task: string;
let account: string;

beforeAll(async () => {
  const buyer = await world.newAccount({ key: { caps: { month: '77' } } });
  account = buyer.id;
  task = (await buyer.create()).body.id;
  await world.drive.succeed(task, {
    kind: 'succeeded',
    items: [],
    facts: {},
    cost: { amount: '0.3141', unit: 'USD' },
  });
  await world.admin('POST', `/accounts/${account}/credits`, { amount: '3', reference: 'r', reason: 'paid' });
  await world.admin('POST', `/keys/${buyer.keyId}/caps`, { day: '66', models: [], reason: 'too much' });
  const caller = async (name: string, role: string) =>
    adminCaller(world.url, (await world.admin('POST', '/operators', { name, roles: [role] })).body.token);
  operators = { reader: await caller('reader', 'read'), viewer: await caller('viewer', 'viewer') };
});

it('shows operators without the role everything that is not an amount', async () => {
  const routes = createApp(world.deps).routes.filter(
    ({ authentication, method, operationId }) =>
      authentication === 'admin' && method === 'get' && !withPrices.includes(operationId),
  );
  const wrong: string[] = [];
  const hidden: string[] = [];
  for (const { operationId, paths } of routes) {
    const path = paths[0].replace(':task_id', task).replace(/:account\b/, account);
    const [shown, seen] = [await operators.reader('GET', path), await operators.viewer('GET', path)];
    for (const secret of ['0.3141', '"66"', '"least":"'])
      if (shown.text.includes(secret)) wrong.push(`${operationId}: ${secret}`);
    if (amount.test(shown.text))
      wrong.push(`${operationId}: ${amount.exec(shown.text)?.input.slice(0, 200)}`);
    if (shown.status === 200 && amount.test(seen.text)) hidden.push(operationId);
    if (shown.status === 200 && seen.status === 200 && typeof seen.body === 'object')
      expect([operationId, Object.keys(shown.body)]).toEqual([operationId, Object.keys(seen.body)]);
  }
  expect(wrong).toEqual([]);
  for (const operationId of ['listTasks', 'getTask', 'getTaskRecord', 'getAccount', 'listKeys', 'listAudit'])
    expect(hidden).toContain(operationId);
});

it('rejects routes about money, and streamed reports', async () => {
  for (const path of ['/margin', `/accounts/${account}/ledger`, '/tasks?format=csv']) {
    const { status, body } = await operators.reader('GET', path);
    expect([path, status, body.error?.code]).toEqual([path, 403, 'operator_not_allowed']);
    expect([path, (await operators.viewer('GET', path)).status]).toEqual([path, 200]);
  }
});

it('shows operators without the role the task, with null for its amounts', async () => {
  const { body } = await operators.reader('GET', `/tasks/${task}`);
  expect(body).toMatchObject({ id: task, status: 'succeeded', account, hold: null, charge: null });
  expect((await operators.viewer('GET', `/tasks/${task}`)).body.charge).toMatch(amount);
});

import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openCore, type Core } from '../../src/compose/core.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { actOn, adminCaller } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
let gateway: TestGateway;
let pager: Awaited<ReturnType<typeof startCallbackReceiver>>;
let directory: string;
const others: Core[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-notices-'));
  pager = await startCallbackReceiver([503, 204]);
  gateway = await startGateway({
    yaml: `${testYaml}
notify:
  low_balance: "99.5"
  targets:
    - { id: pager, url: "${pager.url}", secret: "${secret}" }
    - { id: mail, command: [sh, -c, 'cat >> "$0"', "${join(directory, 'mail')}"] }
`,
  });
  await gateway.core.notices.stop();
});
afterEach(async () => {
  for (const other of others.splice(0)) await other.close();
});
afterAll(async () => {
  await gateway.stop();
  await pager.close();
  await rm(directory, { recursive: true, force: true });
});

async function openOther(): Promise<Core> {
  const log = createLogger({ level: 'silent', format: 'json' });
  const other = await openCore(readEnvironment(gateway.environment), log, { databaseNow: gateway.core.now });
  others.push(other);
  await other.notices.stop();
  return other;
}

const mail = async () => readFile(join(directory, 'mail'), 'utf8');
const minute = 60_000;

async function look(times = 1): Promise<void> {
  for (let count = 0; count < times; count += 1) await gateway.core.notices.run();
}

const notices = async (state: string) => (await gateway.admin('GET', `/notices?state=${state}`)).body.data;
const taken = () => pager.received.slice(1).map(({ body }) => `${body.type} ${body.data.kind}`);

it('each target is notified once of a task that waits for an operator, as soon as it can be reached, and of its end', async () => {
  const account = await gateway.account({ credit: '1000' });
  const { body } = await account.create({ prompt: 'a boat [sim:usage-above=20]' });
  await expect
    .poll(async () => (await gateway.admin('GET', `/tasks/${body.id}`)).body.needs_attention)
    .toBe('charge_review');
  await look();
  expect(pager.received).toHaveLength(1);
  expect(await mail()).toMatch(
    /^\[mediary\] attention: charge_review\/ark\n\nA task waits for an operator at ark.*\nSince .*Z\.\n$/,
  );
  expect(await notices('open')).toMatchObject([
    { kind: 'attention', subject: 'charge_review/ark', count: 1, notified: ['mail'], ended_at: null },
  ]);
  await look(2);
  expect(pager.received).toHaveLength(1);
  gateway.clock.aheadMs += minute;
  await look(2);
  const [, { headers, text } = expect.fail('nobody was notified')] = pager.received;
  new Webhook(secret).verify(text, headers as Record<string, string>);
  expect([headers['webhook-id'], taken()]).toEqual([
    'attention/charge_review/ark/1',
    ['notice.open attention'],
  ]);

  await actOn(gateway.admin, body.id, { action: 'fail', reason: 'a wrong count' });
  await expect
    .poll(async () => (await account.call('GET', `/v1/videos/generations/${body.id}`)).body.status)
    .toBe('failed');
  await look(9);
  expect(taken()).toEqual(['notice.open attention', 'notice.over attention']);
  expect(await mail()).toMatch(
    /\[mediary\] over: attention: charge_review\/ark\n\nThe problem is over\.\nFrom /,
  );
  expect([await notices('open'), await notices('over')]).toMatchObject([
    [],
    [{ notified: ['mail', 'pager'] }],
  ]);
});

/** Advances the clock by a minute before the check, because balances are read only once a minute. */
async function lookAtBalances(): Promise<void> {
  gateway.clock.aheadMs += minute;
  await look();
}

it('a low balance is reported, and so is the credit that ends it', async () => {
  const before = taken().length;
  const low = await gateway.account({ credit: '99' });
  const closed = await gateway.account({ credit: '1' });
  await gateway.admin('POST', `/accounts/${closed.id}/close`, { reason: 'left' });
  const account = await gateway.account({ credit: '100' });
  await lookAtBalances();
  const news = () =>
    pager.received.slice(1 + before).map(({ body }) => [body.type, body.data.kind, body.data.subject]);
  expect(news()).toEqual([['notice.open', 'low_balance', low.id]]);
  await account.finished((await account.create()).body.id);
  await lookAtBalances();
  expect(pager.received.at(-1)?.body.data.text).toBe(
    `Account ${account.id} has 99.237700 USD left, which is less than 99.500000 USD.`,
  );
  for (const { id } of [account, low])
    await gateway.admin('POST', `/accounts/${id}/credits`, { amount: '50', reference: 'second' });
  await lookAtBalances();
  expect(taken()).toHaveLength(before + 2);
  await look(8);
  expect(taken().slice(before + 2)).toEqual(['notice.over low_balance', 'notice.over low_balance']);
});

it('a process that saw a balance before its credit opens no notice', async () => {
  const before = taken().length;
  const other = await openOther();
  const account = await gateway.account({ credit: '100' });
  const spent = { account: account.id, amount: -5_000_000n, reference: 'spent' };
  await other.ledger.credit(spent);
  await gateway.admin('POST', `/accounts/${account.id}/credits`, { amount: '50', reference: 'second' });
  await other.notices.run();
  await lookAtBalances();
  expect(await notices('open')).toEqual([]);
  expect(taken()).toHaveLength(before);
});

it('without `low_balance` in the configuration, its notices end', async () => {
  const before = taken().length;
  const account = await gateway.account({ credit: '3' });
  await lookAtBalances();
  expect(await notices('open')).toMatchObject([{ subject: account.id }]);
  const path = gateway.environment['GATEWAY_CONFIG'] ?? '';
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace(/^ *low_balance.*$/m, ''));
  await gateway.admin('POST', '/config/reload');
  await lookAtBalances();
  await look(8);
  expect(await notices('open')).toEqual([]);
  expect(taken().slice(before)).toEqual(['notice.open low_balance', 'notice.over low_balance']);
});

it('one of several processes sends notices, and another takes over when it is gone', async () => {
  const other = await openOther();
  const before = taken().length;
  const turn = () => gateway.core.stores.duties.turn('notices');
  await look();
  const ours = await turn();
  await other.notices.run();
  expect(await turn()).toBe(ours);
  await gateway.core.notices.noteVerification(2);
  await Promise.all([other.notices.run(), look(2), other.notices.run()]);
  expect(taken().slice(before)).toEqual(['notice.open ledger_violation']);
  await other.notices.run();
  gateway.clock.aheadMs += minute;
  const stood = await turn();
  await other.notices.run();
  expect(await turn()).toBe(stood + 1);
  await other.notices.noteVerification(0);
  await other.notices.run();
  expect(taken().slice(before)).toEqual(['notice.open ledger_violation', 'notice.over ledger_violation']);
});

it('a test reports for each target whether it accepted the message', async () => {
  const before = pager.received.length;
  const { body } = await gateway.admin('POST', '/notices/test');
  expect(body.data).toEqual([
    { id: 'pager', ok: true, error: null },
    { id: 'mail', ok: true, error: null },
  ]);
  expect(pager.received).toHaveLength(before + 1);
  expect(await mail()).toContain('This is a test. Nothing is wrong.');
  const operator = await gateway.admin('POST', '/operators', { name: 'grafana', roles: ['read'] });
  const reader = adminCaller(gateway.url, operator.body.token);
  expect((await reader('GET', '/notices')).status).toBe(200);
  expect((await reader('POST', '/notices/test')).status).toBe(403);
});

it('an account’s own address gets one event when its balance falls below its limit, even if no process noticed it', async () => {
  const receiver = await startCallbackReceiver();
  const [seen, unseen] = [await gateway.account({ credit: '100' }), await gateway.account({ credit: '1' })];
  const alert = { threshold: '99.5', url: receiver.url };
  await seen.call('POST', '/v1/alert', { body: alert });
  await gateway.core.notices.accountAlerts.run();
  expect(receiver.received).toHaveLength(0);
  await seen.create();
  await gateway.core.notices.accountAlerts.run();
  const [{ headers, text } = expect.fail('no event')] = receiver.received;
  // Check the signature as of the message's own time. The gateway's clock is too far ahead for the library to accept it
  // otherwise.
  const [id, sentAt] = [headers['webhook-id'], headers['webhook-timestamp']].map(String);
  const signature = new Webhook(seen.webhookSecret).sign(id ?? '', new Date(Number(sentAt) * 1000), text);
  expect(headers['webhook-signature']).toBe(signature);
  const event = JSON.parse(text);
  expect(event).toMatchObject({ type: 'balance.low', data: { account: seen.id } });

  const place = { purpose: 'alert-address', id: unseen.id } as const;
  const address = gateway.core.secrets.seal(place, receiver.url);
  await gateway.core.stores.accountAlerts.set({ account: unseen.id, threshold: 2_000_000n, address });
  const { upkeep } = await gateway.reconcile();
  expect(upkeep['account_alerts']).toBe(1);
  await gateway.core.notices.accountAlerts.run();
  await gateway.core.notices.accountAlerts.run();
  await receiver.close();
  expect(receiver.received.map(({ body }) => body.data.account)).toEqual([seen.id, unseen.id]);
});

it('an account’s own address gets an event when a cap of its key is reached by a hold', async () => {
  const receiver = await startCallbackReceiver();
  const account = await gateway.account();
  await account.call('POST', '/v1/alert', { body: { caps: true, url: receiver.url } });
  await account.create();
  await gateway.core.notices.accountAlerts.run();
  expect(receiver.received).toHaveLength(0);
  await gateway.admin('POST', `/keys/${account.keyId}/caps`, { total: '1', reason: 'trial' });
  await gateway.core.notices.accountAlerts.run();
  await gateway.core.notices.accountAlerts.run();
  await receiver.close();
  const cap = { scope: 'key', window: 'total', limit: '1.000000', used: '0.762300', left: '0.237700' };
  const data = { account: account.id, percent: 50, key: account.keyId, cap };
  expect(receiver.received.map(({ body }) => body)).toMatchObject([{ type: 'cap.reached', data }]);
  expect((await account.call('GET', '/v1/key')).body.spent.total).toMatchObject({ reached: 50 });
});

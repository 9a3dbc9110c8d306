import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openCore } from '../../src/core.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { adminCaller } from '../support/client.ts';
import { startGateway, testYaml } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
let gateway: TestGateway;
let pager: Awaited<ReturnType<typeof startCallbackReceiver>>;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-notices-'));
  // It is away for the first message.
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
  // Each test looks when it wants to.
  await gateway.core.notices.stop();
});
afterAll(async () => {
  await gateway.stop();
  pager.close();
  await rm(directory, { recursive: true, force: true });
});

const mail = async () => readFile(join(directory, 'mail'), 'utf8');
const minute = 60_000;

async function look(times = 1): Promise<void> {
  for (let count = 0; count < times; count += 1) await gateway.core.notices.tick();
}

const notices = async (state: string) => (await gateway.admin('GET', `/notices?state=${state}`)).body.data;
/** What the pager took. */
const taken = () => pager.received.slice(1).map(({ body }) => `${body.type} ${body.data.kind}`);

it('of a task that waits for a person each target is notified once, as soon as it can be reached, and of its end', async () => {
  const account = await gateway.account({ credit: '1000' });
  const { body } = await account.create({ prompt: 'a boat [sim:usage-above=20]' });
  await expect
    .poll(async () => (await gateway.admin('GET', `/tasks/${body.id}`)).body.needs_attention)
    .toBe('charge_review');
  await look();
  expect(pager.received).toHaveLength(1);
  expect(await mail()).toMatch(
    /^\[mediary\] attention: charge_review\/ark\n\nA task waits for a person at ark.*\nSince .*Z\.\n$/,
  );
  expect(await notices('open')).toMatchObject([
    { kind: 'attention', subject: 'charge_review/ark', count: 1, notified: ['mail'], ended_at: null },
  ]);
  await look(2);
  expect(pager.received).toHaveLength(1);
  gateway.clock.aheadMs += minute;
  await look(2);
  const [, { headers, text } = expect.fail('nobody was notified')] = pager.received;
  // It verifies the time, too: a minute ahead is within its five.
  new Webhook(secret).verify(text, headers as Record<string, string>);
  expect([headers['webhook-id'], taken()]).toEqual([
    'attention/charge_review/ark/1',
    ['notice.open attention'],
  ]);

  await gateway.admin('POST', `/tasks/${body.id}/actions`, { action: 'fail', reason: 'a wrong count' });
  await expect
    .poll(async () => (await account.call('GET', `/v1/videos/generations/${body.id}`)).body.status)
    .toBe('failed');
  await look(9);
  expect(taken()).toEqual(['notice.open attention', 'notice.over attention']);
  expect(await mail()).toMatch(/\[mediary\] over: attention: charge_review\/ark\n\nIt has passed\.\nFrom /);
  expect([await notices('open'), await notices('over')]).toMatchObject([
    [],
    [{ notified: ['mail', 'pager'] }],
  ]);
});

it('an account that has little left is reported when it falls below the limit, and when it is credited', async () => {
  const before = taken().length;
  const account = await gateway.account({ credit: '100' });
  await account.finished((await account.create()).body.id);
  await look();
  expect(taken()).toHaveLength(before + 1);
  expect(pager.received.at(-1)?.body).toMatchObject({
    type: 'notice.open',
    data: {
      kind: 'low_balance',
      subject: account.id,
      text: `Account ${account.id} has 99.237700 USD left, less than 99.500000 USD.`,
    },
  });
  await gateway.admin('POST', `/accounts/${account.id}/credits`, { amount: '50', reference: 'second' });
  await look(2);
  expect(taken().slice(before)).toEqual(['notice.open low_balance', 'notice.over low_balance']);
});

it('of several processes one notifies; another takes over when it is gone', async () => {
  const other = await openCore(
    readEnvironment(gateway.environment),
    createLogger({ level: 'silent', format: 'json' }),
    { now: gateway.core.now },
  );
  await other.notices.stop();
  try {
    const before = taken().length;
    const turn = () => gateway.core.stores.duties.turn('notices');
    await look();
    const ours = await turn();
    await other.notices.tick();
    expect(await turn()).toBe(ours);
    await gateway.core.notices.noteVerification(2);
    await Promise.all([other.notices.tick(), look(2), other.notices.tick()]);
    expect(taken().slice(before)).toEqual(['notice.open ledger_violation']);
    // The first one stands still.
    await other.notices.tick();
    gateway.clock.aheadMs += minute;
    const stood = await turn();
    await other.notices.tick();
    expect(await turn()).toBe(stood + 1);
    await other.notices.noteVerification(0);
    await other.notices.tick();
    expect(taken().slice(before)).toEqual(['notice.open ledger_violation', 'notice.over ledger_violation']);
  } finally {
    await other.close();
  }
});

it('a test says of each target whether it took it', async () => {
  const before = pager.received.length;
  const { body } = await gateway.admin('POST', '/notices/test');
  expect(body.data).toEqual([
    { id: 'pager', ok: true, error: null },
    { id: 'mail', ok: true, error: null },
  ]);
  expect(pager.received).toHaveLength(before + 1);
  expect(await mail()).toContain('This is a test: nothing is wrong.');
  const operator = await gateway.admin('POST', '/operators', { name: 'grafana', role: 'read' });
  const reader = adminCaller(gateway.url, operator.body.token);
  expect((await reader('GET', '/notices')).status).toBe(200);
  expect((await reader('POST', '/notices/test')).status).toBe(403);
});

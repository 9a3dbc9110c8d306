import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ledgerCollection } from '../../src/ledger/collection.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { createActOnTask, type ActOnTaskDeps } from '../../src/commands/act-on-task.ts';
import { runLine } from '../cli/support.ts';
import { faultsInOrder, faulty } from '../ledger/support.ts';
import { actOn, send, type TestAccount } from '../support/client.ts';
import { startGateway, videoCharge, type TestGateway } from '../support/gateway.ts';
import { pauseFirstAt } from '../support/race.ts';

let gateway: TestGateway;
let ada: string;
let ben: string;
beforeAll(async () => {
  gateway = await startGateway();
  const token = async (name: string): Promise<string> =>
    (await gateway.admin('POST', '/operators', { name, roles: ['tasks', 'money'] })).body.token;
  ada = await token('ada');
  ben = await token('ben');
});
afterAll(() => gateway.stop());

async function ended(more: object = {}): Promise<{ account: TestAccount; task: string }> {
  const account = await gateway.account({ credit: '10' });
  const { body } = await account.create({ ...more });
  await account.finished(body.id);
  return { account, task: body.id };
}

/** Does a dry run first. If the dry run is rejected, sends the refund anyway. */
async function refund(task: string, more: Readonly<Record<string, unknown>> = {}, key = ada) {
  const ask = (also: object) =>
    send(gateway.url, 'POST', `/admin/v1/tasks/${task}/actions`, {
      key,
      body: { action: 'refund', reason: 'it shows nothing', ...more, ...also },
    });
  const tried = await ask({ dry_run: true });
  return more['dry_run'] === true ? tried : ask({ plan: tried.body.result?.plan ?? 'none' });
}
const show = async (task: string) => (await gateway.admin('GET', `/tasks/${task}`)).body;
const refundsOf = async (task: string) =>
  (await show(task)).ledger.filter(({ kind }: { kind: string }) => kind === 'refund');

async function expectSound(): Promise<void> {
  const { violations } = await verifyLedger({
    db: gateway.core.mongo.db,
    key: gateway.core.secrets.deriveKey('ledger'),
    holders: async () => new Map(),
  });
  expect(violations).toEqual([]);
}

async function expectRefused(
  task: string,
  more: Readonly<Record<string, unknown>>,
  [status, message]: [number, string],
): Promise<void> {
  const { body, status: answered } = await refund(task, more);
  expect([answered, body.error.message]).toEqual([status, expect.stringContaining(message)]);
  expect(await show(task)).toMatchObject({ refunded: null, actions: [] });
  expect(await refundsOf(task)).toEqual([]);
}

describe('a task that succeeded', () => {
  it('is refunded in full: the account has the money, and the ledger and the record show who did it and why', async () => {
    const { account, task } = await ended();
    expect(await account.balance()).toMatchObject({ available: '9.237700', held: '0.000000' });
    expect(await show(task)).toMatchObject({ charge: videoCharge, refunded: null });
    const answer = await refund(task);
    expect([answer.status, answer.body.result]).toEqual([
      200,
      {
        did: {
          task: 'The task stays succeeded.',
          money: `${videoCharge} USD is refunded to the account ${account.id}; ${videoCharge} USD was charged.`,
        },
      },
    ]);
    expect(await account.balance()).toMatchObject({ available: '10.000000', held: '0.000000' });
    const shown = await show(task);
    expect(shown).toMatchObject({ status: 'succeeded', charge: videoCharge, refunded: videoCharge });
    expect(shown.actions).toEqual([
      {
        at: expect.any(Number),
        by: 'ada',
        action: 'refund',
        reason: 'it shows nothing',
        detail: `${videoCharge} USD is refunded.`,
      },
    ]);
    expect(shown.ledger.map(({ kind }: { kind: string }) => kind)).toEqual(['hold', 'settle', 'refund']);
    expect(shown.ledger.at(-1)).toMatchObject({ amount: videoCharge, note: 'by ada: it shows nothing' });
    await expectSound();
  });

  it('needs no operator any more, even if the process dies before it says so', async () => {
    const { task } = await ended();
    const { tasks } = gateway.core.stores;
    await tasks.setConcern(task, 'not_delivered');
    const dies = vi.spyOn(tasks, 'withdrawConcern').mockRejectedValueOnce(new Error('the process dies'));
    expect((await refund(task)).status).toBe(500);
    expect(dies).toHaveBeenCalledOnce();
    expect(await show(task)).toMatchObject({ refunded: videoCharge, needs_attention: 'not_delivered' });
    expect((await refund(task)).status).toBe(409);
    expect((await show(task)).needs_attention).toBeNull();
    expect((await show(task)).actions).toHaveLength(1);
  });

  it('is also refunded what it was charged beyond its hold, and no more than that', async () => {
    const { account, task } = await ended({ prompt: 'more than was held [sim:usage-above=2]' });
    const { charge } = await show(task);
    expect(charge).toBe('1.524600');
    await expectRefused(task, { amount: '1.524601' }, [409, 'The task was charged 1.524600 USD']);
    expect((await refund(task, { amount: '1.5246' })).status).toBe(200);
    expect(await account.balance()).toMatchObject({ available: '10.000000' });
    expect(await show(task)).toMatchObject({ refunded: charge, charge });
    await expectSound();
  });

  it('is refunded once: any later refund, whatever its amount, is refused with what was done', async () => {
    const { account, task } = await ended();
    expect((await refund(task, { amount: '0.5' })).status).toBe(200);
    for (const [more, key] of [
      [{ amount: '0.5' }, ada],
      [{ amount: '0.1' }, ben],
      [{ dry_run: true }, ben],
    ] as const) {
      const { status, body } = await refund(task, more, key);
      expect([status, body.error.code, body.error.message]).toEqual([
        409,
        'action_not_possible',
        'The task has been refunded already: 0.500000 USD by ada: it shows nothing',
      ]);
    }
    expect(await account.balance()).toMatchObject({ available: '9.737700' });
    expect(await refundsOf(task)).toHaveLength(1);
    expect((await show(task)).actions).toMatchObject([{ by: 'ada' }]);
    await expectSound();
  });

  it('has one refund if two operators ask at the same time, namely the one whose entry exists', async () => {
    const { account, task } = await ended();
    const paused = pauseFirstAt('ledger.append', account.id);
    const late = refund(task, { amount: '0.3' });
    await paused.reached;
    // The queue of this process is stopped, so another API process sends the refund.
    await otherNode()({
      task: await recordOf(task),
      action: 'refund',
      input: { by: 'ben', reason: 'seen by ben', amount: '0.2' },
    });
    paused.release();
    const { status, body } = await late;
    expect([status, body.error.message]).toEqual([
      409,
      'The task has been refunded already: 0.200000 USD by ben: seen by ben',
    ]);
    expect((await show(task)).actions).toMatchObject([{ by: 'ben', reason: 'seen by ben' }]);
    expect(await show(task)).toMatchObject({ refunded: '0.200000' });
    expect(await account.balance()).toMatchObject({ available: '9.437700' });
    await expectSound();
  });

  it('whose refund was interrupted before its record was written gets it recorded once, at the next request', async () => {
    const { account, task } = await ended();
    const cut = new Error('the process dies');
    const dying = otherNode({ tasks: { ...gateway.core.stores.tasks, step: () => Promise.reject(cut) } });
    const input = { by: 'ben', reason: 'why: it is black: all of it', amount: '0.2' };
    await expect(dying({ task: await recordOf(task), action: 'refund', input })).rejects.toThrow(cut);
    expect(await show(task)).toMatchObject({ refunded: '0.200000', actions: [] });
    expect((await refund(task)).body.error.message).toContain(
      'refunded already: 0.200000 USD by ben: why: it',
    );
    const acts = (await show(task)).actions;
    expect(acts).toMatchObject([{ by: 'ben', reason: input.reason, detail: '0.200000 USD is refunded.' }]);
    expect((await refund(task)).status).toBe(409);
    expect((await show(task)).actions).toEqual(acts);
    expect(await account.balance()).toMatchObject({ available: '9.437700' });
  });

  it('whose entry was written although the response was lost is refunded, because the entry is our own', async () => {
    const { account, task } = await ended();
    const collection = faulty(ledgerCollection(gateway.core.mongo.db), faultsInOrder(['lost']));
    const { secrets, now } = gateway.core;
    const key = secrets.deriveKey('ledger');
    const node = otherNode({ ledger: createLedger({ collection, key, now }) });
    const input = { by: 'ben', reason: 'once', amount: '0.2' };
    await expect(node({ task: await recordOf(task), action: 'refund', input })).resolves.toMatchObject({
      did: { task: expect.any(String) },
    });
    expect(await show(task)).toMatchObject({ refunded: '0.200000', actions: [{ by: 'ben' }] });
    expect(await account.balance()).toMatchObject({ available: '9.437700' });
    expect(await refundsOf(task)).toHaveLength(1);
  });

  it('is not refunded with dry_run, which reports what would happen to the money', async () => {
    const { account, task } = await ended();
    const { status, body } = await refund(task, { amount: '0.5', dry_run: true });
    expect([status, body.result]).toEqual([
      200,
      {
        would: {
          task: 'The task stays succeeded.',
          money: `0.500000 USD is refunded to the account ${account.id}; ${videoCharge} USD was charged.`,
        },
        plan: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    ]);
    expect(await show(task)).toMatchObject({ refunded: null, actions: [] });
    expect(await account.balance()).toMatchObject({ available: '9.237700' });
  });

  it.each(['0', '0.0000001', '-0.5', 'all', '', 0.5])('is not refunded %j', async (amount) => {
    const { task } = await ended();
    const { status, body } = await refund(task, { amount });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_parameter', 'amount']);
    expect(await show(task)).toMatchObject({ refunded: null, actions: [] });
  });
});

it('a task that failed or is running has nothing to refund', async () => {
  const { account, task } = await ended({ prompt: 'in vain [sim:failed]' });
  expect((await show(task)).status).toBe('failed');
  await expectRefused(task, {}, [409, 'The task has failed, and nothing was charged for it.']);
  const running = (await account.create({ prompt: 'not yet [sim:render=600]' })).body.id;
  await expectRefused(running, {}, [409, 'Only a task that has ended can be refunded.']);
  expect(await account.balance()).toMatchObject({ available: '9.237700', held: videoCharge });
  await actOn(gateway.admin, running, { action: 'fail', reason: 'enough' });
  await account.finished(running);
});

it('an operator who may only read cannot refund', async () => {
  const { task } = await ended();
  const { token } = (await gateway.admin('POST', '/operators', { name: 'eve', roles: ['read'] })).body;
  expect((await refund(task, {}, token)).body.error.code).toBe('operator_not_allowed');
  expect(await show(task)).toMatchObject({ refunded: null, actions: [] });
});

it('the command line shows a dry run, then refunds an amount and shows it', async () => {
  const { account, task } = await ended();
  const line = ['tasks', 'action', task, 'refund', '--amount', '0.5', '--reason', 'half of it is black'];
  const cli = (...words: string[]) => runLine(gateway, words, { token: ada });
  const dry = await cli(...line, '--dry-run');
  expect(dry.text).toMatch(/^would\n +task +The task stays succeeded\.\n +money +0\.500000 USD is refunded/);
  expect(await account.balance()).toMatchObject({ available: '9.237700' });
  await expect(cli(...line)).rejects.toThrow('--plan PLAN');
  const plan = /^plan +(\w+)$/m.exec(dry.text)?.[1] ?? '';
  expect((await cli(...line, '--plan', plan)).text).toMatch(/^did\n/);
  expect(await account.balance()).toMatchObject({ available: '9.737700' });
  await expect(cli(...line, '--plan', plan)).rejects.toThrow(
    'refunded already: 0.500000 USD by ada: half of it is black',
  );
  await expect(
    cli('tasks', 'action', task, 'refund', '--amount', 'much', '--reason', 'r', '--dry-run'),
  ).rejects.toThrow('positive decimal');
  const { text } = await cli('tasks', 'show', task);
  expect(text).toMatch(/refunded +0\.500000/);
  expect(text).toContain('refund +0.500000 (by ada: half of it is black)');
  expect(text).toContain('ada: refund (half of it is black): 0.500000 USD is refunded.');
});

async function recordOf(task: string) {
  const record = await gateway.core.stores.tasks.find(task);
  if (record === undefined) throw new Error(`no record of ${task}`);
  return record;
}

function otherNode(change: Partial<ActOnTaskDeps> = {}) {
  const { stores, mongo, secrets, now } = gateway.core;
  const key = secrets.deriveKey('ledger');
  const unused = () => Promise.reject(new Error('no workflow takes part'));
  return createActOnTask({
    ...stores,
    ledger: createLedger({ collection: ledgerCollection(mongo.db), key, now }),
    currency: () => 'USD',
    port: { act: unused, redeliver: unused },
    now,
    randomBytes,
    ...change,
  });
}

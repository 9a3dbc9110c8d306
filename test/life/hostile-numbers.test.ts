import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachedBeforeDeadline } from '../support/before-deadline.ts';
import { actOn, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { startForwarder, type Forwarder } from '../support/forwarder.ts';
import { expectSoundLedger } from '../support/sound-ledger.ts';

describe('a success without usage, and an impossible length', () => {
  let upstream: Forwarder;
  let gateway: TestGateway;
  let account: TestAccount;
  let duration = '5';
  beforeAll(async () => {
    upstream = await startForwarder(() => gateway.simulatorUrl, {
      rewrite: (text) =>
        text
          .replaceAll(/"usage":\s*\{[^}]*\}/g, '"usage":null')
          .replaceAll(/"duration":\s*[\d.]+/g, () => `"duration":${duration}`),
    });
    gateway = await startGateway({ yaml: testYaml.replace('${SIMULATOR_URL}', upstream.url) });
    account = await gateway.account();
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const kindsOf = async (task: string) =>
    (await gateway.core.ledger.entriesOfTask(task)).map(({ kind }) => kind);
  const shown = async (id: string) => (await gateway.admin('GET', `/admin/v1/tasks/${id}`)).body;
  const act = (id: string, action: string) => actOn(gateway.admin, id, { action, reason: 'looked at it' });

  const isAsked = async (id: string) => (await shown(id)).needs_attention === 'charge_review';

  async function asked(reported: string): Promise<string> {
    duration = reported;
    const { body } = await account.create();
    await waitUntil('an operator is asked', () => isAsked(body.id));
    expect(await kindsOf(body.id)).toEqual(['hold']);
    return body.id;
  }

  it.each(['1e307', '1e308', '-5', '1e999'])('%s asks an operator, who fails the task', async (reported) => {
    const id = await asked(reported);
    expect((await act(id, 'retry_now')).status).toBe(409);
    expect((await act(id, 'fail')).status).toBe(200);
    expect(await account.finished(id)).toMatchObject({ status: 'failed' });
    expect(await kindsOf(id)).toEqual(['hold', 'release']);
  });

  it.each(['1e307', '-5'])('%s asks an operator, who accepts the amount held', async (reported) => {
    const id = await asked(reported);
    const { hold, situation } = await shown(id);
    expect(situation.charge).toBe(hold);
    expect((await act(id, 'accept_charge')).status).toBe(200);
    expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    expect(await shown(id)).toMatchObject({ charge: hold, charge_estimated: true });
    expect(await kindsOf(id)).toEqual(['hold', 'settle']);
  });

  it('1e307 is released at the deadline if nobody decides', async () => {
    duration = '1e307';
    const id = await reachedBeforeDeadline(account, {
      seconds: 20,
      body: () => ({}),
      isReached: isAsked,
    });
    expect(await account.finished(id)).toMatchObject({ error: { code: 'task_expired' } });
    expect(await kindsOf(id)).toEqual(['hold', 'release']);
  });

  it.each(['"NaN"', 'null'])('%s in place of a number: the amount held is charged', async (none) => {
    duration = none;
    const { body } = await account.create();
    expect(await account.finished(body.id)).toMatchObject({ status: 'succeeded' });
    const { hold, needs_attention } = await shown(body.id);
    expect(needs_attention).toBeNull();
    expect(await shown(body.id)).toMatchObject({ charge: hold, charge_estimated: true });
  });

  it('leaves a ledger in which every entry adds up', () => expectSoundLedger(gateway.core));
});

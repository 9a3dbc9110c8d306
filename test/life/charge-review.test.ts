import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachedBeforeDeadline } from '../support/before-deadline.ts';
import { actOn, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, videoCharge, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

const timesReported = 20;
const charged = (timesReported * Number(videoCharge)).toFixed(6);

describe('a charge far above the hold', () => {
  let gateway: TestGateway;
  let account: TestAccount;
  beforeAll(async () => {
    gateway = await startGateway({ yaml: `${testYaml}      hold: { review_above: "3" }\n` });
    account = await gateway.account();
  });
  afterAll(() => gateway.stop());

  const kindsOf = async (task: string) =>
    (await gateway.core.ledger.entriesOfTask(task)).map(({ kind }) => kind);
  const act = (id: string, action: string) => actOn(gateway.admin, id, { action, reason: 'looked at it' });

  const costly = { prompt: `costly [sim:usage-above=${timesReported}]` };
  const isParked = async (id: string) =>
    (await gateway.admin('GET', `/admin/v1/tasks/${id}`)).body.needs_attention === 'charge_review';

  async function parked(): Promise<string> {
    const { body } = await account.create(costly);
    await waitUntil('an operator is asked', () => isParked(body.id));
    return body.id;
  }

  it('waits for an operator, who accepts it', async () => {
    const id = await parked();
    const { body: shown } = await account.call('GET', `/v1/videos/generations/${id}`);
    expect(['submitted', 'running']).toContain(shown.status);
    expect(await kindsOf(id)).toEqual(['hold']);
    expect((await account.call('POST', `/v1/videos/generations/${id}/cancel`)).status).toBe(409);
    for (const action of ['retry_now', 'resubmit']) expect((await act(id, action)).status).toBe(409);

    expect((await act(id, 'accept_charge')).status).toBe(200);
    expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    expect(await kindsOf(id)).toEqual(['hold', 'settle', 'charge_extra']);
    const { body } = await gateway.admin('GET', `/admin/v1/tasks/${id}`);
    expect(body).toMatchObject({ needs_attention: null, charge: charged });
    expect((await act(id, 'accept_charge')).status).toBe(409);
  });

  it('or fails the task, which charges nothing', async () => {
    const id = await parked();
    expect((await act(id, 'fail')).status).toBe(200);
    expect(await account.finished(id)).toMatchObject({ status: 'failed' });
    expect(await kindsOf(id)).toEqual(['hold', 'release']);
  });

  it('is released at the deadline if nobody decides', async () => {
    const id = await reachedBeforeDeadline(account, {
      seconds: 20,
      body: () => costly,
      isReached: isParked,
    });
    expect(await account.finished(id)).toMatchObject({
      status: 'failed',
      error: { code: 'task_expired' },
    });
    expect(await kindsOf(id)).toEqual(['hold', 'release']);
  });

  it('needs no decision below the multiple', async () => {
    const { body } = await account.create({ prompt: 'a little more [sim:usage-above=2]' });
    expect(await account.finished(body.id)).toMatchObject({ status: 'succeeded' });
    expect((await act(body.id, 'accept_charge')).status).toBe(409);
  });
});

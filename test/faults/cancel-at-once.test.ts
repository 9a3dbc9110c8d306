import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { persevere, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { pauseFirstAt } from '../support/race.ts';
import { expectSoundLedger } from '../support/sound-ledger.ts';
import { startFaultUpstream, type Fault, type FaultUpstream } from './fault-upstream.ts';

const tasks = 32;
const cancelAfterMsMax = 200;
const sentAtLeast = 4;
const upstreamAnswersAfterMs = 2_000;

let upstream: FaultUpstream;
let gateway: TestGateway;
let account: TestAccount;

const answerSlowly: Fault = async ({ forward, answer }) => {
  const { status, text } = await forward();
  await delay(upstreamAnswersAfterMs);
  answer(status, text);
};

beforeAll(async () => {
  upstream = await startFaultUpstream(
    new Map([['slow', { create: answerSlowly }]]),
    () => gateway.simulatorUrl,
  );
  const base = `http://127.0.0.1:${upstream.port}/slow`;
  // A lost job could not be cancelled, so no request may time out, even on a busy machine.
  const patientYaml = testYaml.replace(
    'submit_ms: 10000, poll_ms: 10000',
    'submit_ms: 60000, poll_ms: 60000',
  );
  gateway = await startGateway({ yaml: patientYaml.replace('${SIMULATOR_URL}', base) });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const kindsOf = async (task: string) =>
  (await gateway.core.ledger.entriesOfTask(task)).map(({ kind }) => kind);
const isAlive = (prompt: string) =>
  gateway.simulator.tasks(prompt).some(({ phase }) => phase === 'queued' || phase === 'running');

interface Cancelled {
  readonly id: string;
  readonly prompt: string;
  readonly isQueued: boolean;
  readonly status: number;
  readonly text: string;
}

/**
 * After a 503, an earlier attempt may already have cancelled the task, so repeat the cancellation until its outcome is
 * known.
 */
async function cancelUntilAnswered(task: string): Promise<Pick<Cancelled, 'status' | 'text'>> {
  let tries = 0;
  const { status, text } = await persevere(() => {
    tries += 1;
    return account.call('POST', `/v1/videos/generations/${task}/cancel`);
  });
  return { status: tries > 1 && text.includes('already failed') ? 200 : status, text };
}

async function createAndCancel(n: number): Promise<Cancelled> {
  const prompt = `cancelled-at-once-${n}.`;
  const isQueued = n % 2 === 0;
  const mark = isQueued ? ' [sim:queue=600]' : ' [sim:queue=0][sim:render=600]';
  const key = { 'idempotency-key': `create-${n}` };
  const created = await persevere(() => account.create({ prompt: prompt + mark }, key));
  expect(created.status).toBe(200);
  // Wait for some of the jobs to reach the upstream, however slow the machine is.
  if (n >= tasks - sentAtLeast)
    await expect.poll(() => gateway.simulator.submissions(prompt).creates).toBe(1);
  else await delay((cancelAfterMsMax * n) / tasks);
  return { id: created.body.id, prompt, isQueued, ...(await cancelUntilAnswered(created.body.id)) };
}

it('if a cancel right after its create returned 200, the task is not charged and its job not kept', async () => {
  const cancels = await Promise.all(Array.from({ length: tasks }, (_, n) => createAndCancel(n)));
  const done = cancels.filter(({ status }) => status === 200);
  const refused = cancels.filter(({ status }) => status !== 200);
  const isNot409 = ({ status }: Cancelled): boolean => status !== 409;
  expect(refused.filter(isNot409).map(({ text }) => text)).toEqual([]);
  // Every queued job must be cancelled. The upstream must have received some of the cancelled jobs. Otherwise, this
  // test proves nothing.
  expect(refused.filter(({ isQueued }) => isQueued).map(({ text }) => text)).toEqual([]);
  expect(done.filter(({ prompt }) => gateway.simulator.submissions(prompt).creates === 1)).not.toEqual([]);
  for (const { id, prompt } of done) {
    const { body } = await account.call('GET', `/v1/videos/generations/${id}`);
    expect(body).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });
    expect(await kindsOf(id)).toEqual(['hold', 'release']);
    expect(isAlive(prompt)).toBe(false);
  }
  gateway.simulator.advance(1_200);
  for (const { id, prompt } of refused) {
    expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    expect(await kindsOf(id)).toEqual(['hold', 'settle']);
    expect(gateway.simulator.submissions(prompt)).toEqual({ submits: 1, creates: 1 });
  }
  expect(await account.balance()).toMatchObject({ held: '0.000000' });
  await expectSoundLedger(gateway.core);
});

it('an unwanted job is stopped by whichever process records that it was accepted', async () => {
  const paused = pauseFirstAt('submit.answered');
  onTestFinished(() => paused.release());
  const prompt = 'unwanted-when-accepted.';
  const { body } = await account.create({ prompt: `${prompt} [sim:queue=600]` });
  await paused.reached;
  const cancelling = account.call('POST', `/v1/videos/generations/${body.id}/cancel`);
  const stateOf = async () => (await gateway.core.stores.tasks.find(body.id))?.state;
  await expect.poll(stateOf).toMatchObject({ at: 'sending', stop: 'cancel' });
  expect(isAlive(prompt)).toBe(true);
  paused.release();
  expect((await cancelling).status).toBe(200);
  expect(isAlive(prompt)).toBe(false);
  expect(await kindsOf(body.id)).toEqual(['hold', 'release']);
  await expectSoundLedger(gateway.core);
});

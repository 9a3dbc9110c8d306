import { afterAll, beforeAll, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore, type Core } from '../../src/compose/core.ts';
import { createLogger } from '../../src/observability/log.ts';
import { openTaskPort } from '../../src/compose/task-port.ts';
import type { TaskState } from '../../src/task/state.ts';
import { createWorkflowLookup } from '../../src/temporal/workflow-lookup.ts';
import { startWorker, type RunningWorker } from '../../src/worker.ts';
import { actOn, type TestAccount } from '../support/client.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { expectSoundLedger } from '../support/sound-ledger.ts';

let gateway: TestGateway;
let account: TestAccount;
let core: Core | undefined;
let worker: RunningWorker | undefined;

beforeAll(async () => {
  gateway = await startGateway({ worker: false });
  account = await gateway.account();
  await runWorker();
  const schedule = `${gateway.environment['TASK_QUEUE_PREFIX']}reconcile-tasks`;
  await gateway.core.client.schedule.getHandle(schedule).pause();
});
afterAll(async () => {
  await stopWorker();
  await gateway.stop();
});

async function runWorker(): Promise<void> {
  const log = createLogger({ level: 'silent', format: 'json' });
  const databaseNow = () => Date.now() + gateway.clock.aheadMs;
  core = await openCore(readEnvironment(gateway.environment), log, { databaseNow });
  worker = await startWorker(core);
}

async function stopWorker(): Promise<void> {
  await worker?.stop();
  await core?.close();
}

const round = { round: 1, left: [{ channel: 'ark', credential: 'a' }], full: [] };
const lostAttempt = {
  $set: { 'attempts.0.state': 'lost', status: 'pending' },
  $unset: { 'attempts.0.operation': '', jobs: '', upstreamId: '' },
};
const sentAttempt = {
  $set: { 'attempts.0.state': 'sending', status: 'pending' },
  $unset: { 'attempts.0.operation': '', jobs: '', upstreamId: '' },
};

interface Lost {
  readonly state: TaskState;
  readonly change?: object;
  readonly act?: string;
  readonly fails?: string;
}

/** How far each task has got when the workflows are lost. The upstream has the job in all but the first two cases. */
const states: readonly Lost[] = [
  { state: { at: 'queued', ...round } },
  { state: { at: 'pausing', round: 1, full: [], ms: 1, until: 1 } },
  { state: { at: 'sending', n: 1, ...round }, change: sentAttempt },
  { state: { at: 'searching', n: 1, code: 'submission_lost' }, change: lostAttempt },
  { state: { at: 'asking', n: 1, code: 'submission_lost' }, change: lostAttempt, act: 'retry_now' },
  { state: { at: 'waiting', n: 1 } },
  { state: { at: 'broken', n: 1, code: 'gone' }, act: 'retry_now' },
  { state: { at: 'stopping', n: 1, stop: 'cancel' } },
  { state: { at: 'ending', ending: { kind: 'failed' } }, fails: 'provider_error' },
  { state: { at: 'review', why: 'unreleased' }, act: 'retry_now', fails: 'provider_error' },
];
const unsubmitted = new Set(['queued', 'pausing']);

async function create(prompt: string): Promise<string> {
  const { status, body } = await account.create({ prompt });
  expect(status).toBe(200);
  return body.id;
}

const stateOf = async (id: string) => (await gateway.core.stores.tasks.find(id))?.state.at;
const lookup = () =>
  createWorkflowLookup(gateway.core.client, gateway.environment['TASK_QUEUE_PREFIX'] ?? '');

async function loseWorkflow(id: string): Promise<void> {
  const { workflowService, options } = gateway.core.client;
  const workflowExecution = { workflowId: id };
  await workflowService.deleteWorkflowExecution({ namespace: options.namespace, workflowExecution });
  await expect.poll(() => lookup().find(id)).toBeUndefined();
}

it('each task ends as it would have, with one submission, and terminated ones fail', async () => {
  const promptOf = ({ at }: TaskState) => `lost while ${at}`;
  const submitted = states.filter(({ state }) => !unsubmitted.has(state.at));
  const ids = new Map<string, string>();
  const idOf = ({ at }: TaskState) => ids.get(at) ?? '';
  for (const { state } of submitted) ids.set(state.at, await create(`${promptOf(state)} [sim:render=3600]`));
  const terminated = await create('terminated [sim:render=3600]');
  for (const id of [...ids.values(), terminated]) await expect.poll(() => stateOf(id)).toBe('waiting');
  await stopWorker();
  for (const { state } of states) if (!ids.has(state.at)) ids.set(state.at, await create(promptOf(state)));
  // A process that dies during a creation leaves such a record. The caller cannot have received a response.
  const unbegun = await create('unbegun');

  const tasks = gateway.core.mongo.db.collection<{ _id: string }>('tasks');
  for (const { state, change } of states) {
    const id = idOf(state);
    await tasks.updateOne({ _id: id }, { $set: { state }, $inc: { rev: 1 } });
    if (change !== undefined) await tasks.updateOne({ _id: id }, change);
  }
  for (const id of [...ids.values(), unbegun]) await loseWorkflow(id);
  await gateway.core.client.workflow.getHandle(terminated).terminate();
  const gone = new Set([...ids.values(), unbegun, terminated]);
  const running = async () => {
    const listed: string[] = [];
    for await (const id of lookup().running()) if (gone.has(id)) listed.push(id);
    return listed;
  };
  await expect.poll(running).toEqual([]);
  for (const id of gone) {
    const refused = [
      await account.call('POST', `/v1/videos/generations/${id}/cancel`),
      await actOn(gateway.admin, id, { action: 'fail', reason: 'a test' }),
    ];
    for (const { status, body } of refused)
      expect([id, status, body.error]).toMatchObject([id, 503, { code: 'service_unavailable' }]);
  }

  gateway.simulator.advance(3600);
  await runWorker();
  await gateway.reconcile();
  expect(await gateway.reconcile()).toMatchObject({ repaired: ids.size + 2, failed: 0 });
  for (const { state, act } of states) {
    if (act === undefined) continue;
    const { status, body } = await actOn(gateway.admin, idOf(state), { action: act, reason: 'a test' });
    expect([state.at, status]).toEqual([state.at, 200]);
    expect(JSON.stringify(body)).toMatch(
      /An attempt was made just now: |has started an attempt|no worker has started it yet|is running now/,
    );
    await expect
      .poll(() => stateOf(idOf(state)), { message: `a worker starts what was ${state.at}` })
      .not.toBe(state.at);
  }
  // An old job may not be polled for another half a minute, so wake the tasks.
  const port = openTaskPort(gateway.core);
  for (const { state } of states) {
    await expect.poll(() => port.wake(idOf(state)).then(() => stateOf(idOf(state)))).toBe('ended');
  }
  for (const { state, fails } of states) {
    const { status, error } = await account.finished(idOf(state));
    expect([state.at, status, error?.code]).toEqual([
      state.at,
      fails === undefined ? 'succeeded' : 'failed',
      fails,
    ]);
    expect(gateway.simulator.submissions(promptOf(state))).toEqual({ submits: 1, creates: 1 });
  }
  expect(await account.finished(terminated)).toMatchObject({ error: { code: 'internal_error' } });
  expect((await account.call('GET', `/v1/videos/generations/${unbegun}`)).status).toBe(404);
  expect((await account.balance()).held).toBe('0.000000');
  await expectSoundLedger(gateway.core);
});

it('a callback whose address has been deleted is no longer owed, so its task can be removed', async () => {
  const receiver = await startCallbackReceiver([500, 500]);
  const { body } = await account.create({ metadata: { callback_url: receiver.url } });
  await account.finished(body.id);
  const { tasks, requests } = gateway.core.stores;
  await expect.poll(() => tasks.find(body.id).then((task) => task?.callback?.attempts.length)).toBe(1);
  await receiver.close();
  await gateway.core.client.workflow.getHandle(body.id).terminate();
  await requests.removeMany([body.id]);
  const removable = () => tasks.endedBefore(Date.now() + 365 * 86_400_000, 100);
  expect(await removable()).not.toContain(body.id);
  await gateway.reconcile();
  await gateway.reconcile();
  await expect.poll(removable).toContain(body.id);
});

import type { ReplayWorkerOptions } from '@temporalio/worker';
import { z } from 'zod';
import { isTerminal } from '../../src/task/task.ts';
import { runLedgerVerification } from '../../src/ledger/run-verification.ts';
import type { Task } from '../../src/task/record.ts';
import { toTask, type TaskDocument } from '../../src/store/task-document.ts';
import { dataConverter } from '../../src/temporal/connection.ts';
import { replayError } from '../../test/support/replay-error.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';
import { createWorkflowLookup } from '../../src/temporal/workflow-lookup.ts';
import { askFor } from '../stand/http.ts';
import { chargeOfTask } from './configuration.ts';
import type { Create } from './load.ts';
import type { Operators } from './operators.ts';
import { readReceived, repeatedCallbacks } from './settle.ts';
import { queuePrefix, type Stand } from './stand.ts';

export interface Findings {
  readonly violations: readonly string[];
  readonly accepted: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly callbacks: number;
}

interface Evidence {
  readonly stand: Stand;
  readonly replaying: ReplayWorkerOptions;
  readonly operators: Operators;
  readonly tasks: ReadonlyMap<string, Task>;
  readonly labels: ReadonlyMap<string, readonly string[]>;
  readonly repeated: readonly string[];
}

const upstreamSchema = z.object({ submits: z.number(), creates: z.number() });
const resultSchema = z.looseObject({ status: z.string(), charge: z.string().optional() });

/** Returns one sentence for each violation. */
export async function check(
  stand: Stand,
  creates: readonly Create[],
  operators: Operators,
): Promise<Findings> {
  const replaying = {
    workflowBundle: await bundleWorkflows(),
    dataConverter: dataConverter(stand.core.temporal),
  };
  const received = await readReceived(stand);
  const repeated = await repeatedCallbacks(stand, creates, received);
  const evidence = { ...(await collect(stand)), replaying, operators, repeated };
  const violations: string[] = [];
  for (const create of creates) violations.push(...(await checkCreate(create, evidence)));
  for (const { label, hook, ids } of creates) {
    if (hook === undefined) continue;
    const [task] = ids;
    const webhookIds = [...new Set(received[hook] ?? [])];
    if (task !== undefined && webhookIds.join() !== task)
      violations.push(`${label} ${task}: its callbacks bore the ids [${webhookIds.join()}]`);
  }
  violations.push(...(await checkLedger(stand)));
  const all = [...evidence.tasks.values()];
  return {
    violations,
    accepted: creates.filter(({ ids }) => ids.size > 0).length,
    succeeded: all.filter(({ status }) => status === 'succeeded').length,
    failed: all.filter(({ status }) => status === 'failed').length,
    callbacks: Object.values(received).reduce((sum, ids) => sum + ids.length, 0),
  };
}

async function collect(stand: Stand): Promise<Pick<Evidence, 'stand' | 'tasks' | 'labels'>> {
  const { db } = stand.core.mongo;
  const tasks = new Map<string, Task>();
  for await (const document of db.collection<TaskDocument>('tasks').find())
    tasks.set(document._id, toTask(document));
  const labels = new Map<string, string[]>();
  for (const id of tasks.keys()) {
    const request = await stand.core.stores.requests.find(id);
    const label = request?.request.prompt?.split(' ')[0] ?? '';
    labels.set(label, [...(labels.get(label) ?? []), id]);
  }
  return { stand, tasks, labels };
}

async function checkCreate(create: Create, evidence: Evidence): Promise<string[]> {
  const { label, ids, answers, unexpected } = create;
  const known = evidence.labels.get(label) ?? [];
  const problems = unexpected.map((answer) => `answered ${answer}`);
  if (ids.size > 1) problems.push(`its repeats named ${ids.size} tasks: ${[...ids].join()}`);
  if (known.length > 1) problems.push(`became ${known.length} tasks: ${known.join()}`);
  const [accepted] = ids;
  if (accepted !== undefined && !known.includes(accepted)) problems.push(`${accepted} is gone`);
  if (answers.length === 1 && answers[0] === 503 && known.length > 0)
    problems.push(`was answered 503 only, and left ${known.join()}`);
  const upstream = await askFor(
    upstreamSchema,
    `${evidence.stand.simulatorUrl}/_control/tasks?prompt=${encodeURIComponent(label)}`,
  );
  const [task] = known;
  if (task === undefined) {
    if (upstream.creates > 0) problems.push(`has no task, and ${upstream.creates} jobs upstream`);
  } else {
    problems.push(...(await checkTask(task, upstream.creates, evidence)));
  }
  return problems.map((problem) => `${label} ${problem}`);
}

async function checkTask(id: string, jobs: number, evidence: Evidence): Promise<string[]> {
  const { tasks, operators } = evidence;
  const task = tasks.get(id);
  if (task === undefined) return [`${id} is gone`];
  const done = operators.done.filter((deed) => deed.task === id).map(({ action }) => action);
  const resubmits = done.filter((action) => action === 'resubmit').length;
  const problems: string[] = [];
  if (!isTerminal(task.status)) problems.push(`is still ${task.status}`);
  const mayFail = done.includes('cancel') || done.includes('fail');
  if (task.status === 'failed' && !mayFail) problems.push(`failed: ${JSON.stringify(task.error)}`);
  if (task.status === 'succeeded' && jobs === 0) problems.push('succeeded without a job');
  if (jobs > 1 + resubmits)
    problems.push(`has ${jobs} jobs upstream, and was resubmitted ${resubmits} times`);
  const expected = task.status === 'succeeded' ? chargeOfTask : 0n;
  if ((task.charge ?? 0n) !== expected) problems.push(`is charged ${task.charge}, not ${expected}`);
  problems.push(...(await checkMoney(task, evidence)), ...(await checkHistory(task, evidence)));
  return problems.map((problem) => `${id} ${problem} (operators: ${done.join() || 'nothing'})`);
}

async function checkMoney({ id, charge, status }: Task, { stand }: Evidence): Promise<string[]> {
  const entries = await stand.core.ledger.entriesOfTask(id);
  const paid = entries
    .filter(({ kind }) => kind === 'settle' || kind === 'charge_extra')
    .reduce((sum, { amount }) => sum + amount, 0n);
  const kinds = entries.map(({ kind }) => kind);
  const closed = status === 'succeeded' ? 'settle' : 'release';
  const isRight = kinds.includes('hold') && kinds.includes(closed);
  return [
    ...(paid === (charge ?? 0n) ? [] : [`shows ${charge}, and the ledger ${paid}`]),
    ...(isRight ? [] : [`is ${status}, and its ledger says ${kinds.join()}`]),
  ];
}

async function checkHistory(task: Task, { stand, replaying, repeated }: Evidence): Promise<string[]> {
  const handle = stand.core.client.workflow.getHandle(task.id);
  const { status: run } = await handle.describe();
  const broken = await replayError(task.id, await handle.fetchHistory(), replaying);
  const problems = broken === undefined ? [] : [`could not be continued from its history: ${broken}`];
  if (run.name === 'RUNNING' && repeated.includes(task.id)) return problems;
  if (run.name !== 'COMPLETED') return [`has a workflow that is ${run.name}`, ...problems];
  return [...problems, ...differencesOf(task, resultSchema.parse(await handle.result()))];
}

function differencesOf({ charge, status }: Task, result: z.infer<typeof resultSchema>): string[] {
  const isSame =
    result.status === status && (status === 'failed' || BigInt(result.charge ?? 0) === (charge ?? 0n));
  return isSame ? [] : [`is ${status} at ${charge}, and its history says ${JSON.stringify(result)}`];
}

async function checkLedger({ core }: Stand): Promise<string[]> {
  const { violations, openHolds } = await runLedgerVerification({
    db: core.mongo.db,
    key: core.secrets.deriveKey('ledger'),
    workflows: createWorkflowLookup(core.client, queuePrefix),
    leases: core.stores.imageLeases,
    onProgress: () => undefined,
  });
  return [
    ...violations.map((violation) => `ledger: ${JSON.stringify(violation)}`),
    ...Object.entries(openHolds).flatMap(([holder, count]) =>
      count === 0 ? [] : [`ledger: ${count} holds are open, for each a ${holder}`],
    ),
  ];
}

import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf } from '../../src/base/caught.ts';
import type { TaskDocument } from '../../src/store/task-document.ts';
import { askFor } from '../stand/http.ts';
import type { Create } from './load.ts';
import type { Operators } from './operators.ts';
import { queuePrefix, type Stand } from './stand.ts';

export type Received = Readonly<Record<string, readonly string[]>>;

const lookEveryMs = 1_000;
const reconcileEveryMs = 20_000;
const sayEveryMs = 10_000;
/** Long enough for the second attempt of a lost callback, which may come five minutes later. */
const settledWithinMs = 8 * 60_000;

export function readReceived(stand: Stand): Promise<Received> {
  return askFor(z.record(z.string(), z.array(z.string())), `${stand.receiverUrl}/received`);
}

export async function settle(
  stand: Stand,
  creates: readonly Create[],
  { operators, report }: { readonly operators: Operators; readonly report: (line: string) => void },
): Promise<readonly string[]> {
  const endsAt = Date.now() + settledWithinMs;
  let saidAt = 0;
  let reconciledAt = Date.now();
  for (;;) {
    const waiting = await whatWaits(stand, creates);
    if (waiting.length === 0 || Date.now() > endsAt) return waiting;
    if (Date.now() - saidAt > sayEveryMs) {
      saidAt = Date.now();
      report(`  ${waiting.length} things wait: ${waiting.slice(0, 3).join('; ')}`);
    }
    await operators.answerAttention().catch(() => undefined);
    if (Date.now() - reconciledAt > reconcileEveryMs) {
      reconciledAt = Date.now();
      const schedule = stand.core.client.schedule.getHandle(`${queuePrefix}reconcile-tasks`);
      await schedule.trigger().catch(() => undefined);
    }
    await delay(lookEveryMs);
  }
}

async function whatWaits(stand: Stand, creates: readonly Create[]): Promise<string[]> {
  try {
    const { db } = stand.core.mongo;
    const unfinished = db
      .collection<TaskDocument>('tasks')
      .find({ $or: [{ status: { $nin: ['succeeded', 'failed'] } }, { 'state.at': 'creating' }] });
    const tasks = (await unfinished.toArray()).map(
      ({ _id, status, attention }) => `${_id} is ${status}${attention === undefined ? '' : `: ${attention}`}`,
    );
    const count = async (name: string, filter: Record<string, unknown>): Promise<string[]> => {
      const n = await db.collection(name).countDocuments(filter);
      return n === 0 ? [] : [`${n} documents wait in ${name}`];
    };
    const received = await readReceived(stand);
    const callbacks = creates
      .filter(({ hook, ids }) => hook !== undefined && ids.size > 0 && received[hook] === undefined)
      .map(({ label }) => `${label} has not received its callback`);
    const repeated = await repeatedCallbacks(stand, creates, received);
    return [
      ...tasks,
      ...callbacks,
      ...(await count('key_slots', { 'tasks.0': { $exists: true } })),
      ...(await count('slots', { task: { $ne: '' }, until: { $gt: Date.now() } })),
      ...(await count('slot_tickets', {})),
      ...(await count('tasks', { owes: { $gt: '' }, _id: { $nin: repeated } })),
      ...(await count('image_leases', {})),
      ...(await count('image_charges_owed', {})),
      ...(await runningWorkflows(stand, repeated)),
    ];
  } catch (error) {
    return [`the check failed: ${messageOf(error)}`];
  }
}

/**
 * Returns callbacks whose response was lost, so that they are repeated. The second repetition comes after five minutes.
 */
export async function repeatedCallbacks(
  stand: Stand,
  creates: readonly Create[],
  received: Received,
): Promise<readonly string[]> {
  const heard = creates.filter(({ hook }) => hook !== undefined && received[hook] !== undefined);
  const ids = heard.flatMap((create) => [...create.ids]);
  const repeated = stand.core.mongo.db
    .collection<TaskDocument>('tasks')
    .find({ _id: { $in: ids }, owes: { $gt: '' }, 'callback.isFailing': true });
  return (await repeated.toArray()).map(({ _id }) => _id);
}

async function runningWorkflows(stand: Stand, known: readonly string[]): Promise<string[]> {
  const running: string[] = [];
  const query = `ExecutionStatus = 'Running' AND TaskQueue = '${queuePrefix}tasks'`;
  for await (const { workflowId } of stand.core.client.workflow.list({ query })) {
    if (!workflowId.includes('reconcile') && !known.includes(workflowId)) running.push(`${workflowId} runs`);
  }
  return running;
}

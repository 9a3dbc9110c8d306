import { createHash } from 'node:crypto';
import type { Caller } from '../access/caller.ts';
import type { CapState } from '../money/caps.ts';
import { defined } from '../base/defined.ts';
import { GatewayError, mayBeRepeated, serviceUnavailable } from '../errors/errors.ts';
import { newTaskId } from '../base/ids.ts';
import type { RandomBytes } from '../base/ids.ts';
import { renderedOutput } from '../models/render-times.ts';
import type { AskedRequest } from '../models/request.ts';
import { newRound } from '../task/rounds.ts';
import type { Task } from '../task/record.ts';
import { spenderOf } from '../access/spender.ts';
import type { Catalogue, RoutePlan } from '../routing/catalogue.ts';
import type { RequestStore } from '../store/requests.ts';
import type { TaskStore } from '../store/tasks.ts';
import { hasBegun } from './abandon-creation.ts';
import type { Admit } from './admission.ts';
import { clientRepeat } from './repeats.ts';
import type { ClientTry, Repeat, RepeatRequest, Repeats, TaskClaim } from './repeats.ts';
import { startInTime } from './start-in-time.ts';
import type { StorageQuota } from './storage-quota.ts';

export interface CreateTaskDeps {
  readonly catalogue: Pick<Catalogue, 'planMeasured'>;
  readonly tasks: Pick<TaskStore, 'find' | 'look'>;
  readonly requests: Pick<RequestStore, 'find'>;
  readonly repeats: Pick<Repeats, 'claimTask' | 'knows' | 'forget'>;
  readonly admit: Admit;
  readonly storage: Pick<StorageQuota, 'check'>;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export interface CreateTaskCommand {
  readonly request: AskedRequest;
  /** Makes the plan of this request; what it throws is not heard by a repeat. Absent: it is made here. */
  readonly plan?: () => Promise<RoutePlan>;
  readonly caller: Caller;
  /** Checked address; kept out of Temporal. */
  readonly callbackUrl?: string;
  /** Seconds; absent: the model's default. */
  readonly expiresAfterSeconds?: number;
  readonly idempotencyKey?: string;
  readonly sent: ClientTry;
  /** How a repeat is recognised where the request itself does not say it: files. */
  readonly repeat?: Repeat;
  /** Of the request that creates it; a repeat's is not kept. */
  readonly requestId?: string;
  /** The route's name: the scope of the idempotency key beside the account. */
  readonly route: string;
  readonly traceparent?: string;
}

/** `hold`: micro-units that its creation has held. */
export interface CreatedTask extends Pick<Task, 'id' | 'model' | 'createdAt' | 'hold'> {
  readonly warnings: readonly string[];
  /** The cap that has least left after the hold. Absent: there is none, or an earlier request has held. */
  readonly cap?: CapState;
  /** The answer to an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean;
}

/** Each round but the last found a task id that was abandoned in between. */
const roundsMax = 5;
const recordedDropsMax = 50;

/**
 * Creates a task. When this resolves, the task, its hold and its workflow exist; when it throws, nothing is left. A
 * repeat with the same Idempotency-Key continues where the first request stopped, whatever process died, and is
 * answered from what the first one wrote: a channel that was switched off since does not matter to it.
 */
export function createTaskService(deps: CreateTaskDeps) {
  return (command: CreateTaskCommand): Promise<CreatedTask> =>
    startInTime((mayStart) => create(command, mayStart, deps));
}

async function create(
  command: CreateTaskCommand,
  mayStart: () => boolean,
  deps: CreateTaskDeps,
): Promise<CreatedTask> {
  const { repeats } = deps;
  const ask = repeatRequestOf(command);
  const planned = await planUnlessCreated(command, ask, deps);
  for (let round = 0; round < roundsMax; round += 1) {
    const claim = await repeats.claimTask(ask, newTaskId(deps.randomBytes));
    command.sent.whenLost(claim.lost);
    const existing = claim.first ? undefined : await findCreated(claim.task, deps);
    if (existing !== undefined) return existing;
    let plan: RoutePlan;
    try {
      plan = planned();
      await checkQuota(claim, command.caller.account, deps);
    } catch (error) {
      if (claim.first) await repeats.forget(claim);
      throw error;
    }
    const created = await admitClaimed(claim, { command, plan, mayStart }, deps).catch((error: unknown) => {
      // A client that counts its retries continues with this task.
      if (command.sent.retries !== undefined && isRetryable(error)) claim.lost();
      throw error;
    });
    if (created !== undefined) return created;
    await repeats.forget(claim);
  }
  throw serviceUnavailable(`the creation was abandoned ${roundsMax} times`);
}

interface Creation {
  readonly command: CreateTaskCommand;
  readonly plan: RoutePlan;
  readonly mayStart: () => boolean;
}

/** Undefined: the task id was abandoned. */
async function admitClaimed(
  { task: id, first: isFirst }: TaskClaim,
  { command, plan, mayStart }: Creation,
  deps: CreateTaskDeps,
): Promise<CreatedTask | undefined> {
  const { caller, callbackUrl } = command;
  const { warnings, hold, basis, currency, model } = plan;
  const task = firstRecord(id, command, { plan, createdAt: deps.now() });
  const admitted = await deps.admit({
    task,
    terms: { basis, currency, expectedSeconds: model.expected_seconds },
    asked: { request: plan.request, warnings, dropped: notable(plan.dropped), ...defined({ callbackUrl }) },
    by: spenderOf(caller, model.id, command.request),
    reckoning: plan.reckoning,
    isFirst,
    mayStart,
    ...defined({ concurrentTasks: caller.concurrentTasks }),
  });
  if (admitted === undefined) return undefined;
  const { createdAt } = task;
  const cap = defined({ cap: admitted.cap });
  const created = { id, model: model.id, createdAt, warnings, hold, replayed: !isFirst, ...cap };
  if (isFirst) return created;
  // An earlier try, or a simultaneous one, may have been the one that created it: its record says when, and for how much.
  const recorded = await deps.tasks.find(id);
  return recorded === undefined ? created : { ...created, ...(await asCreated(recorded, deps)) };
}

function isRetryable(error: unknown): boolean {
  return !(error instanceof GatewayError) || mayBeRepeated(error);
}

/** Most channels do not serve the model: that is not worth a word. */
function notable(dropped: RoutePlan['dropped']): RoutePlan['dropped'] {
  return dropped.filter(({ reason }) => reason !== 'model_not_served').slice(0, recordedDropsMax);
}

/**
 * What cannot be planned (any more) may still be the repeat of a request that was: then the error is thrown only by whoever
 * takes the plan.
 */
async function planUnlessCreated(
  { plan, request, caller }: CreateTaskCommand,
  ask: RepeatRequest,
  { catalogue, repeats }: CreateTaskDeps,
): Promise<() => RoutePlan> {
  try {
    const made = await (plan?.() ?? catalogue.planMeasured(request, caller));
    return () => made;
  } catch (error) {
    if (!(await repeats.knows(ask))) throw error;
    return () => {
      throw error;
    };
  }
}

/** What an earlier request has begun stores nothing more. */
async function checkQuota(
  { task, first: isFirst }: Pick<TaskClaim, 'task' | 'first'>,
  account: string,
  { storage, tasks }: CreateTaskDeps,
): Promise<void> {
  try {
    await storage.check(account);
  } catch (error) {
    if (isFirst || (await tasks.look(task)) === undefined) throw error;
  }
}

/** A task that has reached its workflow, as its create was answered. */
async function findCreated(task: string, deps: CreateTaskDeps): Promise<CreatedTask | undefined> {
  const found = await deps.tasks.find(task);
  return found === undefined || !hasBegun(found) ? undefined : asCreated(found, deps);
}

async function asCreated({ id, model, createdAt, hold }: Task, deps: CreateTaskDeps): Promise<CreatedTask> {
  const warnings = (await deps.requests.find(id))?.warnings ?? [];
  return { id, model, createdAt, warnings, hold, replayed: true };
}

function repeatRequestOf(command: CreateTaskCommand): RepeatRequest {
  const { caller, route, idempotencyKey: key, request, callbackUrl, expiresAfterSeconds, sent } = command;
  const scope = [caller.account, route];
  if (command.repeat !== undefined) return { scope, repeat: command.repeat };
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([request, callbackUrl, expiresAfterSeconds]))
    .digest('base64url');
  const repeat: Repeat =
    key === undefined ? clientRepeat(caller, sent, fingerprint) : { kind: 'key', key, fingerprint };
  return { scope, repeat };
}

/** The task's record as its creation writes it. */
function firstRecord(
  id: string,
  { request, caller, callbackUrl, expiresAfterSeconds, requestId, traceparent }: CreateTaskCommand,
  { plan, createdAt }: { readonly plan: RoutePlan; readonly createdAt: number },
): Task {
  const { candidates, fallback, seconds, shape } = plan;
  const lastsSeconds = expiresAfterSeconds ?? plan.model.deadline_seconds;
  return {
    id,
    account: caller.account,
    key: caller.key,
    kind: request.kind,
    model: plan.model.id,
    plan: { candidates, ...defined({ fallback }) },
    createdAt,
    deadlineAt: createdAt + lastsSeconds * 1000,
    output: renderedOutput(plan.request),
    hold: plan.hold,
    estimate: plan.expected.amount,
    hasCallback: callbackUrl !== undefined,
    rev: 0,
    state: newRound({ attempts: [] }, candidates),
    stateSince: createdAt,
    status: 'pending',
    attempts: [],
    updatedAt: createdAt,
    traceId: '',
    ...defined({ seconds, shape, requestId, traceparent }),
  };
}

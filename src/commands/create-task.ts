import { createHash } from 'node:crypto';
import type { Caller } from '../access/caller.ts';
import type { CapState } from '../money/caps.ts';
import { defined } from '../base/defined.ts';
import type { TaskKind } from '../base/task-kind.ts';
import { GatewayError, mayBeRepeated, serviceUnavailable } from '../errors/errors.ts';
import { newTaskId, type RandomBytes } from '../base/ids.ts';
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
import { clientRepeat, soon } from './repeats.ts';
import type { ClientTry, Repeat, RepeatRequest, Repeats, TaskClaim } from './repeats.ts';
import { startInTime } from './start-in-time.ts';
import type { StorageQuota } from './storage-quota.ts';

export interface CreateTaskDeps {
  readonly catalogue: Pick<Catalogue, 'buyer' | 'planMeasured'>;
  readonly tasks: Pick<TaskStore, 'find' | 'look'>;
  readonly requests: Pick<RequestStore, 'find'>;
  readonly repeats: Pick<Repeats, 'claimTask' | 'knows' | 'forget'>;
  readonly admit: Admit;
  readonly storage: Pick<StorageQuota, 'check'>;
  /** Excludes channels whose results cannot be stored at present. Throws service_unavailable if no channel remains. */
  readonly withStorage: (plan: RoutePlan, kind: TaskKind) => Promise<RoutePlan>;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export interface CreateTaskCommand {
  readonly request: AskedRequest;
  /** Defaults to the service's own planning. If this throws, a repeated request can still succeed. */
  readonly plan?: () => Promise<RoutePlan>;
  readonly caller: Caller;
  readonly callbackUrl?: string;
  /** Defaults to the model's deadline. */
  readonly expiresAfterSeconds?: number;
  readonly idempotencyKey?: string;
  readonly sent: ClientTry;
  /** How to recognise repeats if the body alone is not enough, for example because it contains files. */
  readonly repeat?: Repeat;
  /** The id of the HTTP request. Only the id of the one that creates the task is stored. */
  readonly requestId?: string;
  /** An idempotency key is unique per account and route. */
  readonly route: string;
  readonly traceparent?: string;
}

export interface CreatedTask extends Pick<Task, 'id' | 'model' | 'createdAt' | 'hold'> {
  readonly warnings: readonly string[];
  readonly cap?: CapState;
  readonly replayed: boolean;
}

/**
 * How many task ids are tried. A round creates nothing if its id has been abandoned, and the next round uses a new one.
 */
const roundsMax = 5;
const recordedDropsMax = 50;

/**
 * When this resolves, the task, its hold and its workflow exist. When it throws, either nothing was created or another
 * request has begun the creation, which a repeated request or the reconciler will finish. A repeated request with the
 * same Idempotency-Key continues where the first one stopped, even if a channel has been disabled since.
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
    const isFound = whenFound(claim, command);
    const existing = claim.first ? undefined : await findCreated(claim.task, deps);
    if (existing !== undefined) {
      await soon(claim.recorded);
      return existing;
    }
    let plan: RoutePlan;
    try {
      plan = await fitted(planned(), { claim, command }, deps);
    } catch (error) {
      if (claim.first) await repeats.forget(claim);
      throw error;
    }
    const mayStartNow = async () => {
      if (!(await isFound)) throw serviceUnavailable('the client was lost before its request was recorded');
      return mayStart();
    };
    const creation = { command, plan, mayStart: mayStartNow };
    const created = await admitClaimed(claim, creation, deps).catch((error: unknown) => {
      // If the client counts its retries, its next retry continues with this task.
      if (command.sent.retries !== undefined && isRetryable(error)) claim.lost();
      throw error;
    });
    if (created !== undefined) return created;
    await repeats.forget(claim);
  }
  throw serviceUnavailable(`the creation of the task was abandoned ${roundsMax} times`);
}

/**
 * Resolves to true once a retry would find this request. Resolves to false if the client disconnected first, because
 * its retry may already have come too early.
 */
async function whenFound({ recorded, lost }: TaskClaim, { sent }: CreateTaskCommand): Promise<boolean> {
  let isRecorded = recorded === undefined;
  let isFound = true;
  sent.whenLost(() => {
    isFound = isRecorded;
    lost();
  });
  if (recorded !== undefined) isRecorded = await recorded;
  return isFound && isRecorded;
}

interface Creation {
  readonly command: CreateTaskCommand;
  readonly plan: RoutePlan;
  readonly mayStart: () => Promise<boolean>;
}

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
  // An earlier or concurrent attempt may have created the task, so read the actual time and hold from its record.
  const recorded = await deps.tasks.find(id);
  return recorded === undefined ? created : { ...created, ...(await asCreated(recorded, deps)) };
}

function isRetryable(error: unknown): boolean {
  return !(error instanceof GatewayError) || mayBeRepeated(error);
}

/** Leaves out channels that simply do not serve the model, because that is why most channels are dropped. */
function notable(dropped: RoutePlan['dropped']): RoutePlan['dropped'] {
  return dropped.filter(({ reason }) => reason !== 'model_not_served').slice(0, recordedDropsMax);
}

/**
 * If the request may be a repeat, a planning error is thrown only once the plan is needed, because a repeat can succeed
 * without one.
 */
async function planUnlessCreated(
  { plan, request, caller }: CreateTaskCommand,
  ask: RepeatRequest,
  { catalogue, repeats }: CreateTaskDeps,
): Promise<() => RoutePlan> {
  try {
    const made = await (plan?.() ?? catalogue.planMeasured(request, await catalogue.buyer(caller)));
    return () => made;
  } catch (error) {
    if (!(await repeats.knows(ask))) throw error;
    return () => {
      throw error;
    };
  }
}

/**
 * Checks that the results can be stored. A repeat is exempt if its task has already begun, because it needs no further
 * storage.
 */
async function fitted(
  plan: RoutePlan,
  { claim, command }: { readonly claim: TaskClaim; readonly command: CreateTaskCommand },
  deps: CreateTaskDeps,
): Promise<RoutePlan> {
  const { caller, request } = command;
  try {
    await deps.storage.check(caller.account);
    return await deps.withStorage(plan, request.kind);
  } catch (error) {
    if (claim.first || (await deps.tasks.look(claim.task)) === undefined) throw error;
    return plan;
  }
}

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

function firstRecord(
  id: string,
  { request, caller, callbackUrl, expiresAfterSeconds, requestId, traceparent }: CreateTaskCommand,
  { plan, createdAt }: { readonly plan: RoutePlan; readonly createdAt: number },
): Task {
  const { candidates, fallback, seconds, shape, pricesInput, inputNeededBy } = plan;
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
    ...(pricesInput ? { inputSeconds: 'unmeasured' } : {}),
    ...(inputNeededBy.length > 0 ? { inputNeededBy } : {}),
    ...defined({ seconds, shape, requestId, traceparent }),
  };
}

import { createHash } from 'node:crypto';
import type { Caller } from '../domain/caller.ts';
import type { CapState } from '../domain/caps.ts';
import { defined } from '../domain/defined.ts';
import { serviceUnavailable } from '../domain/errors.ts';
import { newTaskId } from '../domain/ids.ts';
import type { RandomBytes } from '../domain/ids.ts';
import { renderedOutput } from '../domain/render-times.ts';
import type { AskedRequest } from '../domain/request.ts';
import { newRound } from '../domain/task-rounds.ts';
import type { Task } from '../domain/task-record.ts';
import { spenderOf } from '../domain/spender.ts';
import type { Catalogue, RoutePlan } from '../routing/catalogue.ts';
import type { RequestStore } from '../store/requests.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { Admit } from './admission.ts';
import type { Repeat, RepeatRequest, Repeats, TaskClaim } from './repeats.ts';
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
  /** How a repeat is recognised where the request itself does not say it: files and clients' own retries. */
  readonly repeat?: Repeat;
  /** Of the request that creates it; a repeat's is not kept. */
  readonly requestId?: string;
  /** The route's name: the scope of the idempotency key beside the account. */
  readonly route: string;
  readonly traceparent?: string;
}

export interface CreatedTask {
  readonly id: string;
  readonly model: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly warnings: readonly string[];
  /** Micro-units that its creation has held. */
  readonly hold: bigint;
  /** The cap that has least left after the hold. Absent: there is none, or an earlier request has held. */
  readonly cap?: CapState;
  /** The answer to an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean;
}

export type CreateTask = (command: CreateTaskCommand) => Promise<CreatedTask>;

/** Each round but the last found a task id that was abandoned in between. */
const roundsMax = 5;
const recordedDropsMax = 50;

/**
 * Creates a task. When this resolves, the task, its hold and its workflow exist; when it throws, nothing is left. A
 * repeat with the same Idempotency-Key continues where the first request stopped, whatever process died, and is
 * answered from what the first one wrote: a channel that was switched off since does not matter to it.
 */
export function createTaskService(deps: CreateTaskDeps): CreateTask {
  return (command) => startInTime((mayStart) => create(command, mayStart, deps));
}

async function create(
  command: CreateTaskCommand,
  mayStart: () => boolean,
  deps: CreateTaskDeps,
): Promise<CreatedTask> {
  const ask = repeatRequestOf(command);
  const plan = await planUnlessCreated(command, ask, deps);
  for (let round = 0; round < roundsMax; round += 1) {
    const claim = await claimTask(ask, deps);
    const existing = claim.first ? undefined : await findCreated(claim.task, deps);
    if (existing !== undefined) return existing;
    const allowed =
      plan.kind === 'failed'
        ? plan
        : await withinQuota(plan, { claim, account: command.caller.account }, deps);
    if (allowed.kind === 'failed') {
      if (ask !== undefined && claim.first) await deps.repeats.forget(ask, claim.task);
      throw allowed.error;
    }
    const created = await admitClaimed(claim, { command, plan: allowed.plan, mayStart, deps });
    if (created !== undefined) return created;
    if (ask !== undefined) await deps.repeats.forget(ask, claim.task);
  }
  throw serviceUnavailable(`the creation was abandoned ${roundsMax} times`);
}

interface Creation {
  readonly command: CreateTaskCommand;
  readonly plan: RoutePlan;
  readonly mayStart: () => boolean;
  readonly deps: CreateTaskDeps;
}

/** Undefined: the task id was abandoned. */
async function admitClaimed(
  claim: TaskClaim,
  { command, plan, mayStart, deps }: Creation,
): Promise<CreatedTask | undefined> {
  const createdAt = deps.now();
  const { task } = claim;
  const { caller, callbackUrl } = command;
  const { warnings, hold, basis, currency, model } = plan;
  const admitted = await deps.admit({
    task: firstRecord({ task, createdAt, command, plan }),
    terms: { basis, currency, expectedSeconds: model.expected_seconds },
    asked: { request: plan.request, warnings, plan: recordedPlan(plan), ...defined({ callbackUrl }) },
    by: spenderOf(caller, model.id, command.request),
    reckoning: plan.reckoning,
    isFirst: claim.first,
    mayStart,
    ...defined({ concurrentTasks: caller.concurrentTasks }),
  });
  if (admitted.state === 'abandoned') return undefined;
  const created = {
    id: task,
    model: model.id,
    createdAt,
    warnings,
    hold,
    replayed: !claim.first,
    ...defined({ cap: admitted.cap }),
  };
  if (claim.first) return created;
  // An earlier try, or a simultaneous one, may have been the one that created it: its record says when, and for how much.
  const recorded = await deps.tasks.find(task);
  return recorded === undefined ? created : { ...created, ...(await asCreated(recorded, deps)) };
}

/** Why the task goes where it goes. Most channels do not serve the model: that is not worth a word. */
function recordedPlan({ candidates, fallback, dropped }: RoutePlan): string {
  const left = dropped.filter(({ reason }) => reason !== 'model_not_served').slice(0, recordedDropsMax);
  return JSON.stringify({ candidates, fallback, dropped: left });
}

type Planned =
  | { readonly kind: 'planned'; readonly plan: RoutePlan }
  | { readonly kind: 'failed'; readonly error: unknown };

/** What cannot be planned (any more) may still be the repeat of a request that was. */
async function planUnlessCreated(
  command: CreateTaskCommand,
  ask: RepeatRequest | undefined,
  deps: CreateTaskDeps,
): Promise<Planned> {
  try {
    const { request, caller } = command;
    const plan = await (command.plan?.() ?? deps.catalogue.planMeasured(request, caller));
    return { kind: 'planned', plan };
  } catch (error) {
    const isKnown = ask !== undefined && (await deps.repeats.knows(ask));
    if (isKnown) return { kind: 'failed', error };
    throw error;
  }
}

/** What an earlier request has begun stores nothing more. */
async function withinQuota(
  plan: Planned,
  { claim, account }: { readonly claim: TaskClaim; readonly account: string },
  { storage, tasks }: Pick<CreateTaskDeps, 'storage' | 'tasks'>,
): Promise<Planned> {
  try {
    await storage.check(account);
    return plan;
  } catch (error) {
    const isBegun = !claim.first && (await tasks.look(claim.task)) !== undefined;
    return isBegun ? plan : { kind: 'failed', error };
  }
}

/** A task that has reached its workflow, as its create was answered. */
async function findCreated(task: string, deps: CreateTaskDeps): Promise<CreatedTask | undefined> {
  const found = await deps.tasks.find(task);
  return found === undefined || found.unstarted !== undefined ? undefined : asCreated(found, deps);
}

async function asCreated({ id, model, createdAt, hold }: Task, deps: CreateTaskDeps): Promise<CreatedTask> {
  const warnings = (await deps.requests.find(id))?.warnings ?? [];
  return { id, model, createdAt, warnings, hold, replayed: true };
}

async function claimTask(ask: RepeatRequest | undefined, deps: CreateTaskDeps): Promise<TaskClaim> {
  const task = newTaskId(deps.randomBytes);
  return ask === undefined ? { task, first: true } : deps.repeats.claimTask(ask, task);
}

/** Undefined: every such request makes a task of its own. */
function repeatRequestOf(command: CreateTaskCommand): RepeatRequest | undefined {
  const { caller, route, idempotencyKey: key, request, callbackUrl, expiresAfterSeconds } = command;
  const scope = [caller.account, route];
  if (command.repeat !== undefined) return { scope, repeat: command.repeat };
  if (key === undefined) return undefined;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([request, callbackUrl, expiresAfterSeconds]))
    .digest('base64url');
  return { scope, repeat: { kind: 'key', key, fingerprint } };
}

interface NewTask extends Pick<Creation, 'plan' | 'command'> {
  readonly task: string;
  readonly createdAt: number;
}

/** The task's record as its creation writes it. */
function firstRecord(creation: NewTask): Task {
  const { task, createdAt, plan, command } = creation;
  const { candidates, fallback } = plan;
  const lastsSeconds = command.expiresAfterSeconds ?? plan.model.deadline_seconds;
  return {
    id: task,
    account: command.caller.account,
    key: command.caller.key,
    kind: command.request.kind,
    model: plan.model.id,
    plan: { candidates, ...defined({ fallback }) },
    createdAt,
    deadlineAt: createdAt + lastsSeconds * 1000,
    output: renderedOutput(plan.request),
    hold: plan.hold,
    ...defined({ seconds: plan.seconds }),
    estimate: plan.expected.amount,
    hasCallback: command.callbackUrl !== undefined,
    rev: 0,
    state: newRound({ attempts: [] }, candidates),
    stateSince: createdAt,
    status: 'pending',
    attempts: [],
    updatedAt: createdAt,
    traceId: '',
    ...defined({ requestId: command.requestId, traceparent: command.traceparent }),
  };
}

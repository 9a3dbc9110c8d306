import { createHash, createHmac } from 'node:crypto';
import type { Caller } from '../domain/caller.ts';
import { defined } from '../domain/defined.ts';
import { GatewayError, serviceUnavailable } from '../domain/errors.ts';
import { newTaskId } from '../domain/ids.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { GenerationRequest } from '../domain/request.ts';
import type { TaskInput } from '../domain/task-input.ts';
import type { Catalogue, RoutePlan } from '../routing/catalogue.ts';
import type { IdempotencyClaim, IdempotencyStore } from '../store/idempotency.ts';
import type { RequestStore } from '../store/requests.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { Admit } from './admission.ts';

export interface CreateTaskDeps {
  readonly catalogue: Pick<Catalogue, 'plan'>;
  readonly tasks: Pick<TaskStore, 'find'>;
  readonly requests: Pick<RequestStore, 'find'>;
  readonly idempotency: IdempotencyStore;
  readonly admit: Admit;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  /** Keys the hashes under which idempotency keys are stored. */
  readonly secret: Buffer;
}

export interface CreateTaskCommand {
  readonly request: GenerationRequest;
  /** Made already, of this request; absent: it is made here. */
  readonly plan?: RoutePlan;
  readonly caller: Caller;
  /** Checked address; kept out of Temporal. */
  readonly callbackUrl?: string;
  /** Seconds; absent: the model's default. */
  readonly expiresAfterSeconds?: number;
  readonly idempotencyKey?: string;
  /** The route's name: the scope of the idempotency key beside the account. */
  readonly route: string;
}

export interface CreatedTask {
  readonly id: string;
  readonly model: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly warnings: readonly string[];
  /** The answer to an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean;
}

export type CreateTask = (command: CreateTaskCommand) => Promise<CreatedTask>;

/** Each round but the last found a task id that was given up in between. */
const roundsMax = 5;

/**
 * Creates a task. When this resolves, the task, its hold and its workflow exist; when it throws, nothing is left. A
 * repeat with the same Idempotency-Key continues where the first request stopped, whatever process died, and is
 * answered from what the first one wrote: a channel that was switched off since does not matter to it.
 */
export function createTaskService(deps: CreateTaskDeps): CreateTask {
  return async (command) => {
    const claimId = command.idempotencyKey === undefined ? undefined : hashKey(command, deps.secret);
    const fingerprint = claimId === undefined ? '' : fingerprintOf(command);
    const plan = await planUnlessCreated(command, claimId, deps);
    for (let round = 0; round < roundsMax; round += 1) {
      const claim = claimId === undefined ? newClaim(deps) : await claimKey({ claimId, fingerprint }, deps);
      const existing = claim.first ? undefined : await findCreated(claim.task, deps);
      if (existing !== undefined) return existing;
      if (plan.kind === 'failed') {
        if (claimId !== undefined && claim.first) await deps.idempotency.forget(claimId, claim.task);
        throw plan.error;
      }
      const created = await admitClaimed(claim, { command, plan: plan.plan, deps });
      if (created !== undefined) return created;
      if (claimId !== undefined) await deps.idempotency.forget(claimId, claim.task);
    }
    throw serviceUnavailable(`the creation was given up ${roundsMax} times in a row`);
  };
}

interface Creation {
  readonly command: CreateTaskCommand;
  readonly plan: RoutePlan;
  readonly deps: CreateTaskDeps;
}

/** Undefined: the task id was given up. */
async function admitClaimed(
  claim: IdempotencyClaim,
  { command, plan, deps }: Creation,
): Promise<CreatedTask | undefined> {
  const createdAt = deps.now();
  const { task } = claim;
  const { caller, callbackUrl } = command;
  const { warnings } = plan;
  const admitted = await deps.admit({
    input: taskInput(task, createdAt, { command, plan }),
    record: {
      task,
      account: caller.account,
      request: plan.request,
      createdAt,
      warnings,
      ...defined({ callbackUrl }),
    },
    ...defined({ concurrentTasks: caller.concurrentTasks }),
  });
  if (admitted.state === 'given_up') return undefined;
  const created = { id: task, model: plan.model.id, createdAt, warnings, replayed: !claim.first };
  // An earlier try, or a simultaneous one, may have been the one that created it.
  return claim.first ? created : { ...created, ...(await findCreated(task, deps)) };
}

type Planned =
  | { readonly kind: 'planned'; readonly plan: RoutePlan }
  | { readonly kind: 'failed'; readonly error: unknown };

/** What cannot be planned (any more) may still be the repeat of a request that was. */
async function planUnlessCreated(
  command: CreateTaskCommand,
  claimId: string | undefined,
  deps: CreateTaskDeps,
): Promise<Planned> {
  try {
    return { kind: 'planned', plan: command.plan ?? deps.catalogue.plan(command.request, command.caller) };
  } catch (error) {
    const isKnown = claimId !== undefined && (await deps.idempotency.find(claimId)) !== undefined;
    if (isKnown) return { kind: 'failed', error };
    throw error;
  }
}

/** A task that has reached its workflow, as its create was answered. */
async function findCreated(task: string, deps: CreateTaskDeps): Promise<CreatedTask | undefined> {
  const found = await deps.tasks.find(task);
  if (found === undefined || found.unstarted !== undefined) return undefined;
  const warnings = (await deps.requests.find(task))?.warnings ?? [];
  return { id: task, model: found.model, createdAt: found.created_at, warnings, replayed: true };
}

function newClaim(deps: CreateTaskDeps): IdempotencyClaim {
  return { task: newTaskId(deps.randomBytes), fingerprint: '', first: true };
}

function fingerprintOf({ request, callbackUrl, expiresAfterSeconds }: CreateTaskCommand): string {
  return createHash('sha256')
    .update(JSON.stringify([request, callbackUrl, expiresAfterSeconds]))
    .digest('base64url');
}

async function claimKey(
  { claimId, fingerprint }: { readonly claimId: string; readonly fingerprint: string },
  deps: CreateTaskDeps,
): Promise<IdempotencyClaim> {
  const claim = await deps.idempotency.claim(claimId, newTaskId(deps.randomBytes), fingerprint);
  if (claim.fingerprint === fingerprint) return claim;
  throw new GatewayError(
    'idempotency_key_reused',
    'This Idempotency-Key was used within the last 24 hours with another request body. Use a new key for a new request.',
  );
}

function hashKey({ caller, route, idempotencyKey }: CreateTaskCommand, secret: Buffer): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify([caller.account, route, idempotencyKey]))
    .digest('base64url');
}

function taskInput(
  task: string,
  createdAt: number,
  { plan, command }: Pick<Creation, 'plan' | 'command'>,
): TaskInput {
  const { caller } = command;
  const seconds = command.expiresAfterSeconds ?? plan.model.deadline_seconds;
  return {
    task,
    account: caller.account,
    key: caller.key,
    kind: command.request.kind,
    model: plan.model.id,
    candidates: plan.candidates,
    hold: plan.hold.toString(),
    basis: plan.basis,
    createdAt,
    deadlineAt: createdAt + seconds * 1000,
    expectedSeconds: plan.model.expected_seconds,
    hasCallback: command.callbackUrl !== undefined,
    revision: 3,
  };
}

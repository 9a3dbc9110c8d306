import { defined } from '../domain/defined.ts';
import { createHash, createHmac } from 'node:crypto';
import type { Caller } from '../domain/caller.ts';
import type { Catalogue, RoutePlan } from '../routing/catalogue.ts';
import { GatewayError } from '../domain/errors.ts';
import { newTaskId, randomBase62 } from '../domain/ids.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { GenerationRequest } from '../domain/request.ts';
import type { Admission, TaskInput } from '../domain/task-input.ts';
import type { IdempotencyClaim, IdempotencyStore } from '../store/idempotency.ts';
import type { RequestStore } from '../store/requests.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { TaskPort } from './task-port.ts';

export interface CreateTaskDeps {
  readonly catalogue: Catalogue;
  readonly requests: RequestStore;
  readonly tasks: TaskStore;
  readonly idempotency: IdempotencyStore;
  readonly port: TaskPort;
  /** Micro-units by which an account may go below zero. */
  readonly overdraftLimit: (account: string) => Promise<bigint>;
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

/**
 * A worker that comes later than this admits nothing. Together with the time that an admission itself may take it
 * stays below what the API waits (src/temporal/task-client.ts), so a 503 means that nothing was created.
 */
const admitWithinMs = 20_000;

/**
 * Creates a task: plan the route, claim the idempotency key, write down what was asked, start the workflow, and wait
 * until it holds the money. When this resolves, the task, its hold and its workflow exist; when it throws, nothing
 * is left behind.
 */
export function createTaskCreator(
  deps: CreateTaskDeps,
): (command: CreateTaskCommand) => Promise<CreatedTask> {
  return async (command) => {
    const plan = command.plan ?? deps.catalogue.plan(command.request, command.caller);
    const createdAt = deps.now();
    const claimId = command.idempotencyKey === undefined ? undefined : hashKey(command, deps.secret);
    const claim = claimId === undefined ? newClaim(deps) : await claimKey(claimId, command, deps);
    if (!claim.first) {
      const existing = await deps.tasks.find(claim.task);
      if (existing !== undefined) {
        return {
          id: claim.task,
          model: existing.model,
          createdAt: existing.created_at,
          warnings: plan.warnings,
          replayed: true,
        };
      }
    }
    const input = await taskInput(claim.task, createdAt, { plan, command, deps });
    const admission = await start(input, { plan, command, deps });
    if (admission.admitted) {
      return {
        id: claim.task,
        model: plan.model.id,
        // A simultaneous request with the same key may have been the one that created it.
        createdAt: admission.createdAt,
        warnings: plan.warnings,
        replayed: !claim.first,
      };
    }
    // Nothing was created, so the same key may be used again, for instance after a credit.
    await Promise.all([
      deps.requests.remove(claim.task),
      claimId === undefined ? undefined : deps.idempotency.forget(claimId, claim.task),
    ]);
    throw new GatewayError(
      admission.refusal,
      admission.message,
      admission.refusal === 'insufficient_balance' ? {} : { retryAfterSeconds: 5 },
    );
  };
}

interface Creation {
  readonly plan: RoutePlan;
  readonly command: CreateTaskCommand;
  readonly deps: CreateTaskDeps;
}

function newClaim(deps: CreateTaskDeps): IdempotencyClaim {
  return { task: newTaskId(deps.randomBytes), fingerprint: '', first: true };
}

async function claimKey(
  claimId: string,
  command: CreateTaskCommand,
  deps: CreateTaskDeps,
): Promise<IdempotencyClaim> {
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([command.request, command.callbackUrl, command.expiresAfterSeconds]))
    .digest('base64url');
  const claim = await deps.idempotency.claim(claimId, newTaskId(deps.randomBytes), fingerprint);
  if (claim.fingerprint !== fingerprint) {
    throw new GatewayError(
      'idempotency_key_reused',
      'This Idempotency-Key was used within the last 24 hours with another request body. Use a new key for a new request.',
    );
  }
  return claim;
}

function hashKey({ caller, route, idempotencyKey }: CreateTaskCommand, secret: Buffer): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify([caller.account, route, idempotencyKey]))
    .digest('base64url');
}

async function taskInput(
  task: string,
  createdAt: number,
  { plan, command, deps }: Creation,
): Promise<TaskInput> {
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
    overdraftLimit: (await deps.overdraftLimit(caller.account)).toString(),
    basis: plan.basis,
    createdAt,
    admitBy: createdAt + admitWithinMs,
    deadlineAt: createdAt + seconds * 1000,
    expectedSeconds: plan.model.expected_seconds,
    hasCallback: command.callbackUrl !== undefined,
    revision: 2,
    ...defined({ concurrentTasks: caller.concurrentTasks }),
  };
}

async function start(input: TaskInput, { plan, command, deps }: Creation): Promise<Admission> {
  await deps.requests.insert({
    task: input.task,
    account: input.account,
    request: plan.request,
    callbackToken: randomBase62(32, deps.randomBytes),
    createdAt: input.createdAt,
    ...defined({ callbackUrl: command.callbackUrl }),
  });
  return deps.port.start(input);
}

import type { CapState } from '../money/caps.ts';
import { defined } from '../base/defined.ts';
import { GatewayError, serviceUnavailable, type ErrorCode } from '../errors/errors.ts';
import { randomBase62, type RandomBytes } from '../base/ids.ts';
import { holdRefused } from '../errors/hold-refused.ts';
import { racePoint } from '../base/race-point.ts';
import type { Reckoning } from '../money/reckoning.ts';
import { inputOf, type TaskTerms } from '../task/input.ts';
import type { Task } from '../task/record.ts';
import { newRound } from '../task/rounds.ts';
import type { Spender } from '../access/spender.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { KeySlotStore } from '../store/key-slots.ts';
import type { RequestRecord, RequestStore } from '../store/requests.ts';
import { abandonedNote, heldBasis, writeHeldBasis } from '../money/ledger-basis.ts';
import { tryIdAt } from '../store/task-document.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { FindHoldTerms } from './account-terms.ts';
import type { Abandonments } from './abandonments.ts';
import { hasBegun, type CreationTry, type AbandonCreation } from './abandon-creation.ts';
import type { StorageQuota } from './storage-quota.ts';
import type { TaskPort } from './task-port.ts';

export interface AdmissionDeps {
  readonly tasks: Pick<TaskStore, 'insert' | 'step' | 'find'>;
  readonly requests: Pick<RequestStore, 'insert' | 'takeOver' | 'expiresAt'>;
  readonly ledger: Pick<Ledger, 'hold' | 'blockHold'>;
  readonly keySlots: Pick<KeySlotStore, 'take'>;
  readonly storage: Pick<StorageQuota, 'note'>;
  readonly port: Pick<TaskPort, 'start'>;
  readonly abandonCreation: AbandonCreation;
  readonly abandonments: Pick<Abandonments, 'add'>;
  readonly holdTerms: FindHoldTerms;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export interface AdmissionRequest {
  readonly task: Task;
  readonly terms: Omit<TaskTerms, 'keyUnlimited'>;
  readonly asked: Pick<RequestRecord, 'request' | 'callbackUrl' | 'warnings' | 'dropped'>;
  readonly by: Spender;
  readonly reckoning: Reckoning;
  readonly isFirst: boolean;
  readonly concurrentTasks?: number;
  /**
   * Called before the workflow starts. Resolves to false if the caller has already received an error or disconnected.
   */
  readonly mayStart: () => Promise<boolean>;
}

export interface Admitted {
  /** The cap with the least left after the hold. Set only if this attempt made the hold. */
  readonly cap?: CapState;
}

/** Resolves to undefined if nothing was created and the task id must not be used again. */
export type Admit = (request: AdmissionRequest) => Promise<Admitted | undefined>;

const slowAfterMs = 60_000;

/**
 * Creates the function that admits a task. It writes the record and the request, makes the hold, and starts the
 * workflow. Every step can be repeated by this attempt or by another one with the same task id. The record comes first
 * so that the reconciler finds the creation if this process dies.
 * A failed attempt undoes what it has written. If it has taken over from an earlier attempt, the earlier one may still
 * start the workflow and respond with 200. The creation is then undone only if it was rejected and no hold exists.
 * Otherwise it is left to a repeated request or the reconciler.
 */
export function createAdmit(deps: AdmissionDeps): Admit {
  return async (request) => {
    const { id: task, account, key, deadlineAt } = request.task;
    const begunAt = deps.now();
    const tryId = newTryId(deps);
    const creation = { task, account, tryId, ...(request.concurrentTasks === undefined ? {} : { key }) };
    let takesOver = false;
    try {
      await takeKeySlot(request, deps);
      const [isNew, storedBytes] = await Promise.all([
        deps.tasks.insert({ ...request.task, state: creatingState(request.task, tryId) }),
        writeRequest(request, tryId, deps),
      ]);
      await racePoint('admission.claimed', task);
      takesOver = !isNew;
      const outcome = isNew ? 'new' : await takeOver(task, tryId, deps);
      if (outcome === 'started') return {};
      const own = { ...request, creation, begunAt, isNew };
      const admitted = outcome === 'abandoned' ? undefined : await holdAndStart(own, deps);
      // Another process abandoned the task, so this attempt must remove what it wrote.
      if (admitted === undefined) await isStartedAfterAbandoning(creation, deps);
      else deps.storage.note(account, storedBytes, deps.requests.expiresAt(deadlineAt));
      return admitted;
    } catch (error) {
      const isRefused = isRefusal(error);
      const isOwn = !takesOver || (isRefused && (await isVoided(creation, deps)));
      const neverHeld = isRefused && (takesOver || request.isFirst);
      const isStarted = isOwn
        ? isStartedAfterAbandoning({ ...creation, neverHeld }, deps)
        : deps.tasks.find(task).then((found) => found !== undefined && hasBegun(found));
      if (await isStarted.catch(() => false)) return {};
      throw error;
    }
  };
}

async function isVoided({ account, task }: CreationTry, { ledger }: AdmissionDeps): Promise<boolean> {
  try {
    return (await ledger.blockHold({ account, task, note: abandonedNote })) === 'voided';
  } catch {
    return false;
  }
}

function creatingState({ plan }: Task, tryId: string): Task['state'] {
  return { ...newRound({ attempts: [] }, plan.candidates), at: 'creating', tryId };
}

function newTryId({ now, randomBytes }: AdmissionDeps): string {
  return tryIdAt(now(), randomBase62(8, randomBytes));
}

/** After a rejection with one of these codes, no hold exists. */
const refusals: ReadonlySet<ErrorCode> = new Set([
  'account_closed',
  'insufficient_balance',
  'spend_cap_exceeded',
  'concurrency_limit_exceeded',
]);

function isRefusal(error: unknown): boolean {
  return error instanceof GatewayError && refusals.has(error.code);
}

async function takeKeySlot({ task, concurrentTasks }: AdmissionRequest, deps: AdmissionDeps): Promise<void> {
  if (concurrentTasks === undefined) return;
  const slot = { task: task.id, until: task.deadlineAt };
  if (await deps.keySlots.take(task.key, slot, concurrentTasks)) return;
  throw new GatewayError(
    'concurrency_limit_exceeded',
    `This API key is limited to ${concurrentTasks} unfinished tasks. Wait for one to finish.`,
    { retryAfterSeconds: 5 },
  );
}

async function writeRequest(
  { task: { id: task, account, deadlineAt }, asked }: AdmissionRequest,
  by: string,
  { requests, randomBytes }: AdmissionDeps,
): Promise<number> {
  const callbackToken = randomBase62(32, randomBytes);
  const record = { task, account, deadlineAt, ...asked, callbackToken, by };
  for (;;) {
    const bytes = await requests.insert(record);
    if (bytes !== undefined) return bytes;
    if (await requests.takeOver(task, by)) return 0;
  }
}

/** Relies on the transition's result, because a separate read may be stale. */
async function takeOver(
  task: string,
  tryId: string,
  { tasks }: AdmissionDeps,
): Promise<'taken_over' | 'started' | 'abandoned'> {
  const stepped = await tasks.step(task, { kind: 'taken_over', tryId });
  if (stepped.ok) return 'taken_over';
  return stepped.task !== undefined && hasBegun(stepped.task) ? 'started' : 'abandoned';
}

interface OwnRequest extends AdmissionRequest {
  readonly creation: CreationTry;
  /** The reconciler's timeout starts at this time. */
  readonly begunAt: number;
  readonly isNew: boolean;
}

async function holdAndStart(request: OwnRequest, deps: AdmissionDeps): Promise<Admitted | undefined> {
  const { task, terms, creation } = request;
  const held = await hold(request, deps);
  if (held === undefined) return undefined;
  const { hold: amount, basis, cap } = held;
  const admitted = defined({ cap });
  const keyUnlimited = creation.key === undefined ? ({ keyUnlimited: true } as const) : {};
  await racePoint('admission.held', task.id);
  if (!(await request.mayStart())) throw serviceUnavailable('MongoDB did not respond in time');
  await deps.port.start(inputOf({ ...task, hold: amount }, { ...terms, basis, ...keyUnlimited }));
  await racePoint('admission.started', task.id);
  if (deps.now() - request.begunAt < slowAfterMs) return admitted;
  // This process was suspended for so long that the reconciler may have abandoned the task. Taking it over shows
  // whether that happened, and prevents it from now on.
  if ((await takeOver(task.id, newTryId(deps), deps)) !== 'abandoned') return admitted;
  throw serviceUnavailable('the creation took too long and was abandoned');
}

interface Held extends Pick<TaskTerms, 'basis'>, Pick<Task, 'hold'> {
  readonly cap: CapState | undefined;
}

async function hold(
  { task, terms, by, isNew, reckoning }: OwnRequest,
  deps: AdmissionDeps,
): Promise<Held | undefined> {
  const { id, account, hold: amount } = task;
  const basis = writeHeldBasis(terms.basis, reckoning);
  const limits = await deps.holdTerms(account, by);
  const held = await deps.ledger.hold({ account, task: id, amount, basis, ...limits });
  if (!held.ok) {
    if (held.refused === 'voided') return undefined;
    throw holdRefused(amount, held);
  }
  const { cap, entry } = held;
  if (isNew && !held.replayed) return { hold: amount, basis: terms.basis, cap };
  await deps.tasks.step(id, { kind: 'held', hold: entry.amount });
  return { hold: entry.amount, basis: heldBasis(entry.basis) ?? terms.basis, cap };
}

async function isStartedAfterAbandoning(creation: CreationTry, deps: AdmissionDeps): Promise<boolean> {
  try {
    return (await deps.abandonCreation(creation)) === 'begun';
  } catch {
    deps.abandonments.add(creation);
    return false;
  }
}

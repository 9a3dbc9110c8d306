import type { CapState } from '../money/caps.ts';
import { defined } from '../base/defined.ts';
import { GatewayError, serviceUnavailable } from '../errors/errors.ts';
import type { ErrorCode } from '../errors/errors.ts';
import { randomBase62 } from '../base/ids.ts';
import type { RandomBytes } from '../base/ids.ts';
import { holdRefused } from '../errors/hold-refused.ts';
import { racePoint } from '../base/race-point.ts';
import type { Reckoning } from '../money/reckoning.ts';
import { inputOf } from '../task/input.ts';
import type { TaskTerms } from '../task/input.ts';
import type { Task } from '../task/record.ts';
import { newRound } from '../task/rounds.ts';
import type { Spender } from '../access/spender.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { KeySlotStore } from '../store/key-slots.ts';
import type { RequestRecord, RequestStore } from '../store/requests.ts';
import { heldBasis, writeHeldBasis } from '../money/ledger-basis.ts';
import { tryIdAt } from '../store/task-document.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { FindHoldTerms } from './account-terms.ts';
import type { Abandonments } from './abandonments.ts';
import { hasBegun } from './abandon-creation.ts';
import type { CreationTry, AbandonCreation } from './abandon-creation.ts';
import type { StorageQuota } from './storage-quota.ts';
import type { TaskPort } from './task-port.ts';

export interface AdmissionDeps {
  readonly tasks: Pick<TaskStore, 'insert' | 'step'>;
  readonly requests: Pick<RequestStore, 'insert' | 'takeOver' | 'expiresAt'>;
  readonly ledger: Pick<Ledger, 'hold'>;
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
  /** Its first record. */
  readonly task: Task;
  readonly terms: Omit<TaskTerms, 'keyUnlimited'>;
  readonly asked: Pick<RequestRecord, 'request' | 'callbackUrl' | 'warnings' | 'dropped'>;
  readonly by: Spender;
  /** How the hold comes about. */
  readonly reckoning: Reckoning;
  /** No earlier request can have begun this task. */
  readonly isFirst: boolean;
  /** The key's limit on unfinished tasks. */
  readonly concurrentTasks?: number;
  /** Asked before the workflow starts. False: its caller has an error as its answer already. */
  readonly mayStart: () => boolean;
}

export interface Admitted {
  /** The cap that has least left after the hold, if this try has taken it. */
  readonly cap?: CapState;
}

/** Undefined: this task id can no longer be used; nothing was created under it. */
export type Admit = (request: AdmissionRequest) => Promise<Admitted | undefined>;

/** This long after its begin the reconciler may be at work on the creation: well below its two minutes. */
const slowAfterMs = 60_000;

/**
 * Record and request, then the hold, then the workflow. Every step may be repeated, by this try or by another one
 * with the same task id, and every failure abandons what is there (`createAbandonCreation`). The record comes
 * first, because it is what a reconciler finds if this process dies: no hold is taken without it. Throws GatewayError;
 * then nothing is left.
 */
export function createAdmit(deps: AdmissionDeps): Admit {
  return async (request) => {
    const { id: task, account, key, deadlineAt } = request.task;
    const begunAt = deps.now();
    const tryId = newTryId(deps);
    const creation = { task, account, tryId, ...(request.concurrentTasks === undefined ? {} : { key }) };
    try {
      await takeKeySlot(request, deps);
      const [isNew, storedBytes] = await Promise.all([
        deps.tasks.insert({ ...request.task, state: creatingState(request.task, tryId) }),
        writeRequest(request, tryId, deps),
      ]);
      await racePoint('admission.claimed', task);
      const outcome = isNew ? 'new' : await takeOver(task, tryId, deps);
      if (outcome === 'started') return {};
      const own = { ...request, creation, begunAt, isNew };
      const admitted = outcome === 'abandoned' ? undefined : await holdAndStart(own, deps);
      // No one runs this task any more, so no one else removes what this try has written for it.
      if (admitted === undefined) await isStartedAfterAbandoning(creation, deps);
      else deps.storage.note(account, storedBytes, deps.requests.expiresAt(deadlineAt));
      return admitted;
    } catch (error) {
      const neverHeld = request.isFirst && isRefusal(error);
      if (await isStartedAfterAbandoning({ ...creation, neverHeld }, deps)) return {};
      throw error;
    }
  };
}

/** Of a task whose round has not begun. */
function creatingState({ plan }: Task, tryId: string): Task['state'] {
  return { ...newRound({ attempts: [] }, plan.candidates), at: 'creating', tryId };
}

function newTryId({ now, randomBytes }: AdmissionDeps): string {
  return tryIdAt(now(), randomBase62(8, randomBytes));
}

/** The answer of a ledger, or of a count, that has written nothing. */
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
    `This API key may have ${concurrentTasks} unfinished tasks. Wait for one to finish.`,
    { retryAfterSeconds: 5 },
  );
}

/** How many bytes it has stored; 0: an earlier try has. */
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

/**
 * `taken_over`: this try owns the creation now. `started`: an earlier one has brought it to its workflow. The step says
 * what it found: no read after it is as new.
 */
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
  /** When this try made the creation its own, which the reconciler goes by. */
  readonly begunAt: number;
  /** The record is this try's own, with what it is about to hold. */
  readonly isNew: boolean;
}

/** Undefined: the hold was voided, since another try has abandoned the task. */
async function holdAndStart(request: OwnRequest, deps: AdmissionDeps): Promise<Admitted | undefined> {
  const { task, terms, creation } = request;
  const held = await hold(request, deps);
  if (held === undefined) return undefined;
  const { hold: amount, basis, cap } = held;
  const admitted = defined({ cap });
  const keyUnlimited = creation.key === undefined ? ({ keyUnlimited: true } as const) : {};
  await racePoint('admission.held', task.id);
  if (!request.mayStart()) throw serviceUnavailable('MongoDB did not answer in time');
  await deps.port.start(inputOf({ ...task, hold: amount }, { ...terms, basis, ...keyUnlimited }));
  await racePoint('admission.started', task.id);
  if (deps.now() - request.begunAt < slowAfterMs) return admitted;
  // This process was stopped for a while: the task counts only if it was not abandoned, and from here on it cannot be.
  if ((await takeOver(task.id, newTryId(deps), deps)) !== 'abandoned') return admitted;
  throw serviceUnavailable('the creation took too long and was abandoned');
}

interface Held extends Pick<TaskTerms, 'basis'>, Pick<Task, 'hold'> {
  readonly cap: CapState | undefined;
}

/** What is held, and for which price: of an earlier try of this creation, that one's. Undefined: it was voided. */
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

/** Abandons what this try has written. True: the workflow has the task already, by an earlier try. */
async function isStartedAfterAbandoning(creation: CreationTry, deps: AdmissionDeps): Promise<boolean> {
  try {
    return (await deps.abandonCreation(creation)) === 'begun';
  } catch {
    deps.abandonments.add(creation);
    return false;
  }
}

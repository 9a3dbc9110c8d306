import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { periods } from '../base/periods.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Caller } from '../access/caller.ts';
import { taskIdPattern } from '../base/ids.ts';
import { createRounds } from '../process/rounds.ts';
import type { Logger } from '../observability/log.ts';
import type { RepeatClaim, RepeatName, RepeatRecord, RepeatStore } from '../store/repeats.ts';
import { createWaitForRepeat, type Answer, type WaitForRepeat } from './wait-for-repeat.ts';

export interface RepeatsDeps {
  readonly store: RepeatStore;
  readonly isPaid: (made: string) => Promise<boolean>;
  readonly keptBytesMax: number;
  readonly secret: Buffer;
  readonly log: Logger;
  readonly now: () => number;
}

/** Official clients retry POST requests automatically, and some send the number of the retry. */
export interface ClientTry {
  /** Undefined if the client does not number its retries. */
  readonly retries?: number;
  readonly target: string;
  /** Taken from the `content-length` header, which is known before the body is read. */
  readonly bodyBytes: string;
  readonly whenLost: (work: () => void) => void;
}

/**
 * How a repeated request is recognised (docs/idempotency.md).
 * - `key`: by its Idempotency-Key, for 24 hours.
 * - `try`: by API key, route and body, for ten minutes. If the client numbers its retries, a retry first matches a
 *   request whose response was lost, then a rejected one (which starts afresh), and then any that no retry has claimed
 *   yet. If the client does not number them, a retry matches only a request whose response was lost.
 */
export type Repeat =
  | { readonly kind: 'key'; readonly key: string; readonly fingerprint: string }
  | {
      readonly kind: 'try';
      /** Includes the API key, so requests with different keys of one account never match. */
      readonly fingerprint: string;
      readonly key: string;
      readonly sent: ClientTry;
    };

export function clientRepeat({ key }: Pick<Caller, 'key'>, sent: ClientTry, fingerprint: string): Repeat {
  return { kind: 'try', key, sent, fingerprint: `${key}:${fingerprint}` };
}

export interface RepeatRequest {
  /** The account and the route. The same key in another scope belongs to another request. */
  readonly scope: readonly string[];
  readonly repeat: Repeat;
}

export interface Claim {
  readonly made: string;
  /** Stores the response before the caller is charged for it. Repeats receive it only after `end`. */
  keep(answer: Answer): Promise<void>;
  /** Makes this response, or the stored one if none is given, available to repeats. Never throws. */
  end(answer?: Answer): Promise<void>;
  /** Releases the key. Call this only if no request was sent upstream. Never throws. */
  forget(): Promise<void>;
  /** Records that the client did not receive the response, so that a retry gets it. */
  readonly lost: () => void;
}

export type Claimed =
  | { readonly outcome: 'first'; readonly claim: Claim }
  /**
   * `made` is the id of the task or images that the first request creates. Call `lost` if this request gets an error
   * after which its client may retry.
   */
  | {
      readonly outcome: 'earlier';
      readonly made: string;
      readonly record: RepeatRecord;
      readonly lost: () => void;
    };

export interface TaskClaim {
  readonly id: string;
  readonly task: string;
  /** If false, an earlier request chose the task's id. It has not necessarily created the task. */
  readonly first: boolean;
  /**
   * Resolves to true if a retry would find this request. Never rejects. Await it before starting the task, because a
   * client may retry half a second after losing the connection. Undefined if there is nothing to wait for.
   */
  readonly recorded: Promise<boolean> | undefined;
  /**
   * Records that the client got no response, or an error after which it may retry. A repeated request then continues
   * with this task.
   */
  readonly lost: () => void;
}

export interface RefusedRequest extends Pick<ClientTry, 'target' | 'bodyBytes'> {
  readonly account: string;
  readonly key: string;
}

export interface Repeats {
  /** A repeat gets the first request's task id and continues the creation without waiting for that request. */
  claimTask(ask: RepeatRequest, task: string): Promise<TaskClaim>;
  knows(ask: RepeatRequest): Promise<boolean>;
  forget(claim: TaskClaim): Promise<void>;
  /**
   * Records a request that was rejected before it claimed anything, with an error after which its client will retry.
   * Never throws.
   */
  noteRefused(by: RefusedRequest): Promise<void>;

  /**
   * If several calls claim a key at once, only one succeeds. Throws `idempotency_key_reused` if the key belongs to
   * another request.
   */
  claim(ask: RepeatRequest, made: string): Promise<Claimed>;
  readonly wait: WaitForRepeat;
}

const keptMs = { key: 24 * 3600 * 1000, try: 10 * 60_000 } as const;
const recordedWithinMs = 1_000;
/**
 * Ensures that a repeated request creates only one task, or makes only one upstream call whose response all repeats
 * receive.
 */
export function createRepeats(deps: RepeatsDeps): Repeats {
  const { store } = deps;
  return {
    async claimTask(ask, task) {
      const entry = await enter(freshClaim(ask, task, deps), ask);
      const { earlier, fresh } = entry;
      if (earlier !== undefined && !taskIdPattern.test(earlier.made)) throw keyReused(answeredOtherwise);
      const { id, made } = fresh;
      const named = noted(entry, ask);
      const recorded = ask.repeat.kind === 'key' ? undefined : named.recorded;
      return { id, task: made, first: earlier === undefined, recorded, lost: lossOf(named, ask) };
    },

    async claim(ask, made) {
      const entry = await enter({ ...freshClaim(ask, made, deps), isAwaited: true }, ask);
      const { earlier, fresh } = entry;
      if (earlier !== undefined && taskIdPattern.test(earlier.made)) throw keyReused(answeredOtherwise);
      if (earlier === undefined) return { outcome: 'first', claim: openClaim(noted(entry, ask), ask, deps) };
      // The client may also lose the connection of this retry, at any time from now on.
      const named = noted(entry, ask);
      const lost = lossOf(named, ask);
      if (ask.repeat.kind === 'try') ask.repeat.sent.whenLost(lost);
      await soon(named.recorded);
      return { outcome: 'earlier', made: fresh.made, record: earlier, lost };
    },

    knows: ({ scope, repeat }) => {
      const name = nameOf({ scope, repeat }, deps);
      if (repeat.kind === 'key') return store.find(name).then((found) => found !== undefined);
      const { retries } = repeat.sent;
      return retries === 0 ? Promise.resolve(false) : store.hasTry(name, { lost: retries === undefined });
    },

    async forget({ id, task, recorded }) {
      await recorded;
      await store.forget({ id, made: task });
    },

    noteRefused: (by) =>
      store
        .addRefused(refusedId(by, deps), keptMs.try)
        .catch((err: unknown) =>
          deps.log.warn({ key: by.key, err }, 'a rejected request could not be recorded'),
        ),

    wait: createWaitForRepeat(deps),
  };

  async function enter(fresh: RepeatClaim, ask: RepeatRequest): Promise<Entry> {
    const { repeat } = ask;
    if (repeat.kind === 'key') {
      const earlier = await store.claim(fresh);
      if (earlier !== undefined && earlier.fingerprint !== repeat.fingerprint) throw keyReused(otherBody);
      return {
        earlier,
        fresh: { ...fresh, made: earlier?.made ?? fresh.made },
        recorded: Promise.resolve(true),
      };
    }
    const found = await earlierTry(ask, repeat.sent);
    if (found === undefined) return { earlier: undefined, fresh };
    // A retry of a retry gets the first request's response.
    const of = found.of ?? found.id;
    return { earlier: { ...found, id: of }, fresh: { ...fresh, of, made: found.made } };
  }

  /**
   * If the client numbers its retries, its request is recorded immediately, and the task starts only after that. Other
   * requests are recorded only if their response is lost.
   */
  function noted(entry: Entry, { repeat }: RepeatRequest): Entry {
    if (repeat.kind === 'key' || repeat.sent.retries === undefined) return entry;
    const { fresh } = entry;
    return { ...entry, recorded: logFailure(fresh, deps, () => store.note(fresh, { lost: false })) };
  }

  /**
   * Finds the request that this one retries. Each request can be claimed only once, so two identical retries continue
   * different requests.
   */
  async function earlierTry(ask: RepeatRequest, sent: ClientTry): Promise<RepeatRecord | undefined> {
    if (sent.retries === 0) return undefined;
    const name = nameOf(ask, deps);
    const lost = await claimLive(name, { lost: true }, store);
    if (lost !== undefined || sent.retries === undefined || ask.repeat.kind === 'key') return lost;
    const { target, bodyBytes } = sent;
    const refused = { account: ask.scope[0] ?? '', key: ask.repeat.key, target, bodyBytes };
    if (await store.takeRefused(refusedId(refused, deps))) return undefined;
    return claimLive(name, { lost: false }, store);
  }

  function lossOf({ fresh, recorded }: Entry, { repeat }: RepeatRequest): () => void {
    return () => {
      if (repeat.kind === 'try') void noteLoss(fresh, recorded, deps);
    };
  }
}

/** Skips the retries of an image request that has since been forgotten, because it sent nothing upstream. */
async function claimLive(
  name: string,
  which: { readonly lost: boolean },
  { claimTry, find }: Pick<RepeatStore, 'claimTry' | 'find'>,
): Promise<RepeatRecord | undefined> {
  for (;;) {
    const found = await claimTry(name, which);
    if (found?.of === undefined || taskIdPattern.test(found.made)) return found;
    if ((await find(found.of)) !== undefined) return found;
  }
}

async function noteLoss(
  fresh: RepeatClaim,
  recorded: Promise<boolean> | undefined,
  deps: RepeatsDeps,
): Promise<boolean> {
  await recorded;
  return logFailure(fresh, deps, () => deps.store.note(fresh, { lost: true }));
}

interface Entry {
  readonly earlier: RepeatRecord | undefined;
  readonly fresh: RepeatClaim;
  readonly recorded?: Promise<boolean>;
}

function freshClaim(ask: RepeatRequest, made: string, deps: RepeatsDeps): RepeatClaim {
  const { fingerprint, kind } = ask.repeat;
  const name = nameOf(ask, deps);
  return { id: kind === 'key' ? name : `${name}/${made}`, made, fingerprint, keptMs: keptMs[kind] };
}

/** For requests without a key, returns the prefix that the ids of all equal requests share. */
function nameOf({ scope, repeat }: RepeatRequest, deps: RepeatsDeps): string {
  return hmac([...scope, ...(repeat.kind === 'key' ? [repeat.key] : ['try', repeat.fingerprint])], deps);
}

function refusedId({ account, key, target, bodyBytes }: RefusedRequest, deps: RepeatsDeps): string {
  return hmac(['refused', account, key, target, bodyBytes], deps);
}

function hmac(parts: readonly string[], { secret }: RepeatsDeps): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url');
}

/**
 * Responses up to this size, in bytes, stay in memory briefly after they were sent, because the connection may still be
 * reset.
 */
const heldBytesMax = 64 * 1024;

function openClaim({ fresh: name, recorded }: Entry, { repeat }: RepeatRequest, deps: RepeatsDeps): Claim {
  const { store } = deps;
  let record = recorded;
  let ended: Answer | undefined;
  const renewals = createRounds({
    ...periods.repeats,
    work: () => store.renew(name),
    onError: (err) =>
      deps.log.warn({ task: name.made, err }, 'the claim on an idempotency key could not be renewed'),
  });
  if (record !== undefined) renewals.start();
  const close = async (write: () => Promise<void>): Promise<void> => {
    await record;
    await logFailure(name, deps, write);
    void renewals.stop();
  };
  const complete = (answer: Answer | undefined) =>
    close(async () => {
      if (answer !== undefined) await store.store(name, toStore(answer, deps));
      await store.complete(name);
    });
  return {
    made: name.made,
    async keep(answer) {
      await record;
      await store.store(name, toStore(answer, deps));
    },
    async end(answer) {
      if (record !== undefined) return complete(answer);
      if (answer !== undefined && bytesOf(answer) <= heldBytesMax) ended = answer;
    },
    forget: () => (record === undefined ? Promise.resolve() : close(() => store.forget(name))),
    lost() {
      if (repeat.kind === 'key') return;
      const isNew = record === undefined;
      record = noteLoss(name, record, deps);
      if (isNew && ended !== undefined) void complete(ended);
      else if (isNew) renewals.start();
    },
  };
}

function logFailure(
  { made }: RepeatName,
  { log }: RepeatsDeps,
  write: () => Promise<void>,
): Promise<boolean> {
  return write().then(
    () => true,
    (err: unknown) => {
      log.error({ task: made, err }, 'the record of an idempotency key could not be written');
      return false;
    },
  );
}

/** Waits for at most a second, so that a slow record does not turn a finished response into an error. */
export async function soon(recorded: Promise<boolean> | undefined): Promise<void> {
  if (recorded !== undefined)
    await Promise.race([recorded, sleep(recordedWithinMs, undefined, { ref: false })]);
}

function toStore(answer: Answer, { keptBytesMax }: RepeatsDeps) {
  const { status, mayRetry, parts } = answer;
  if (parts === undefined || bytesOf(answer) > keptBytesMax) return { status, mayRetry };
  const body = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  return { status, mayRetry, body };
}

function bytesOf({ parts = [] }: Answer): number {
  return parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
}

function keyReused(message: string): GatewayError {
  return new GatewayError('idempotency_key_reused', message);
}

const otherBody =
  'This Idempotency-Key was used within the last 24 hours with a different request body. Use a new key for a new request.';
/**
 * Applies if the first request created images synchronously and the repeat would create a task, or vice versa. This
 * happens when the configuration changes in between.
 */
const answeredOtherwise =
  'The first request with this key was processed differently, because the configuration has changed since. Use a new Idempotency-Key for a new request.';

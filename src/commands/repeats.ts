import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { periods } from '../base/periods.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Caller } from '../access/caller.ts';
import { taskIdPattern } from '../base/ids.ts';
import { createSightings } from '../process/sightings.ts';
import { createRounds } from '../process/rounds.ts';
import type { Logger } from '../observability/log.ts';
import type { AnswerHead, RepeatClaim, RepeatName, RepeatRecord, RepeatStore } from '../store/repeats.ts';

export interface RepeatsDeps {
  readonly store: RepeatStore;
  /** Whether the ledger shows that whatever was created under this id was paid for. */
  readonly isPaid: (made: string) => Promise<boolean>;
  /** The maximum size of a stored response, in bytes. */
  readonly keptBytesMax: number;
  /** The HMAC key under which idempotency keys are stored. */
  readonly secret: Buffer;
  readonly log: Logger;
  readonly now: () => number;
}

/** How a client sent a request. Official clients repeat POST requests, and some count their retries. */
export interface ClientTry {
  /** The number of times the client has repeated this request, starting at 0. Undefined if it does not count. */
  readonly retries?: number;
  /** The request's path and query. */
  readonly target: string;
  /** The `content-length`, which is known before the body is read. */
  readonly bodyBytes: string;
  /** Calls `work` if the response does not reach the client, as far as the server can detect that. */
  readonly whenLost: (work: () => void) => void;
}

/**
 * How a repeated request is recognised (docs/idempotency.md).
 * - `key`: by its Idempotency-Key, for 24 hours.
 * - `try`: by API key, route and body, for ten minutes. If the client counts its retries, a retry first matches a lost
 *   try, then a refused one (and starts afresh), then any try that no retry has claimed yet. If the client does not
 *   count them, only a lost try matches.
 */
export type Repeat =
  | { readonly kind: 'key'; readonly key: string; readonly fingerprint: string }
  | {
      readonly kind: 'try';
      /** Includes the API key, so that requests made with different keys of an account never match. */
      readonly fingerprint: string;
      readonly key: string;
      readonly sent: ClientTry;
    };

/** Returns how to recognise repeats of a request that has no Idempotency-Key. */
export function clientRepeat({ key }: Pick<Caller, 'key'>, sent: ClientTry, fingerprint: string): Repeat {
  return { kind: 'try', key, sent, fingerprint: `${key}:${fingerprint}` };
}

export interface RepeatRequest {
  /** The account and the route. The same key in a different scope belongs to a different request. */
  readonly scope: readonly string[];
  readonly repeat: Repeat;
}

export interface Answer extends AnswerHead {
  /** The body's parts in order. Undefined if the body was too large to keep. */
  readonly parts?: readonly (string | Uint8Array)[];
}

/** The first request's claim on its key, renewed until that request ends. */
export interface Claim {
  /** The id of what the request creates. */
  readonly made: string;
  /** Stores the response before it is paid for. Repeats receive it only after `end`. Throws if it cannot be stored. */
  keep(answer: Answer): Promise<void>;
  /** Makes this response, or the stored one, available to repeats. Never throws. */
  end(answer?: Answer): Promise<void>;
  /** Releases the key. Call this only if nothing was sent. Never throws. */
  forget(): Promise<void>;
  /** Records that the response did not reach the client, so that a repeat receives it. */
  readonly lost: () => void;
}

export type Claimed =
  | { readonly outcome: 'first'; readonly claim: Claim }
  /**
   * `made` is the id of the task or images that the first request creates. Call `answered` once this request receives
   * the same response.
   */
  | {
      readonly outcome: 'earlier';
      readonly made: string;
      readonly record: RepeatRecord;
      readonly answered: () => Promise<void>;
    };

/** How an earlier request ended. */
export type RepeatEnd =
  | { readonly kind: 'answered'; readonly answer: Answer }
  /** The response was sent but could not be kept. */
  | { readonly kind: 'not_kept' }
  /** The request's process died or is suspended. `isPaid` reflects the ledger at the time of the call. */
  | { readonly kind: 'abandoned'; readonly isPaid: boolean }
  /** Nothing was sent upstream, so the key is free. */
  | { readonly kind: 'forgotten' };

export interface TaskClaim {
  /** The claim's record id. */
  readonly id: string;
  /** The task id for this request and its repeats. */
  readonly task: string;
  /**
   * Whether this is the first request. If not, an earlier request chose the task id, even if it never created the task.
   */
  readonly first: boolean;
  /**
   * Resolves with whether a retry would find this request. Never rejects. The task must not start earlier, because a
   * retry may arrive half a second after a loss. Undefined if nothing more needs to be written now.
   */
  readonly recorded: Promise<boolean> | undefined;
  /**
   * Records that the response did not reach the client, or was an error that the client may retry. A repeat then
   * continues with this task.
   */
  readonly lost: () => void;
}

/** `key` is the public id of the API key. */
export interface RefusedRequest extends Pick<ClientTry, 'target' | 'bodyBytes'> {
  readonly account: string;
  readonly key: string;
}

export interface Repeats {
  /** Sets the id of the task to create. A repeat does not wait: it receives the same id and continues. */
  claimTask(ask: RepeatRequest, task: string): Promise<TaskClaim>;
  /** Whether an earlier request exists. */
  knows(ask: RepeatRequest): Promise<boolean>;
  /** Releases the key after this task id's creation was abandoned. */
  forget(claim: TaskClaim): Promise<void>;
  /**
   * Records a request that was refused before it claimed anything, with an error that its client retries. Never throws.
   */
  noteRefused(by: RefusedRequest): Promise<void>;

  /**
   * Claims the key. Of several concurrent callers, exactly one wins. Throws `idempotency_key_reused` if the
   * key belongs to a different request.
   */
  claim(ask: RepeatRequest, made: string): Promise<Claimed>;
  /** Waits for the earlier request to end, even if it runs in another process. Throws if `closed` aborts first. */
  wait(record: RepeatRecord, closed: AbortSignal): Promise<RepeatEnd>;
}

const keptMs = { key: 24 * 3600 * 1000, try: 10 * 60_000 } as const;
/** A claim counts as abandoned if not renewed for this long by the waiting process's clock. */
const abandonedAfterMs = 60_000;
const lookEveryMs = 200;
const recordedWithinMs = 1_000;
/** How long sightings of a claim are kept, approximately. A later repeat restarts the `abandonedAfterMs` period. */
const sightingsKeptMs = 10 * 60_000;

/** Ensures that repeated requests result in one task, or in one upstream call with one response. */
export function createRepeats(deps: RepeatsDeps): Repeats {
  const { store, now } = deps;
  // Shared by all requests: a caller may stop waiting and repeat its request before `abandonedAfterMs` has passed, and
  // its earlier waiting time must count.
  const sightings = createSightings(now);
  let tidiedAt = now();

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
      const answered = async (): Promise<void> => {
        if (ask.repeat.kind === 'key') return;
        const named = noted(entry, ask);
        ask.repeat.sent.whenLost(lossOf(named, ask));
        await soon(named.recorded);
      };
      return { outcome: 'earlier', made: fresh.made, record: earlier, answered };
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
        .catch((err: unknown) => deps.log.warn({ key: by.key, err }, 'a refused request was not noted')),

    async wait(record, closed) {
      for (let found: RepeatRecord | undefined = record; found !== undefined;) {
        if (found.state === 'done') return replay(found, deps);
        if (isAbandoned(found)) return recoverAbandoned(found, deps);
        if (closed.aborted) throw new GatewayError('service_unavailable', 'The caller disconnected.');
        await sleep(lookEveryMs);
        found = await store.find(record.id);
      }
      return { kind: 'forgotten' };
    },
  };

  function isAbandoned({ id, made, beat }: RepeatRecord): boolean {
    if (now() - tidiedAt > sightingsKeptMs) {
      sightings.forgetOthers();
      tidiedAt = now();
    }
    return sightings.unchangedMs(id, `${made}/${beat}`) >= abandonedAfterMs;
  }

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
    // A retry of a retry receives the first try's response.
    const of = found.of ?? found.id;
    return { earlier: { ...found, id: of }, fresh: { ...fresh, of, made: found.made } };
  }

  /**
   * Records a try immediately if the client counts its retries. The task's start waits for that write. Other tries are
   * recorded only if their responses are lost.
   */
  function noted(entry: Entry, { repeat }: RepeatRequest): Entry {
    if (repeat.kind === 'key' || repeat.sent.retries === undefined) return entry;
    const { fresh } = entry;
    return { ...entry, recorded: logFailure(fresh, deps, () => store.note(fresh, { lost: false })) };
  }

  /**
   * Finds the try that this request repeats, if any. Each try can be claimed once, so identical retries continue
   * different tries.
   */
  async function earlierTry(ask: RepeatRequest, sent: ClientTry): Promise<RepeatRecord | undefined> {
    if (sent.retries === 0) return undefined;
    const name = nameOf(ask, deps);
    const lost = await store.claimTry(name, { lost: true });
    if (lost !== undefined || sent.retries === undefined || ask.repeat.kind === 'key') return lost;
    const { target, bodyBytes } = sent;
    const refused = { account: ask.scope[0] ?? '', key: ask.repeat.key, target, bodyBytes };
    if (await store.takeRefused(refusedId(refused, deps))) return undefined;
    return store.claimTry(name, { lost: false });
  }

  function lossOf({ fresh, recorded }: Entry, { repeat }: RepeatRequest): () => void {
    return () => {
      if (repeat.kind === 'try') void noteLoss(fresh, recorded, deps);
    };
  }
}

/** Records that a try's response was lost, once the try itself has been recorded. Never rejects. */
async function noteLoss(
  fresh: RepeatClaim,
  recorded: Promise<boolean> | undefined,
  deps: RepeatsDeps,
): Promise<boolean> {
  await recorded;
  return logFailure(fresh, deps, () => deps.store.note(fresh, { lost: true }));
}

interface Entry {
  /** The earlier request. Undefined if this is the first one. */
  readonly earlier: RepeatRecord | undefined;
  /** This request's record. `made` is the id that this request or the earlier one creates. */
  readonly fresh: RepeatClaim;
  /** See `TaskClaim`. Undefined if this request is recorded only when its response is lost. */
  readonly recorded?: Promise<boolean>;
}

function freshClaim(ask: RepeatRequest, made: string, deps: RepeatsDeps): RepeatClaim {
  const { fingerprint, kind } = ask.repeat;
  const name = nameOf(ask, deps);
  return { id: kind === 'key' ? name : `${name}/${made}`, made, fingerprint, keptMs: keptMs[kind] };
}

/** Returns a key's record id, or the prefix shared by all equal tries. */
function nameOf({ scope, repeat }: RepeatRequest, deps: RepeatsDeps): string {
  return hmac([...scope, ...(repeat.kind === 'key' ? [repeat.key] : ['try', repeat.fingerprint])], deps);
}

function refusedId({ account, key, target, bodyBytes }: RefusedRequest, deps: RepeatsDeps): string {
  return hmac(['refused', account, key, target, bodyBytes], deps);
}

function hmac(parts: readonly string[], { secret }: RepeatsDeps): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url');
}

/** The maximum size of responses kept in memory briefly after sending, because the connection may still be reset. */
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

/** Only logs a failed write, so that it never fails the request. Resolves with whether the write succeeded. */
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

/** Waits briefly for a record, so that a response that already exists does not become an error. */
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

/**
 * Recovers the outcome of a request whose process died. A stored response that was paid for is replayed. In any other
 * case, the upstream outcome is unknown.
 */
async function recoverAbandoned(record: RepeatRecord, deps: RepeatsDeps): Promise<RepeatEnd> {
  const isPaid = await deps.isPaid(record.made);
  if (record.state !== 'stored' || !isPaid) return { kind: 'abandoned', isPaid };
  await deps.store.complete(record);
  return replay(record, deps);
}

async function replay({ made, answer }: RepeatRecord, { store }: RepeatsDeps): Promise<RepeatEnd> {
  if (answer === undefined) return { kind: 'not_kept' };
  const { status, mayRetry, documents } = answer;
  if (documents === undefined) return { kind: 'answered', answer: { status, mayRetry } };
  return { kind: 'answered', answer: { status, mayRetry, parts: await store.readBody(made, documents) } };
}

function keyReused(message: string): GatewayError {
  return new GatewayError('idempotency_key_reused', message);
}

const otherBody =
  'This Idempotency-Key was used within the last 24 hours with a different request body. Use a new key for a new request.';
/** The configuration changed between the two requests, so one produced images and the other a task. */
const answeredOtherwise =
  'The first request with this key was carried out differently, because the configuration has changed since. Use a new Idempotency-Key for a new request.';

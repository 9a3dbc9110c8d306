import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../errors/errors.ts';
import type { Caller } from '../access/caller.ts';
import { taskIdPattern } from '../base/ids.ts';
import { createSightings } from '../process/sightings.ts';
import { createRounds } from '../process/rounds.ts';
import type { Logger } from '../observability/log.ts';
import type { AnswerHead, RepeatClaim, RepeatName, RepeatRecord, RepeatStore } from '../store/repeats.ts';

export interface RepeatsDeps {
  readonly store: RepeatStore;
  /** Whether what was made under this id was paid, according to the ledger. */
  readonly isPaid: (made: string) => Promise<boolean>;
  /** Answers larger than this are not kept. */
  readonly keptBytesMax: number;
  /** Keys the hashes under which idempotency keys are stored. */
  readonly secret: Buffer;
  readonly log: Logger;
  readonly now: () => number;
}

/** What is known of how a client sends a request: official clients repeat a POST, and some of them say so. */
export interface ClientTry {
  /** How often the client has repeated this request, if it counts; 0 the first time. */
  readonly retries?: number;
  /** `content-length`: what is known of a body that is not read. */
  readonly bodyBytes: string;
  /** Runs the work when the answer does not reach the client, as far as this side knows. */
  readonly whenLost: (work: () => void) => void;
}

/**
 * How a repeat of a request is recognised (docs/idempotency.md).
 * - `key`: by its Idempotency-Key, for 24 hours.
 * - `try`: by API key, route and body, for ten minutes. If the client counts its retries, a retry is matched to a lost
 *   try, else to a refused one (and starts afresh), else to any try that no retry has claimed. If it does not count,
 *   only a lost try matches.
 */
export type Repeat =
  | { readonly kind: 'key'; readonly key: string; readonly fingerprint: string }
  | {
      readonly kind: 'try';
      /** Of the API key, too: two keys of one account do not repeat each other's requests. */
      readonly fingerprint: string;
      readonly key: string;
      readonly sent: ClientTry;
    };

/** A request without an Idempotency-Key. */
export function clientRepeat({ key }: Pick<Caller, 'key'>, sent: ClientTry, fingerprint: string): Repeat {
  return { kind: 'try', key, sent, fingerprint: `${key}:${fingerprint}` };
}

export interface RepeatRequest {
  /** Account and route: the same key elsewhere is another request. */
  readonly scope: readonly string[];
  readonly repeat: Repeat;
}

export interface Answer extends AnswerHead {
  /** The body in order; absent: it was too large to be kept. */
  readonly parts?: readonly (string | Uint8Array)[];
}

/** The first request's hold on its key, renewed until it ends. */
export interface Claim {
  /** Id of what the request makes. */
  readonly made: string;
  /** Keeps the answer before it is paid for; nobody is given it before `end`. Throws when it cannot. */
  keep(answer: Answer): Promise<void>;
  /** A repeat is given this answer, or what was kept. Never throws. */
  end(answer?: Answer): Promise<void>;
  /** Nothing was sent: the key is free again. Never throws. */
  forget(): Promise<void>;
  /** The answer did not reach the client: a repeat is given it. */
  readonly lost: () => void;
}

export type Claimed =
  | { readonly outcome: 'first'; readonly claim: Claim }
  /** `made`: id of what the first request makes, or has made. `answered`: this request is given the same answer. */
  | {
      readonly outcome: 'earlier';
      readonly made: string;
      readonly record: RepeatRecord;
      readonly answered: () => void;
    };

/** The outcome of an earlier request. */
export type RepeatEnd =
  | { readonly kind: 'answered'; readonly answer: Answer }
  /** It was answered, and the answer could not be kept. */
  | { readonly kind: 'not_kept' }
  /** Its process died, or stands still. `isPaid`: according to the ledger, at this moment. */
  | { readonly kind: 'abandoned'; readonly isPaid: boolean }
  /** Nothing was sent for it: the key is free. */
  | { readonly kind: 'forgotten' };

export interface TaskClaim {
  /** Of its record. */
  readonly id: string;
  /** The id under which the task is created, by this request or by a repeat of it. */
  readonly task: string;
  /** False: an earlier request named the task, whether or not it came to create it. */
  readonly first: boolean;
  /** The answer did not reach the client, or was an error that it may repeat: a repeat continues with this task. */
  readonly lost: () => void;
}

/** `key`: the public id of the API key. */
export interface RefusedRequest extends Pick<ClientTry, 'bodyBytes'> {
  readonly account: string;
  readonly key: string;
}

export interface Repeats {
  /** Fixes the id of the task that the request creates. A repeat does not wait; it gets the same id and continues. */
  claimTask(ask: RepeatRequest, task: string): Promise<TaskClaim>;
  /** Whether an earlier request is known. */
  knows(ask: RepeatRequest): Promise<boolean>;
  /** What was to be made under this id was abandoned: the key is free again. */
  forget(claim: TaskClaim): Promise<void>;
  /** A request that was refused before it claimed anything, with an error that its client repeats. Never throws. */
  noteRefused(by: RefusedRequest): Promise<void>;

  /** One of any number of simultaneous callers is first. Throws `idempotency_key_reused` for another request. */
  claim(ask: RepeatRequest, made: string): Promise<Claimed>;
  /**
   * Waits for the earlier request to end, even if it runs in another process. Throws if `closed` is aborted first.
   */
  wait(record: RepeatRecord, closed: AbortSignal): Promise<RepeatEnd>;
}

const keptMs = { key: 24 * 3600 * 1000, try: 10 * 60_000 } as const;
/** A claim that has not been renewed for this long, by the waiting process's clock, counts as abandoned. */
const abandonedAfterMs = 60_000;
const renewEveryMs = 15_000;
const lookEveryMs = 200;
/**
 * Observations of a claim are dropped after about this long; a later repeat starts counting `abandonedAfterMs` again.
 */
const sightingsKeptMs = 10 * 60_000;

/** Ensures that a repeated request is one task, or one upstream call with one answer. */
export function createRepeats(deps: RepeatsDeps): Repeats {
  const { store, now } = deps;
  // Shared by all requests: a caller may stop waiting and repeat before `abandonedAfterMs` has passed, and the time it
  // already waited must count.
  const sightings = createSightings(now);
  let tidiedAt = now();

  return {
    async claimTask(ask, task) {
      const entry = await enter(freshClaim(ask, task, deps), ask);
      const { earlier, fresh } = entry;
      if (earlier !== undefined && !taskIdPattern.test(earlier.made)) throw keyReused(answeredOtherwise);
      const { id, made } = fresh;
      return { id, task: made, first: earlier === undefined, lost: lossOf(noted(entry, ask), ask) };
    },

    async claim(ask, made) {
      const entry = await enter({ ...freshClaim(ask, made, deps), isAwaited: true }, ask);
      const { earlier, fresh } = entry;
      if (earlier !== undefined && taskIdPattern.test(earlier.made)) throw keyReused(answeredOtherwise);
      if (earlier === undefined) return { outcome: 'first', claim: openClaim(noted(entry, ask), ask, deps) };
      const answered = (): void => {
        if (ask.repeat.kind === 'try') ask.repeat.sent.whenLost(lossOf(noted(entry, ask), ask));
      };
      return { outcome: 'earlier', made: fresh.made, record: earlier, answered };
    },

    knows: ({ scope, repeat }) => {
      const name = nameOf({ scope, repeat }, deps);
      if (repeat.kind === 'key') return store.find(name).then((found) => found !== undefined);
      const { retries } = repeat.sent;
      return retries === 0 ? Promise.resolve(false) : store.hasTry(name, { lost: retries === undefined });
    },

    forget: ({ id, task }) => store.forget({ id, made: task }),

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
      return { earlier, fresh: { ...fresh, made: earlier?.made ?? fresh.made }, recorded: Promise.resolve() };
    }
    const found = await earlierTry(ask, repeat.sent);
    if (found === undefined) return { earlier: undefined, fresh };
    // A retry of a retry has the answer of the first.
    const of = found.of ?? found.id;
    return { earlier: { ...found, id: of }, fresh: { ...fresh, of, made: found.made } };
  }

  /**
   * If the client counts its retries, its try is recorded at once. The request does not wait for that write, because
   * a retry comes seconds later at the earliest. Other tries are recorded only if their answer is lost.
   */
  function noted(entry: Entry, { repeat }: RepeatRequest): Entry {
    if (repeat.kind === 'key' || repeat.sent.retries === undefined) return entry;
    const { fresh } = entry;
    return { ...entry, recorded: logFailure(fresh, deps, () => store.note(fresh, { lost: false })) };
  }

  /**
   * The try that this request repeats, if it repeats one. Each is claimed once, so that of several equal requests each
   * retry continues another one.
   */
  async function earlierTry(ask: RepeatRequest, sent: ClientTry): Promise<RepeatRecord | undefined> {
    if (sent.retries === 0) return undefined;
    const name = nameOf(ask, deps);
    const lost = await store.claimTry(name, { lost: true });
    if (lost !== undefined || sent.retries === undefined || ask.repeat.kind === 'key') return lost;
    const refused = { account: ask.scope[0] ?? '', key: ask.repeat.key, bodyBytes: sent.bodyBytes };
    if (await store.takeRefused(refusedId(refused, deps))) return undefined;
    return store.claimTry(name, { lost: false });
  }

  function lossOf({ fresh, recorded }: Entry, { repeat }: RepeatRequest): () => void {
    return () => {
      if (repeat.kind === 'try') void noteLoss(fresh, recorded, deps);
    };
  }
}

/** Records that the answer of a try was lost, after the record of the try itself. Never rejects. */
async function noteLoss(
  fresh: RepeatClaim,
  recorded: Promise<void> | undefined,
  deps: RepeatsDeps,
): Promise<void> {
  await recorded;
  await logFailure(fresh, deps, () => deps.store.note(fresh, { lost: true }));
}

interface Entry {
  /** Absent: this request is the first. */
  readonly earlier: RepeatRecord | undefined;
  /** As this request is recorded; `made` is what it makes, or what the earlier one has. */
  readonly fresh: RepeatClaim;
  /** Resolves when this request is on record. Absent: it is recorded only if its answer is lost. */
  readonly recorded?: Promise<void>;
}

function freshClaim(ask: RepeatRequest, made: string, deps: RepeatsDeps): RepeatClaim {
  const { fingerprint, kind } = ask.repeat;
  const name = nameOf(ask, deps);
  return { id: kind === 'key' ? name : `${name}/${made}`, made, fingerprint, keptMs: keptMs[kind] };
}

/** For a key, the id of its record. For a try, the prefix that the ids of all equal tries share. */
function nameOf({ scope, repeat }: RepeatRequest, deps: RepeatsDeps): string {
  return hmac([...scope, ...(repeat.kind === 'key' ? [repeat.key] : ['try', repeat.fingerprint])], deps);
}

function refusedId({ account, key, bodyBytes }: RefusedRequest, deps: RepeatsDeps): string {
  return hmac(['refused', account, key, bodyBytes], deps);
}

function hmac(parts: readonly string[], { secret }: RepeatsDeps): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url');
}

/** Answers up to this size stay in memory briefly after they were sent, because the connection may still be reset. */
const heldBytesMax = 64 * 1024;

function openClaim({ fresh: name, recorded }: Entry, { repeat }: RepeatRequest, deps: RepeatsDeps): Claim {
  const { store } = deps;
  let record = recorded;
  let ended: Answer | undefined;
  const renewals = createRounds({
    everyMs: renewEveryMs,
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

/** An answer never fails because its record does. */
async function logFailure(
  { made }: RepeatName,
  { log }: RepeatsDeps,
  write: () => Promise<void>,
): Promise<void> {
  const said = 'the record of an idempotency key could not be written';
  await write().catch((err: unknown) => log.error({ task: made, err }, said));
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

/** Its process died. What it kept and was paid is its answer; otherwise it is not known what the upstream did. */
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
  'This Idempotency-Key was used within the last 24 hours with another request body. Use a new key for a new request.';
/** The configuration has changed in between: one request is answered with images, the other with a task. */
const answeredOtherwise =
  'The first request with this key was carried out differently, because the configuration has changed since. Use a new Idempotency-Key for a new request.';

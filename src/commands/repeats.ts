import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../errors/errors.ts';
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

/**
 * How a repeat of a request is recognised.
 * - `key`: by its Idempotency-Key, for 24 hours.
 * - `client_retry`: by its body, for some minutes. Official clients repeat a POST whose connection broke and say so in
 *   a header (`retries`, 0 the first time).
 */
export type Repeat =
  | { readonly kind: 'key'; readonly key: string; readonly fingerprint: string }
  | { readonly kind: 'client_retry'; readonly retries: number; readonly fingerprint: string };

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
}

export type Claimed =
  | { readonly outcome: 'first'; readonly claim: Claim }
  /** `made`: id of what the first request makes, or has made. */
  | { readonly outcome: 'earlier'; readonly made: string; readonly record: RepeatRecord };

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
  /** The id under which the task is created, by this request or by a repeat of it. */
  readonly task: string;
  /** False: an earlier request named the task, whether or not it came to create it. */
  readonly first: boolean;
}

export interface Repeats {
  /** Names the task that the request makes. Nobody waits for it: whoever comes later continues with the same id. */
  claimTask(ask: RepeatRequest, task: string): Promise<TaskClaim>;
  /** Whether an earlier request is known. */
  knows(ask: RepeatRequest): Promise<boolean>;
  /** What was to be made under this id was abandoned: the key is free again. */
  forget(ask: RepeatRequest, made: string): Promise<void>;

  /** One of any number of simultaneous callers is first. Throws `idempotency_key_reused` for another request. */
  claim(ask: RepeatRequest, made: string): Promise<Claimed>;
  /** Waits, on whichever process the earlier request runs. Throws when `closed` is aborted. */
  wait(record: RepeatRecord, closed: AbortSignal): Promise<RepeatEnd>;
}

const keptMs = { key: 24 * 3600 * 1000, client_retry: 10 * 60_000 } as const;
/** Whose claim was seen unchanged for this long, by the clock of who waits, is dead. */
const abandonedAfterMs = 60_000;
const renewEveryMs = 15_000;
const lookEveryMs = 200;
/** A repeat that comes later than this begins to look anew. */
const sightingsKeptMs = 10 * 60_000;

/** Ensures that a repeated request is one task, or one upstream call with one answer. */
export function createRepeats(deps: RepeatsDeps): Repeats {
  const { store, now } = deps;
  // Beyond one request: a caller may wait for less time than it takes, and repeat.
  const sightings = createSightings(now);
  let tidiedAt = now();

  return {
    async claimTask(ask, task) {
      const { earlier } = await recordOnce(freshClaim(ask, task, deps), ask);
      if (earlier !== undefined && !taskIdPattern.test(earlier.made)) throw keyReused(answeredOtherwise);
      return { task: earlier?.made ?? task, first: earlier === undefined };
    },

    async claim(ask, made) {
      const fresh = { ...freshClaim(ask, made, deps), isAwaited: true } as const;
      const { earlier, recorded } = await recordOnce(fresh, ask);
      if (earlier !== undefined && taskIdPattern.test(earlier.made)) throw keyReused(answeredOtherwise);
      if (earlier !== undefined) return { outcome: 'earlier', made: earlier.made, record: earlier };
      return { outcome: 'first', claim: openClaim(fresh, recorded, deps) };
    },

    async knows(ask) {
      const isFirst = ask.repeat.kind === 'client_retry' && ask.repeat.retries === 0;
      return !isFirst && (await store.find(recordId(ask, deps))) !== undefined;
    },

    forget: (ask, made) => store.forget({ id: recordId(ask, deps), made }),

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

  /**
   * Of clients' own retries, only one that declares itself a repeat looks for an earlier one: the same body twice, on
   * purpose, is two. The first try does not wait for its record: a repeat comes seconds later, if at all.
   */
  async function recordOnce(fresh: RepeatClaim, { repeat }: RepeatRequest): Promise<Recorded> {
    if (repeat.kind === 'key') {
      const earlier = await store.claim(fresh);
      if (earlier !== undefined && earlier.fingerprint !== repeat.fingerprint) throw keyReused(otherBody);
      return { earlier, recorded: Promise.resolve() };
    }
    const earlier = repeat.retries > 0 ? await store.find(fresh.id) : undefined;
    if (earlier !== undefined) return { earlier, recorded: Promise.resolve() };
    return { earlier, recorded: logFailure(fresh, deps, () => store.replace(fresh)) };
  }
}

interface Recorded {
  /** Absent: this request is the first. */
  readonly earlier: RepeatRecord | undefined;
  /** Resolves when the record is written. */
  readonly recorded: Promise<void>;
}

function freshClaim(ask: RepeatRequest, made: string, deps: RepeatsDeps): RepeatClaim {
  const { fingerprint, kind } = ask.repeat;
  return { id: recordId(ask, deps), made, fingerprint, keptMs: keptMs[kind] };
}

function recordId({ scope, repeat }: RepeatRequest, { secret }: RepeatsDeps): string {
  const name = repeat.kind === 'key' ? [repeat.key] : ['retry', repeat.fingerprint];
  return createHmac('sha256', secret)
    .update(JSON.stringify([...scope, ...name]))
    .digest('base64url');
}

function openClaim(name: RepeatName, recorded: Promise<void>, deps: RepeatsDeps): Claim {
  const { store } = deps;
  const renewals = createRounds({
    everyMs: renewEveryMs,
    work: () => store.renew(name),
    onError: (err) =>
      deps.log.warn({ task: name.made, err }, 'the claim on an idempotency key could not be renewed'),
  });
  renewals.start();
  const close = async (write: () => Promise<void>): Promise<void> => {
    await recorded;
    await logFailure(name, deps, write);
    void renewals.stop();
  };
  return {
    made: name.made,
    async keep(answer) {
      await recorded;
      await store.store(name, toStore(answer, deps));
    },
    end: (answer) =>
      close(async () => {
        if (answer !== undefined) await store.store(name, toStore(answer, deps));
        await store.complete(name);
      }),
    forget: () => close(() => store.forget(name)),
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

function toStore({ status, mayRetry, parts }: Answer, { keptBytesMax }: RepeatsDeps) {
  if (parts === undefined) return { status, mayRetry };
  const body = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const bytes = body.reduce((sum, part) => sum + part.length, 0);
  return { status, mayRetry, ...(bytes > keptBytesMax ? {} : { body }) };
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

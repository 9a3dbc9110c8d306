import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../domain/errors.ts';
import { noRetry } from '../../images/explain-failure.ts';
import type { Logger } from '../../observability/log.ts';
import type { ImageResult, ImageResultStore, StoredAnswer } from '../../store/image-results.ts';
import { presentError } from '../error-response.ts';
import { partsReply } from '../route.ts';
import type { BodyPart, Reply } from '../route.ts';

export interface ImageAnswersDeps {
  readonly results: ImageResultStore;
  /** Whether the ledger says that the image request was paid. */
  readonly isSettled: (image: string) => Promise<boolean>;
  /** Answers larger than this are not kept. */
  readonly keptBytesMax: number;
  /** Keys the hashes under which idempotency keys are stored. */
  readonly secret: Buffer;
  readonly log: Logger;
  readonly now: () => number;
  readonly newImage: () => string;
}

export interface ImageAsk {
  readonly scope: readonly string[];
  readonly repeat: Repeat;
  /** Aborted when the caller hangs up. Made on first use. */
  readonly closed: () => AbortSignal;
}

/**
 * How a repeat of the request is recognised.
 * - `key`: by its Idempotency-Key; the answer is kept for 24 hours.
 * - `client_retry`: by its body. Official clients repeat a POST whose connection broke and say so in a header
 *   (`retries`, 0 the first time); the answer is kept for some minutes.
 */
export type Repeat =
  | { readonly kind: 'none' }
  | { readonly kind: 'key'; readonly key: string; readonly fingerprint: string }
  | { readonly kind: 'client_retry'; readonly retries: number; readonly fingerprint: string };

/** Renders the answer to the image request of this id; calls `keep` with what is to be paid, before it is. */
export type MakeAnswer = (
  image: string,
  keep?: (parts: readonly BodyPart[]) => Promise<void>,
) => Promise<BodyPart[]>;

export type ImageAnswers = (ask: ImageAsk, make: MakeAnswer) => Promise<Reply>;

const keyKeptMs = 24 * 3600 * 1000;
const retryKeptMs = 10 * 60_000;
/** A process that does not renew its claim for this long is dead. */
const aliveMs = 60_000;
const renewEveryMs = 15_000;
const lookEveryMs = 200;

/**
 * Sees to it that a repeated request is one upstream call: the second waits for the first, on whichever process that
 * runs, and is given its answer.
 */
export function createImageAnswers(deps: ImageAnswersDeps): ImageAnswers {
  return async (ask, make) => {
    const { repeat } = ask;
    const image = deps.newImage();
    if (repeat.kind === 'none') return partsReply(await make(image));
    const id = claimId(ask, deps.secret);
    const claim = { id, image, fingerprint: repeat.fingerprint };
    if (repeat.kind === 'client_retry') {
      if (repeat.retries > 0) {
        const earlier = await deps.results.find(id);
        const reply = earlier === undefined ? undefined : await follow(earlier, ask, deps);
        if (reply !== undefined) return reply;
      }
      return answerOnce(claim, make, deps);
    }
    for (;;) {
      const aliveUntil = deps.now() + aliveMs;
      const earlier = await deps.results.claim({ ...claim, aliveUntil, keptMs: keyKeptMs });
      if (earlier === undefined) return answerAndKeep(claim, make, deps);
      const reply = await follow(earlier, ask, deps);
      if (reply !== undefined) return reply;
    }
  };
}

interface Claim {
  readonly id: string;
  readonly image: string;
  readonly fingerprint: string;
}

function claimId({ scope, repeat }: ImageAsk, secret: Buffer): string {
  const name = repeat.kind === 'key' ? ['key', repeat.key] : ['retry', fingerprintOf(repeat)];
  return createHmac('sha256', secret)
    .update(JSON.stringify([...scope, ...name]))
    .digest('base64url');
}

function fingerprintOf(repeat: Repeat): string {
  return repeat.kind === 'none' ? '' : repeat.fingerprint;
}

/** The first with its key: the answer is kept before it is paid, and given to others after. */
async function answerAndKeep(claim: Claim, make: MakeAnswer, deps: ImageAnswersDeps): Promise<Reply> {
  const { results } = deps;
  const stopRenewing = renewClaim(claim, deps);
  try {
    const parts = await make(claim.image, (made) => results.store(claim, toStore(made, 200, deps)));
    await attempt(claim, deps, () => results.complete(claim.id, claim.image));
    return partsReply(parts);
  } catch (error) {
    await attempt(claim, deps, () => closeFailed(claim, error, deps));
    throw error;
  } finally {
    stopRenewing();
  }
}

/**
 * A client that may repeat by itself: the answer is kept for some minutes. That it was written to its end does not say
 * that it arrived: what a proxy in front of us or the network loses is lost without our seeing it.
 */
async function answerOnce(claim: Claim, make: MakeAnswer, deps: ImageAnswersDeps): Promise<Reply> {
  const { results } = deps;
  // The repeat comes seconds later, if at all: the answer does not wait for this.
  const recorded = attempt(claim, deps, () =>
    results.replace({ ...claim, aliveUntil: deps.now() + aliveMs, keptMs: retryKeptMs }),
  );
  const stopRenewing = renewClaim(claim, deps);
  const finish = async (action: () => Promise<void>): Promise<void> => {
    await recorded;
    await attempt(claim, deps, action);
    stopRenewing();
  };
  try {
    const parts = await make(claim.image);
    const onEnd = (): void =>
      void finish(async () => {
        await results.store(claim, toStore(parts, 200, deps));
        return results.complete(claim.id, claim.image);
      });
    return { ...partsReply(parts), onEnd };
  } catch (error) {
    void finish(() => closeFailed(claim, error, deps));
    throw error;
  }
}

function renewClaim({ id, image }: Claim, { results, now, log }: ImageAnswersDeps): () => void {
  const timer = setInterval(() => {
    results.renew(id, image, now() + aliveMs).catch((err: unknown) => {
      log.warn({ task: image, err }, 'the claim on an idempotency key could not be renewed');
    });
  }, renewEveryMs).unref();
  return () => clearInterval(timer);
}

/** What an upstream may have accepted, or has refused, is the answer to this request for good; the rest may be tried again. */
async function closeFailed(claim: Claim, error: unknown, deps: ImageAnswersDeps): Promise<void> {
  if (!(error instanceof GatewayError) || error.headers['x-should-retry'] !== 'false') {
    await deps.results.forget(claim.id, claim.image);
    return;
  }
  await deps.results.store(claim, toStore([JSON.stringify(presentError(error))], error.status, deps));
  await deps.results.complete(claim.id, claim.image);
}

/** The answer itself never fails because its copy does. */
async function attempt(
  { image }: Claim,
  { log }: ImageAnswersDeps,
  action: () => Promise<void>,
): Promise<void> {
  try {
    await action();
  } catch (err) {
    log.error({ task: image, err }, 'the record of an idempotency key could not be written');
  }
}

function toStore(parts: readonly BodyPart[], status: number, { keptBytesMax }: ImageAnswersDeps) {
  const body = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const bytes = body.reduce((sum, part) => sum + part.length, 0);
  return { status, mayRetry: status === 200, ...(bytes > keptBytesMax ? {} : { body }) };
}

/** Waits for what an earlier request became. Undefined: nothing was sent for it, the key is free again. */
async function follow(
  earlier: ImageResult,
  ask: ImageAsk,
  deps: ImageAnswersDeps,
): Promise<Reply | undefined> {
  if (earlier.fingerprint !== fingerprintOf(ask.repeat)) throw keyReused();
  const closed = ask.closed();
  for (let found: ImageResult | undefined = earlier; found !== undefined; found = await look(found, deps)) {
    if (found.state === 'done' && found.answer !== undefined) return replay(found.image, found.answer, deps);
    if (found.aliveUntil < deps.now()) return takeStock(found, deps);
    if (closed.aborted) throw new GatewayError('service_unavailable', 'The caller hung up.');
    await sleep(lookEveryMs);
  }
  return undefined;
}

function look({ id }: ImageResult, { results }: ImageAnswersDeps): Promise<ImageResult | undefined> {
  return results.find(id);
}

/** Its process died. What it kept and was paid is given; else nobody knows what the upstream did. */
async function takeStock(found: ImageResult, deps: ImageAnswersDeps): Promise<Reply> {
  if (found.state === 'stored' && found.answer !== undefined && (await deps.isSettled(found.image))) {
    await deps.results.complete(found.id, found.image);
    return replay(found.image, found.answer, deps);
  }
  throw new GatewayError(
    'provider_error',
    'The first request with this key was interrupted and its result is lost. Nothing was charged. Use a new key.',
    { headers: noRetry },
  );
}

async function replay(image: string, answer: StoredAnswer, { results }: ImageAnswersDeps): Promise<Reply> {
  if (answer.documents === undefined) {
    throw new GatewayError(
      'idempotency_key_reused',
      'The result of this request was delivered once and is too large to be kept.',
      { headers: noRetry },
    );
  }
  const parts = await results.readBody(image, answer.documents);
  const headers = { 'idempotency-replayed': 'true', ...(answer.mayRetry ? {} : noRetry) };
  return { ...partsReply(parts, headers), status: answer.status };
}

function keyReused(): GatewayError {
  return new GatewayError(
    'idempotency_key_reused',
    'This Idempotency-Key was used within the last 24 hours with another request body. Use a new key for a new request.',
  );
}

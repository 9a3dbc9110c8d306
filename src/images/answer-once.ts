import { GatewayError } from '../errors/errors.ts';
import type { Answer, Claim, RepeatRequest, Repeats } from '../commands/repeats.ts';
import { noRetry } from './explain-failure.ts';

/** One part of an answer's body; base64 stays the bytes that the upstream sent. */
export type BodyPart = string | Uint8Array;

export interface ImageAnswer {
  readonly status: number;
  readonly parts: readonly BodyPart[];
  readonly headers: Readonly<Record<string, string>>;
  /** The answer to an earlier request. */
  readonly replayed: boolean;
  /** To be called when the response was completely written, or the caller has disconnected before. */
  readonly onEnd?: () => void;
}

export interface AnswerOnceDeps {
  readonly repeats: Repeats;
  /** An id for an image request. */
  readonly newImage: () => string;
}

export interface ImageAnswerRequest extends RepeatRequest {
  /** Aborted when the caller disconnects. Created on first use. */
  readonly closed: () => AbortSignal;
  /** The body of an error's answer. */
  readonly presentError: (error: GatewayError) => string;
}

/** Renders the answer to the image request of this id; calls `keep` with what is to be paid, before it is. */
export type MakeAnswer = (
  image: string,
  keep?: (parts: readonly BodyPart[]) => Promise<void>,
) => Promise<readonly BodyPart[]>;

/** A repeated request for images is one upstream call: the second is given the first one's answer. */
export async function answerOnce(
  ask: ImageAnswerRequest,
  make: MakeAnswer,
  { repeats, newImage }: AnswerOnceDeps,
): Promise<ImageAnswer> {
  for (;;) {
    const claimed = await repeats.claim(ask, newImage());
    if (claimed.outcome === 'first') {
      const { claim } = claimed;
      if (ask.repeat.kind === 'key') return keepThenAnswer(claim, ask, make);
      ask.repeat.sent.whenLost(claim.lost);
      return answerThenKeep(claim, ask, make);
    }
    const end = await repeats.wait(claimed.record, ask.closed());
    if (end.kind === 'forgotten') continue;
    if (end.kind === 'answered') {
      claimed.answered();
      return replayed(end.answer);
    }
    throw end.kind === 'not_kept' ? notKept('could not be stored') : lost(claimed.made, end.isPaid);
  }
}

function fresh(parts: readonly BodyPart[]): ImageAnswer {
  return { status: 200, parts, headers: {}, replayed: false };
}

function replayed({ status, mayRetry, parts }: Answer): ImageAnswer {
  if (parts === undefined) throw notKept('was too large to store and cannot be replayed');
  return { status, parts, headers: mayRetry ? {} : noRetry, replayed: true };
}

function succeeded(parts: readonly BodyPart[]): Answer {
  return { status: 200, mayRetry: true, parts };
}

/** The first with its key: the answer is kept before it is paid, and given to others after. */
async function keepThenAnswer(claim: Claim, ask: ImageAnswerRequest, make: MakeAnswer): Promise<ImageAnswer> {
  try {
    const parts = await make(claim.made, (made) => claim.keep(succeeded(made)));
    await claim.end();
    return fresh(parts);
  } catch (error) {
    await endFailed(claim, error, ask);
    throw error;
  }
}

/**
 * A client that may retry automatically: its response does not wait for the record. That it was written completely does
 * not mean that it arrived: what a proxy in front of us or the network loses is lost without our noticing.
 */
async function answerThenKeep(claim: Claim, ask: ImageAnswerRequest, make: MakeAnswer): Promise<ImageAnswer> {
  try {
    const parts = await make(claim.made);
    return { ...fresh(parts), onEnd: () => void claim.end(succeeded(parts)) };
  } catch (error) {
    void endFailed(claim, error, ask);
    throw error;
  }
}

/** What an upstream may have accepted, or has refused, is the final answer to this request; the rest may be retried. */
function endFailed(claim: Claim, error: unknown, { presentError }: ImageAnswerRequest): Promise<void> {
  const isFinal = error instanceof GatewayError && error.headers['x-should-retry'] === 'false';
  if (!isFinal) return claim.forget();
  return claim.end({ status: error.status, mayRetry: false, parts: [presentError(error)] });
}

function lost(image: string, isPaid: boolean): GatewayError {
  const money = isPaid
    ? `It was charged: ask the operator of this service about ${image}.`
    : 'No charge is on record for it.';
  return new GatewayError(
    'provider_error',
    `The first request with this key was interrupted and its result is lost. ${money} Use a new key.`,
    { headers: noRetry },
  );
}

function notKept(why: string): GatewayError {
  return new GatewayError(
    'idempotency_key_reused',
    `The result of this request was delivered once and ${why}.`,
    { headers: noRetry },
  );
}

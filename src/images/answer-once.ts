import { GatewayError } from '../errors/errors.ts';
import type { Claim, RepeatRequest, Repeats } from '../commands/repeats.ts';
import type { Answer } from '../commands/wait-for-repeat.ts';
import { noRetry } from './explain-failure.ts';

export type BodyPart = string | Uint8Array;

export interface ImageAnswer {
  readonly status: number;
  readonly parts: readonly BodyPart[];
  readonly headers: Readonly<Record<string, string>>;
  readonly replayed: boolean;
  /** The id of the images, which is needed for their receipt. Undefined for an error. */
  readonly image?: string;
  /** Called when the response has been written completely or the caller has disconnected. */
  readonly onEnd?: () => void;
}

export interface AnswerOnceDeps {
  readonly repeats: Repeats;
  readonly newImage: () => string;
}

export interface ImageAnswerRequest extends RepeatRequest {
  readonly closed: () => AbortSignal;
  readonly reserve: (bytes: number) => void;
  readonly presentError: (error: GatewayError) => string;
}

/** Passes the response to `keep` before the images are charged. */
export type MakeAnswer = (
  image: string,
  keep?: (parts: readonly BodyPart[]) => Promise<void>,
) => Promise<readonly BodyPart[]>;

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
    const waiting = { closed: ask.closed(), reserve: ask.reserve };
    const end = await repeats.wait(claimed.record, waiting).catch((error: unknown) => {
      claimed.lost();
      throw error;
    });
    if (end.kind === 'forgotten') continue;
    if (end.kind === 'answered') return replayed(end.answer, claimed.made);
    throw end.kind === 'not_kept' ? notKept('could not be stored') : lost(claimed.made, end.isPaid);
  }
}

function fresh(parts: readonly BodyPart[], image: string): ImageAnswer {
  return { status: 200, parts, headers: {}, replayed: false, image };
}

function replayed({ status, mayRetry, parts }: Answer, made: string): ImageAnswer {
  if (parts === undefined) throw notKept('was too large to be stored for a repeat');
  const image = status === 200 ? { image: made } : {};
  return { status, parts, headers: mayRetry ? {} : noRetry, replayed: true, ...image };
}

function succeeded(parts: readonly BodyPart[]): Answer {
  return { status: 200, mayRetry: true, parts };
}

/** Stores the response before charging, so that a repeat can get it. */
async function keepThenAnswer(claim: Claim, ask: ImageAnswerRequest, make: MakeAnswer): Promise<ImageAnswer> {
  try {
    const parts = await make(claim.made, (made) => claim.keep(succeeded(made)));
    await claim.end();
    return fresh(parts, claim.made);
  } catch (error) {
    await endFailed(claim, error, ask);
    throw error;
  }
}

/**
 * Does not wait until the response is recorded. Even a complete response needs a record, because the network or a proxy
 * may lose it unnoticed.
 */
async function answerThenKeep(claim: Claim, ask: ImageAnswerRequest, make: MakeAnswer): Promise<ImageAnswer> {
  try {
    const parts = await make(claim.made);
    return { ...fresh(parts, claim.made), onEnd: () => void claim.end(succeeded(parts)) };
  } catch (error) {
    void endFailed(claim, error, ask);
    throw error;
  }
}

/**
 * If an upstream rejected the request or may have accepted it, the error becomes the final response. After any other
 * error, the request can be retried.
 */
function endFailed(claim: Claim, error: unknown, { presentError }: ImageAnswerRequest): Promise<void> {
  const isFinal = error instanceof GatewayError && error.headers['x-should-retry'] === 'false';
  if (!isFinal) return claim.forget();
  return claim.end({ status: error.status, mayRetry: false, parts: [presentError(error)] });
}

function lost(image: string, isPaid: boolean): GatewayError {
  const money = isPaid
    ? `It was charged. Ask the operator of this service about ${image}.`
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

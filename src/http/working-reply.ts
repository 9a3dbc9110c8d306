import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../errors/errors.ts';
import { presentError, translateError } from './error-response.ts';
import type { Reply } from './route.ts';

/** For the document. */
export const workingMediaType = 'application/x-ndjson';

export interface Watching {
  /** Aborted when nobody reads any more. */
  readonly signal: AbortSignal;
  /** The latest progress is the next line. */
  readonly onProgress: (progress: object) => void;
}

export interface Work {
  /** Resolves with what the last line is. */
  readonly run: (watching: Watching) => Promise<object>;
  readonly signal: AbortSignal;
  /** The work has failed; its caller sees the translated error only. */
  readonly onError: (error: unknown) => void;
  /** Between two lines; default: a second. */
  readonly everyMs?: number;
}

/**
 * The answer to work that takes long: a line of JSON at a time, `{"progress":…}` while it runs, so that no proxy takes it for dead,
 * and at last `{"result":…}`, or an error with the body of every route. It has begun when this returns.
 */
export function workingReply(work: Work): Reply {
  const body = Readable.from(lines(work), { objectMode: false });
  return { status: 200, headers: {}, mediaType: workingMediaType, body };
}

/** Work of one kind, once at a time on this node. `refusal`: the message for whoever comes meanwhile. */
export function oneAtATime(refusal: string): (work: Work) => Reply {
  let isRunning = false;
  return ({ run, ...work }) => {
    if (isRunning) throw new GatewayError('concurrency_limit_exceeded', refusal, { retryAfterSeconds: 60 });
    isRunning = true;
    return workingReply({ ...work, run: (watching) => run(watching).finally(() => (isRunning = false)) });
  };
}

async function* lines({ run, signal, onError, everyMs = 1000 }: Work): AsyncIterable<string> {
  let progress: object = {};
  const ended = run({ signal, onProgress: (next) => (progress = next) }).then(
    (result) => ({ result }),
    (error: unknown) => {
      if (!signal.aborted) onError(error);
      return presentError(translateError(error));
    },
  );
  for (;;) {
    const last = await Promise.race([ended, sleep(everyMs, undefined, { ref: false })]);
    yield `${JSON.stringify(last ?? { progress })}\n`;
    if (last !== undefined) return;
  }
}

import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../errors/errors.ts';
import { presentError, translateError } from './error-response.ts';
import type { Reply } from './route.ts';

export const workingMediaType = 'application/x-ndjson';

export interface Watching {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: object) => void;
}

export interface Work {
  readonly run: (watching: Watching) => Promise<object>;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  readonly everyMs?: number;
}

/**
 * While the work runs, lines of `{"progress":…}` keep proxies from closing the connection. The last line is
 * `{"result":…}`, or an error with the common body. The work starts immediately, even if the reader disconnects before
 * reading anything.
 */
export function workingReply({ run, signal, onError, everyMs = 1000 }: Work): Reply {
  let progress: object = {};
  const ended = run({ signal, onProgress: (next) => (progress = next) }).then(
    (result) => ({ result }),
    (error: unknown) => {
      if (!signal.aborted) onError(error);
      return presentError(translateError(error));
    },
  );
  async function* lines(): AsyncIterable<string> {
    for (;;) {
      const last = await Promise.race([ended, sleep(everyMs, undefined, { ref: false })]);
      yield `${JSON.stringify(last ?? { progress })}\n`;
      if (last !== undefined) return;
    }
  }
  const body = Readable.from(lines(), { objectMode: false });
  return { status: 200, headers: {}, mediaType: workingMediaType, body };
}

/** Runs one job at a time on this node. Concurrent callers get `refusal` as an error. */
export function oneAtATime(refusal: string): (work: Work) => Reply {
  let isRunning = false;
  return ({ run, ...work }) => {
    if (isRunning) throw new GatewayError('concurrency_limit_exceeded', refusal, { retryAfterSeconds: 60 });
    isRunning = true;
    return workingReply({
      ...work,
      async run(watching) {
        try {
          return await run(watching);
        } finally {
          isRunning = false;
        }
      },
    });
  };
}

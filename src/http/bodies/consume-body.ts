import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../domain/errors.ts';
import type { BodyAllowance } from './body-budget.ts';

/** What every reader of bodies shares with the others of its process. */
export interface BodyScope {
  readonly allowance: BodyAllowance;
  /** A body that comes slower than this, on average since its begin, is cut off. */
  readonly bytesPerSecondMin: number;
}

export interface Consumption extends BodyScope {
  readonly bytesMax: number;
  /**
   * Called with each piece in order; a promise holds the next piece, and the end, back. Throws to refuse the rest.
   */
  readonly onChunk: (chunk: Buffer) => Promise<void> | undefined;
}

/** How long a body may pause, or begin slowly, before its rate counts. */
const rateGraceMs = 5_000;

/**
 * Reads a request's body piece by piece. Memory is reserved before the first byte where the length is announced, and
 * with each piece where it is not. On a refusal the stream stays open, so that the answer still reaches the sender.
 * Throws request_too_large, invalid_json (cut off), request_timeout (too slow), and what `onChunk` and the allowance
 * throw. However the body ends, nothing that `onChunk` began is still running afterwards.
 */
export async function consumeBody(request: IncomingMessage, options: Consumption): Promise<void> {
  const { allowance, bytesMax } = options;
  const announced = announcedBytes(request);
  if (announced !== undefined && announced > bytesMax) throw tooLarge(bytesMax);
  if (announced !== undefined) allowance.reserve(announced);
  await readAll(request, options, announced === undefined);
}

/** Undefined: sent in chunks. */
function announcedBytes({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

function readAll(request: IncomingMessage, options: Consumption, reserveEach: boolean): Promise<void> {
  const { allowance, bytesMax, bytesPerSecondMin, onChunk } = options;
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let bytes = 0;
    let paused: Promise<void> | undefined;
    const cutIfSlow = (): void => {
      const seconds = (performance.now() - startedAt) / 1000;
      // While we write a piece to a file, the sender cannot be blamed.
      if (paused === undefined && bytes < bytesPerSecondMin * seconds) settle(tooSlow());
    };
    // What came while this process stood still is read within a turn of the event loop.
    let look: NodeJS.Immediate | undefined;
    const timer = setInterval(() => (look = setImmediate(cutIfSlow)), rateGraceMs);

    const finish = (error?: unknown): void => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the body could not be read'));
    };
    const settle = (error?: unknown): void => {
      clearInterval(timer);
      clearImmediate(look);
      request.off('data', take).off('end', settle).off('error', cut).off('close', cut);
      // A stream that nobody listens to may still report that its connection broke.
      request.on('error', () => undefined);
      // A paused stream still ends, or breaks, when its last bytes have been read: the work on them may be running.
      if (paused === undefined) finish(error);
      else paused.then(() => finish(error), finish);
    };
    const cut = (): void => settle(cutOff());
    const take = (chunk: Buffer): void => {
      try {
        bytes += chunk.length;
        if (bytes > bytesMax) throw tooLarge(bytesMax);
        if (reserveEach) allowance.reserve(chunk.length);
        paused = onChunk(chunk);
      } catch (error) {
        settle(error);
        return;
      }
      if (paused === undefined) return;
      request.pause();
      paused.then(() => {
        paused = undefined;
        request.resume();
      }, settle);
    };
    request.on('data', take).once('end', settle).once('error', cut).once('close', cut);
  });
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('request_too_large', `The body may have at most ${bytesMax} bytes.`);
}

function cutOff(): GatewayError {
  return new GatewayError('invalid_json', 'The body was cut off or is not valid HTTP.');
}

function tooSlow(): GatewayError {
  return new GatewayError('request_timeout', 'The body was sent too slowly.', {
    headers: { connection: 'close' },
  });
}

import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { GatewayError } from '../../errors/errors.ts';
import type { BodyAllowance, BodyKind } from './body-budget.ts';

export interface BodyReader {
  readonly mediaTypes: readonly string[];
  readonly kind: BodyKind;
  read(context: Context, scope: BodyScope): Promise<unknown>;
  /** Called with the result of `read` when the route has finished or failed. Deletes temporary files. */
  release?(body: unknown): Promise<void>;
}

export interface BodyScope {
  readonly memory: BodyAllowance;
  readonly disk: BodyAllowance;
  /** The minimum average since the body began. It is higher for long bodies. */
  readonly bytesPerSecondMin: number;
  readonly isHeldBack: () => boolean;
}

export interface Consumption extends BodyScope {
  readonly bytesMax: number;
  /**
   * Called for each chunk in order. A returned promise delays the next chunk and the end of the body. Throw to reject
   * the rest.
   */
  readonly onChunk: (chunk: Buffer) => Promise<void> | void;
}

/** A body may start slowly or pause for this long before its rate is enforced. */
const rateGraceMs = 5_000;
/** The time limit for a whole body, whatever its announced length. */
const wholeSeconds = 100;
const windowBytes = 64 * 1024;
/**
 * The minimum average size of a chunk, because each chunk has a fixed cost on top of its bytes. Bodies with smaller
 * chunks are rejected after `freePieces` chunks.
 */
const pieceBytesMin = 128;
const freePieces = 256;

/**
 * Reads a request body in chunks. Reserves memory only for a small window, so callers that keep the bytes must reserve
 * memory for them. Throws request_too_large (also for too many chunks), invalid_json (if the body breaks off),
 * request_timeout (if the body is too slow), the reason if the body was cut off to make room, and whatever `onChunk`
 * and the allowances throw. Once the promise settles, nothing that `onChunk` started is still running.
 */
export async function consumeBody(request: IncomingMessage, options: Consumption): Promise<void> {
  const { memory, bytesMax, bytesPerSecondMin } = options;
  const announced = announcedBytes(request) ?? 0;
  if (announced > bytesMax) throw tooLarge(bytesMax);
  memory.reserve(windowBytes);
  await readAll(request, {
    ...options,
    bytesPerSecondMin: Math.max(bytesPerSecondMin, bytesPerSecondMin === 0 ? 0 : announced / wholeSeconds),
  });
}

function announcedBytes({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

function readAll(request: IncomingMessage, options: Consumption): Promise<void> {
  const { memory, disk, bytesMax, bytesPerSecondMin, isHeldBack, onChunk } = options;
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let bytes = 0;
    let pieces = 0;
    let paused: Promise<void> | undefined;
    const cutIfSlow = (): void => {
      const seconds = (performance.now() - startedAt) / 1000;
      // Do not blame the sender while we are writing a chunk to a file or holding back bytes.
      if (paused === undefined && !isHeldBack() && bytes < bytesPerSecondMin * seconds) settle(tooSlow());
    };
    // Check one event loop turn later, so that bytes which arrived while this process was suspended are read first.
    let look: NodeJS.Immediate | undefined;
    const timer = setInterval(() => (look = setImmediate(cutIfSlow)), rateGraceMs);

    const finish = (error?: unknown): void => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the body could not be read'));
    };
    const settle = (error?: unknown): void => {
      memory.keep();
      disk.keep();
      clearInterval(timer);
      clearImmediate(look);
      request.off('data', take).off('end', settle).off('error', cut).off('close', cut);
      // The stream may still report a broken connection after all listeners have been removed.
      request.on('error', () => undefined);
      // A paused stream can end or fail while its last chunk is still being processed.
      if (paused === undefined) finish(error);
      else paused.then(() => finish(error), finish);
    };
    const cut = (): void => settle(cutOff());
    const take = (chunk: Buffer): void => {
      try {
        bytes += chunk.length;
        pieces += 1;
        if (bytes > bytesMax) throw tooLarge(bytesMax);
        if (pieces > freePieces + bytes / pieceBytesMin) throw tooManyPieces();
        paused = onChunk(chunk) ?? undefined;
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
    memory.whileRead(settle);
    disk.whileRead(settle);
    request.on('data', take).once('end', settle).once('error', cut).once('close', cut);
  });
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('request_too_large', `The body must not exceed ${bytesMax} bytes.`);
}

function tooManyPieces(): GatewayError {
  return new GatewayError(
    'request_too_large',
    `The body arrived in too many pieces. Send chunks of at least ${pieceBytesMin} bytes.`,
  );
}

function cutOff(): GatewayError {
  return new GatewayError('invalid_json', 'The body was cut off or is not valid HTTP.');
}

function tooSlow(): GatewayError {
  return new GatewayError('request_timeout', 'The body was sent too slowly.', {
    headers: { connection: 'close' },
  });
}

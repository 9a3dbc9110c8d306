import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { GatewayError } from '../../errors/errors.ts';
import type { BodyAllowance, BodyKind } from './body-budget.ts';

/** Reads a request's body within its limit. Throws what `consumeBody` does, and unsupported_media_type. */
export interface BodyReader {
  /** For the document. */
  readonly mediaTypes: readonly string[];
  /** Whose memory it uses. */
  readonly kind: BodyKind;
  read(context: Context, scope: BodyScope): Promise<unknown>;
  /** Called with what `read` gave when the route has answered or failed: temporary files go. */
  release?(body: unknown): Promise<void>;
}

/** What a reader of bodies may use. */
export interface BodyScope {
  readonly memory: BodyAllowance;
  readonly disk: BodyAllowance;
  /** A body that comes slower than this, on average since its begin, is cut off; a long one has to be quicker. */
  readonly bytesPerSecondMin: number;
  /** Whether the gateway itself holds bytes of the body back. */
  readonly isHeldBack: () => boolean;
}

export interface Consumption extends BodyScope {
  readonly bytesMax: number;
  /**
   * Called with each piece in order; a promise holds the next piece, and the end, back. Throws to refuse the rest.
   */
  readonly onChunk: (chunk: Buffer) => Promise<void> | void;
}

/** How long a body may pause, or begin slowly, before its rate counts. */
const rateGraceMs = 5_000;
/** Within this time a body of any announced length must have come. */
const wholeSeconds = 100;
/** What the socket has read, and the reader has not. */
const windowBytes = 64 * 1024;
/** A piece costs more than its bytes: beyond the first ones, a body in pieces smaller than this is refused. */
const pieceBytesMin = 128;
const freePieces = 256;

/**
 * Reads a request's body piece by piece. Only a small window of memory is reserved here: whoever keeps what arrives
 * reserves for it. Throws request_too_large (also: in too many pieces), invalid_json (cut off), request_timeout (too
 * slow), and what `onChunk` and the allowances throw; a body that is cut to make room ends with that reason. However it
 * ends, nothing that `onChunk` began is still running afterwards.
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

/** Undefined: sent in chunks. */
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
      // While we write a piece to a file, or have bytes that wait for their turn, the sender cannot be blamed.
      if (paused === undefined && !isHeldBack() && bytes < bytesPerSecondMin * seconds) settle(tooSlow());
    };
    // What came while this process stood still is read within a turn of the event loop.
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
  return new GatewayError('request_too_large', `The body may have at most ${bytesMax} bytes.`);
}

function tooManyPieces(): GatewayError {
  return new GatewayError(
    'request_too_large',
    `The body came in too many pieces: send chunks of at least ${pieceBytesMin} bytes.`,
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

import { systemCodeOf } from '../base/caught.ts';
import { GatewayError } from './errors.ts';

const retryAfterSeconds = 60;

export class NotStoredError extends GatewayError {
  constructor(why: string, detail: string, cause?: unknown) {
    super('service_unavailable', `${why} Nothing was stored or charged. Try again later.`, {
      retryAfterSeconds,
      detail,
      cause,
    });
  }
}

export class NoRoomError extends NotStoredError {
  constructor(detail: string, cause?: unknown) {
    super('The service has no room for files at the moment.', detail, cause);
  }
}

export class StorageAwayError extends NotStoredError {
  constructor(cause: unknown) {
    super('The file storage is not responding at the moment.', storageFailed(cause), cause);
  }
}

const readAgainSeconds = 10;

export class NotReadError extends GatewayError {
  constructor(cause: unknown) {
    super('service_unavailable', 'The file storage is not responding at the moment. Try again later.', {
      retryAfterSeconds: readAgainSeconds,
      detail: storageFailed(cause),
      cause,
    });
  }
}

function storageFailed(cause: unknown): string {
  const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : 'unknown';
  return `the storage for results and files failed: ${why}`;
}

const fullCodes: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

export function noRoomOr(error: unknown): unknown {
  const code = systemCodeOf(error);
  return fullCodes.has(code) ? new NoRoomError(`a disk is full: ${code}`, error) : error;
}

export async function whileRoom<Result>(writing: Promise<Result>): Promise<Result> {
  try {
    return await writing;
  } catch (error) {
    throw noRoomOr(error);
  }
}

import {
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';
import { describe, expect, it } from 'vitest';
import { errorTable, GatewayError, type ErrorCode } from '../../src/errors/errors.ts';
import { errorHeaders, translateError } from '../../src/http/error-response.ts';

const codes = Object.keys(errorTable) as ErrorCode[];

/** Official clients retry 408, 409, 429 and 5xx unless this header is `false`. */
it.each(codes)('%s: x-should-retry is false for what cannot succeed', (code) => {
  const headers = errorHeaders(new GatewayError(code, 'No.'));
  expect(headers['x-should-retry']).toBe(errorTable[code].retryable ? undefined : 'false');
});

it('a single error may forbid a retry that its code allows', () => {
  const error = new GatewayError('provider_error', 'No.', { headers: { 'x-should-retry': 'false' } });
  expect(errorHeaders(error)['x-should-retry']).toBe('false');
});

class PoolClearedOnNetworkError extends MongoNetworkError {
  override get name(): string {
    return 'PoolClearedOnNetworkError';
  }
}

/**
 * The error that the driver throws if the connection breaks while it waits for space in the socket's buffer. It is the
 * socket's own error, not wrapped in an error of the driver.
 */
const brokenPipe = Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' });

const answered = (code: number) => new MongoServerError({ code, errmsg: 'no' });

describe('a database that does not respond', () => {
  it.each([
    ['a network error', new MongoNetworkError('reset')],
    ['a timeout', new MongoNetworkTimeoutError('silence')],
    ['a connection that was closed with its pool', new PoolClearedOnNetworkError('cleared')],
    ['no primary', new MongoServerSelectionError('none', Object.create(null))],
    ['a connection that breaks while a large command is written', brokenPipe],
    ['a primary that steps down', answered(189)],
    ['a server that is not a primary', answered(10_107)],
    ['a server whose memory is full', answered(365)],
    ['a lock that was not had in time', answered(24)],
    [
      'no majority in time',
      new MongoWriteConcernError({ writeConcernError: { code: 64, errmsg: 'late' }, ok: 1 }),
    ],
  ])('is a 503 that may be retried: %s', (_what, error) => {
    const { code, retryAfterSeconds, cause } = translateError(error);
    expect([code, retryAfterSeconds, cause]).toEqual(['service_unavailable', 5, error]);
  });

  it.each([
    ['a mistake of ours in a command', new MongoInvalidArgumentError('wrong')],
    ['a command that the server refuses', answered(2)],
    ['a duplicate key', answered(11_000)],
    ['anything else with such a code', Object.assign(new Error('no'), { code: 189 })],
    ['what is not an error', 'no'],
  ])('is not %s: that is a 500', (_what, error) => {
    expect(translateError(error)).toMatchObject({ code: 'internal_error', cause: error });
  });
});

it.each(['ENOSPC', 'EDQUOT'])('a full disk is a 503 that may be retried later: %s', (code) => {
  const error = Object.assign(new Error(`write ${code}`), { code });
  const answer = translateError(error);
  expect(answer).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 60, cause: error });
  expect(errorHeaders(answer)).toEqual({ 'retry-after': '60' });
});

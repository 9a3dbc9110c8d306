import { expect, it } from 'vitest';
import { errorTable, GatewayError } from '../../src/domain/errors.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import { errorHeaders } from '../../src/http/error-response.ts';

const codes = Object.keys(errorTable) as ErrorCode[];

/** Official clients repeat 408, 409, 429 and everything from 500 on, unless this header says otherwise. */
it.each(codes)('%s: clients are told not to repeat what cannot succeed', (code) => {
  const headers = errorHeaders(new GatewayError(code, 'No.'));
  expect(headers['x-should-retry']).toBe(errorTable[code].retryable ? undefined : 'false');
});

it('a single error may forbid what its code allows', () => {
  const error = new GatewayError('provider_error', 'No.', { headers: { 'x-should-retry': 'false' } });
  expect(errorHeaders(error)['x-should-retry']).toBe('false');
});

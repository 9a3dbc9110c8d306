import { describe, expect, it } from 'vitest';
import { explainFailure, mayBeAccepted, noRetry } from '../../src/images/explain-failure.ts';
import { UpstreamError } from '../../src/providers/provider.ts';

/** The error for a synchronous image that no channel delivered. Official clients retry most errors automatically. */

const outcomes = ['not_sent', 'throttled', 'unavailable', 'rejected', 'ambiguous'] as const;
const failure = (
  outcome: (typeof outcomes)[number],
  options: Partial<ConstructorParameters<typeof UpstreamError>[2]> = {},
) =>
  new UpstreamError(outcome, 'the key sk-0123456789abcdef at https://u.example/x?sig=1', {
    code: 'c',
    ...options,
  });

describe('an image that was not delivered', () => {
  it.each([
    ['not_sent', 503, 'service_unavailable', true],
    ['throttled', 503, 'service_unavailable', true],
    ['unavailable', 500, 'provider_error', true],
    ['rejected', 400, 'invalid_parameter', false],
    ['ambiguous', 500, 'provider_error', false],
  ] as const)('%s: %i %s; a client may retry it: %s', (outcome, status, code, retries) => {
    const error = explainFailure(failure(outcome));
    expect([error.status, error.code]).toEqual([status, code]);
    expect(error.headers?.['x-should-retry'] !== noRetry['x-should-retry']).toBe(retries);
  });

  it('that was rejected for neither its content nor its fields is the upstream’s failure, and is not retried', () => {
    const error = explainFailure(failure('rejected', { failure: { class: 'internal' } }));
    expect([error.status, error.code]).toEqual([500, 'provider_error']);
    expect(error.headers).toMatchObject(noRetry);
  });

  it.each(outcomes)('%s: no key and no address reach the caller, and operators see the code', (outcome) => {
    const error = explainFailure(failure(outcome));
    expect(error.message).not.toMatch(/sk-0123|u\.example|sig=/);
    expect(error.detail).toBe(`${outcome}: c`);
  });

  it.each([
    [undefined, 5],
    [0, 1],
    [1, 1],
    [1_001, 2],
    [60_000, 60],
  ])('an upstream that asks for %s ms: the caller waits %i s', (retryAfterMs, seconds) => {
    const error = explainFailure(failure('throttled', retryAfterMs === undefined ? {} : { retryAfterMs }));
    expect(error.retryAfterSeconds).toBe(seconds);
  });

  it('that was rejected names the field, or the part that was moderated, or the prompt', () => {
    const invalid = { class: 'invalid_input' as const };
    const param = (facts: object) =>
      explainFailure(failure('rejected', { failure: { ...invalid, ...facts } })).param;
    expect(param({ field: 'size' })).toBe('size');
    expect(param({ input: 'image' })).toBe('image');
    expect(param({})).toBe('prompt');
  });

  it('is treated as possibly accepted only if the outcome is unknown', () => {
    expect(outcomes.filter((outcome) => mayBeAccepted(failure(outcome)))).toEqual(['ambiguous']);
  });
});

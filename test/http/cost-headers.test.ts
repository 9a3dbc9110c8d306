import { expect, it } from 'vitest';
import { costHeaders } from '../../src/http/cost-headers.ts';

it.each([
  [undefined, 'USD', {}],
  [0n, 'USD', { 'x-mediary-cost': '0.000000', 'x-litellm-response-cost': '0.000000' }],
  [7_500_000n, 'USD', { 'x-mediary-cost': '7.500000', 'x-litellm-response-cost': '7.500000' }],
  // LiteLLM reads its header as US dollars, so the header is omitted for other currencies.
  [7_500_000n, 'CNY', { 'x-mediary-cost': '7.500000' }],
])('a charge of %s in %s', (charge, currency, headers) => {
  expect(costHeaders(charge, currency)).toEqual(headers);
});

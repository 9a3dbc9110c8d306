import { describe, expect, it } from 'vitest';
import { canned, providerContext, realMarker, submitContext, upstreamError } from './support.ts';
import type { CannedAnswer } from './support.ts';
import { useSimulator } from './use-simulator.ts';
import { jobVendors } from './vendors.ts';

/** A job counts as unknown only if its own upstream says so: a page or an error of something in between says nothing. */

const simulator = useSimulator({ renderSeconds: 80 });

const answers: readonly (readonly [what: string, answer: CannedAnswer])[] = [
  ['a page of a proxy', { status: 404, text: '<html><h1>404 Not Found</h1></html>' }],
  ['an error of a proxy', { status: 404, json: { message: 'no Route matched with those values' } }],
  ['an empty 404', { status: 404, text: '' }],
  ['a 404 with null', { status: 404, json: null }],
  ['a success with null', { json: null }],
  ['an empty success', { json: {} }],
];

describe.each(jobVendors)('$name', (vendor) => {
  it('is not taken for an upstream that knows the job no longer', async () => {
    const context = providerContext({
      request: simulator.request,
      baseUrl: simulator.url + vendor.path,
      model: vendor.model,
    });
    const { operation } = await vendor.submit('a boat', submitContext({ ...context, marker: realMarker() }));
    for (const [what, answer] of answers) {
      const between = canned(answer, answer, answer);
      const error = await upstreamError(
        vendor.status(operation, { ...context, request: between.request }),
      ).catch(() => undefined);
      expect([what, error?.gone ?? false]).toEqual([what, false]);
    }
  });
});

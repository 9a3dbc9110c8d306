import { describe, expect, it } from 'vitest';
import type { UpstreamOutcome } from '../../src/providers/provider.ts';
import { canned, providerContext, realMarker, submitContext, upstreamError } from './support.ts';
import type { CannedAnswer } from './support.ts';
import { useSimulator } from './use-simulator.ts';
import { imageVendors, jobVendors } from './vendors.ts';

/** If a proxy rejected the request, there is no job. If a proxy stopped waiting, there may be one. */
const outcomes: Readonly<Record<number, UpstreamOutcome>> = {
  200: 'ambiguous',
  302: 'unavailable',
  400: 'unavailable',
  401: 'unavailable',
  402: 'unavailable',
  403: 'unavailable',
  404: 'unavailable',
  408: 'ambiguous',
  413: 'rejected',
  422: 'unavailable',
  429: 'throttled',
  499: 'ambiguous',
  500: 'ambiguous',
  502: 'ambiguous',
  503: 'ambiguous',
  504: 'ambiguous',
  524: 'ambiguous',
};

const submissions = [
  ...jobVendors.map((vendor) => ({
    name: vendor.name,
    send: (answer: CannedAnswer) =>
      vendor.submit('a boat', submitContext({ model: vendor.model, request: canned(answer).request })),
  })),
  ...imageVendors.map(({ name, model, image, request }) => ({
    name: `${name}, images`,
    send: (answer: CannedAnswer) =>
      image.generate(request('a boat'), providerContext({ model, request: canned(answer).request })),
  })),
];

it.each(submissions)('$name: a submission that meets a page of a proxy', async ({ send }) => {
  const seen = Object.keys(outcomes).map(async (status) => {
    const error = await upstreamError(send({ status: Number(status), text: '<html>' }));
    return [status, error.outcome];
  });
  expect(Object.fromEntries(await Promise.all(seen))).toEqual(outcomes);
});

it.each(jobVendors)('$name: a submission whose response has no id may have a job', async (vendor) => {
  const { model } = vendor;
  for (const answer of [
    { text: '' },
    { json: {} },
    { json: null },
    { json: [] },
    { status: 204, text: '' },
  ]) {
    const context = submitContext({ model, request: canned(answer).request });
    const error = await upstreamError(vendor.submit('a boat', context));
    expect([answer, error.outcome]).toEqual([answer, 'ambiguous']);
  }
});

const simulator = useSimulator({ renderSeconds: 80 });

const answers: readonly (readonly [what: string, answer: CannedAnswer, code?: string])[] = [
  ['a page', { text: '<html>' }, 'unreadable_answer'],
  ['trouble of a proxy', { status: 502, text: '<html>' }, 'http_502'],
  ['a page of a proxy', { status: 404, text: '<html><h1>404 Not Found</h1></html>' }],
  ['an error of a proxy', { status: 404, json: { message: 'no Route matched with those values' } }],
  ['an empty 404', { status: 404, text: '' }],
  ['a 404 with null', { status: 404, json: null }],
  ['a success with null', { json: null }],
  ['an empty success', { json: {} }],
];

describe.each(jobVendors)('$name: a proxy’s response', (vendor) => {
  it('is not mistaken for an upstream that no longer knows the job', async () => {
    const context = providerContext({
      request: simulator.request,
      baseUrl: simulator.url + vendor.path,
      model: vendor.model,
    });
    const { operation } = await vendor.submit('a boat', submitContext({ ...context, marker: realMarker() }));
    for (const [what, answer, code] of answers) {
      const between = canned(answer, answer, answer);
      const error = await upstreamError(
        vendor.status(operation, { ...context, request: between.request }),
      ).catch(() => undefined);
      expect([what, error?.gone ?? false]).toEqual([what, false]);
      if (code !== undefined) expect([what, error?.code]).toEqual([what, code]);
    }
  });
});

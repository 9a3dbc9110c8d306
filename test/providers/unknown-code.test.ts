import { describe, expect, it } from 'vitest';
import { canned, providerContext, submitContext, upstreamError } from './support.ts';
import { imageVendors, jobVendors } from './vendors.ts';

/** A code that is in no table may be the caller's own text, so it must stay out of logs and histories. */

const word = 'silverfjord';
const reason = { code: word, type: word, status: word, message: word };
const json = {
  ...reason,
  error: reason,
  error_type: word,
  failureCode: word,
  failure: word,
  detail: [{ type: word, msg: word, loc: ['body', 'prompt'] }],
  base_resp: { status_code: word, status_msg: word },
  request_id: 'r',
  reason: word,
  name: word,
  errors: [word],
};
const answers = [400, 422, 429, 500].map((status) => ({ status, json }));

describe.each(jobVendors)('$name', (vendor) => {
  it.each(answers)('refuses with $status', async (answer) => {
    const context = submitContext({ model: vendor.model, request: canned(answer).request });
    const error = await upstreamError(vendor.submit('a boat', context));
    expect(error.code).not.toContain(word);
    expect(error.stack).not.toContain(word);
  });
});

describe.each(imageVendors)('$name', ({ image, request, model }) => {
  it.each([
    ...answers,
    { status: 200, json: { data: [{ error: reason }], promptFeedback: { blockReason: word } } },
  ])('refuses with $status', async (answer) => {
    const context = providerContext({ model, request: canned(answer).request });
    const error = await upstreamError(image.generate(request('a boat'), context));
    expect(error.code).not.toContain(word);
    expect(error.stack).not.toContain(word);
  });
});

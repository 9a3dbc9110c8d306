import { expect, it } from 'vitest';
import { providers } from '../../../src/providers/index.ts';
import { evaluate } from '../../../src/providers/vendor-files/evaluate.ts';
import { canned, providerContext, upstreamError } from '../support.ts';

const { video } = providers['luma'] ?? {};
if (video === undefined) throw new Error('a capability is missing');

const statusWith = (links: number) => {
  const output = Array.from({ length: links }, (_, index) => ({ url: `https://up.example/${index}.mp4` }));
  const { request } = canned({ json: { state: 'completed', output } });
  return video.status({ id: 'job' }, providerContext({ request }));
};

it('a response that needs too many steps of a built-in file cannot be read, but the next one can', async () => {
  expect(await upstreamError(statusWith(20_000))).toMatchObject({
    outcome: 'ambiguous',
    code: 'unreadable_answer',
  });
  expect(await statusWith(1)).toMatchObject({ state: 'succeeded' });
});

it('concurrent evaluations of one expression do not count each other’s steps', async () => {
  const input = { list: Array.from({ length: 50 }, (_, index) => ({ index })) };
  const evaluation = { source: 'list.{ "index": index }', input, bindings: {} };
  const alone = await evaluate(evaluation, 400);
  const together = await Promise.all(Array.from({ length: 20 }, () => evaluate(evaluation, 400)));
  expect(new Set(together)).toEqual(new Set([alone]));
});

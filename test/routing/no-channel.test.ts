import { describe, expect, it } from 'vitest';
import type { DroppedChannel } from '../../src/task/candidates.ts';
import { NoChannelError, explainNoChannel } from '../../src/routing/no-channel.ts';

const model = { id: 'm' } as Parameters<typeof explainNoChannel>[0];
const dropped = (...reasons: DroppedChannel['reason'][]): DroppedChannel[] =>
  reasons.map((reason, n) => ({ channel: `c${n}`, reason, detail: `why ${n}` }));

describe('a request that no channel can serve', () => {
  it.each<[string, DroppedChannel['reason'][], string]>([
    ['nobody has the model', ['model_not_served', 'model_not_served'], 'model_not_found'],
    ['there is no channel at all', [], 'model_not_found'],
    ['the key may not use those that have it', ['not_permitted', 'model_not_served'], 'channel_not_allowed'],
    ['one of them is only out of service', ['not_permitted', 'circuit_open'], 'service_unavailable'],
    ['all are switched off', ['disabled'], 'service_unavailable'],
    ['all are full', ['at_concurrency_limit'], 'service_unavailable'],
    ['one has no price, whatever the others have', ['circuit_open', 'no_price'], 'unsupported_parameter'],
    ['the key may use none, and one has no price', ['not_permitted', 'no_price'], 'unsupported_parameter'],
  ])('%s', (_, reasons, code) => {
    expect(explainNoChannel(model, dropped(...reasons), []).code).toBe(code);
  });

  it('is refused for an adapter’s objection before anything else', () => {
    const issue = { param: 'duration', message: 'The model renders 5 or 10 seconds.' };
    const later = { param: 'ratio', message: 'Another one.' };
    const error = explainNoChannel(model, dropped('unsupported', 'circuit_open'), [issue, later]);
    expect(error).toMatchObject({ code: 'unsupported_parameter', ...issue });
  });

  it('may be retried after half a minute only if that can help', () => {
    expect(explainNoChannel(model, dropped('circuit_open'), []).retryAfterSeconds).toBe(30);
    expect(explainNoChannel(model, dropped('no_price'), []).retryAfterSeconds).toBeUndefined();
  });

  it('names no channel to its caller, and explains to operators why each was dropped', () => {
    const error = explainNoChannel(model, dropped('circuit_open', 'disabled'), []);
    expect(error.message).not.toMatch(/c0|why|circuit/);
    expect(error.detail).toBe('c0: circuit_open (why 0); c1: disabled (why 1)');
    const carried = new NoChannelError(error, dropped('circuit_open'));
    expect(carried).toMatchObject({ code: error.code, detail: error.detail, retryAfterSeconds: 30 });
    expect(carried.dropped).toHaveLength(1);
  });
});

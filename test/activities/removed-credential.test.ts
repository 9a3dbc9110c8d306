import { describe, expect, it } from 'vitest';
import { createStatusPoller } from '../../src/polling/status-poller.ts';
import { createRateLimiter } from '../../src/capacity/rate-limiter.ts';
import type { OperationStatus } from '../../src/providers/provider.ts';
import { ChannelGoneError } from '../../src/routing/channels.ts';

const pending: OperationStatus = { state: 'pending', phase: 'running' };
const context = (signal: AbortSignal) => ({
  request: () => Promise.reject(new Error('no network in this test')),
  credential: { id: 'a', apiKey: 'k' },
  baseUrl: 'http://upstream',
  model: 'm',
  signal,
});
const limiter = () =>
  createRateLimiter({ perSecond: () => 1000, monotonic: Date.now, sleep: async () => undefined });
const job = (id: string) => ({ account: 'a', task: `task-${id}`, operation: { id }, model: 'm' });
const never = new AbortController().signal;

describe('a status poller whose credential was removed from gateway.yaml', () => {
  // In production, an unhandled rejection would end a worker. Here, it makes vitest fail.
  it.each([
    ['one by one', {}],
    ['in a list', { list: async () => new Map([['x', pending]]) }],
  ])(
    'fails each poll with advice on what to restore, and works again once it is restored (%s)',
    async (_name, more) => {
      let isGone = true;
      const poller = createStatusPoller({
        provider: () => ({ status: async () => pending, ...more }),
        context: (_model, signal) => {
          if (isGone) throw new ChannelGoneError('ark', 'a');
          return context(signal);
        },
        limiter: limiter(),
        timeoutMs: () => 1000,
        monotonic: Date.now,
      });
      const asked = await Promise.allSettled([
        poller.status(job('x'), never),
        poller.status(job('y'), never),
      ]);
      for (const result of asked) {
        expect(result).toMatchObject({ status: 'rejected', reason: { name: 'ChannelGoneError' } });
      }
      isGone = false;
      expect(await poller.status(job('x'), never)).toEqual(pending);
    },
  );
});

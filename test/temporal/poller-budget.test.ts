import { describe, expect, it } from 'vitest';
import { namespacePollsDefault, pollsOfWorker, pollsPerQueue } from '../../src/temporal/poller-budget.ts';

describe('the polls of a worker', () => {
  it.each([
    [1, 10, 40],
    [40, 10, 820],
    [55, 7, 790],
    [200, 2, 820],
    [400, 1, 820],
    [1000, 1, 2020],
  ])('with %i channels: %i for each queue, %i in all', (channels, each, all) => {
    expect([pollsPerQueue(channels * 2), pollsOfWorker(channels)]).toEqual([each, all]);
  });

  it('stay within what a server allows by default, up to 590 channels', () => {
    for (let channels = 0; channels <= 590; channels += 1)
      expect(pollsOfWorker(channels)).toBeLessThanOrEqual(namespacePollsDefault);
  });

  it('leave room for queues that a reload adds, each of which has at least one', () => {
    const open = 40 * pollsPerQueue(40);
    expect(pollsPerQueue(360, open)).toBe(1);
    expect(pollsPerQueue(20, open)).toBe(10);
    expect(pollsPerQueue(20, 5000)).toBe(1);
  });
});

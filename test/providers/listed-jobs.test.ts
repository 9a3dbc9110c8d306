import { describe, expect, it } from 'vitest';
import { createStatusPoller } from '../../src/polling/status-poller.ts';
import { createRateLimiter } from '../../src/capacity/rate-limiter.ts';
import type { ProviderContext } from '../../src/providers/provider.ts';
import { providerContext, realMarker, submitContext, upstreamError } from './support.ts';
import { useSimulator } from './use-simulator.ts';
import { jobVendors } from './vendors.ts';

/** If an adapter can list jobs, polls must use the list, so that many jobs in flight do not cost a request each. */

const simulator = useSimulator({ renderSeconds: 80 });

describe.each(jobVendors.filter(({ part }) => part.lists))('$name', (vendor) => {
  const { model, part, unlisted } = vendor;
  const context = (signal = AbortSignal.timeout(60_000)): ProviderContext =>
    providerContext({ request: simulator.request, baseUrl: simulator.url + vendor.path, model, signal });

  function pollerOf() {
    const poller = createStatusPoller({
      provider: () => part.questions,
      context: (_model, signal) => context(signal),
      limiter: createRateLimiter({
        perSecond: () => 1_000,
        monotonic: Date.now,
        sleep: async () => undefined,
      }),
      timeoutMs: () => 60_000,
      monotonic: Date.now,
    });
    return (id: { readonly id: string }) =>
      poller.status({ task: id.id, account: 'a', operation: id, model }, AbortSignal.timeout(60_000));
  }

  async function submit(prompt: string) {
    const marked = submitContext({ ...context(), marker: realMarker() });
    return (await vendor.submit(prompt, marked)).operation;
  }

  async function submitAll(prompts: readonly string[]) {
    const operations = [];
    for (const prompt of prompts) operations.push(await submit(prompt));
    return operations;
  }

  function asked() {
    const { gets, lists } = simulator.control.stats();
    return { gets, lists };
  }

  it('polls several jobs in flight in one request', async () => {
    const jobs = await submitAll(['a boat', 'a boat', 'a boat']);
    const status = pollerOf();
    const expected = unlisted === true ? { gets: 3, lists: 0 } : { gets: 0, lists: 1 };
    for (const phase of ['submitted', 'running']) {
      const before = asked();
      const found = await Promise.all(jobs.map(status));
      expect(found.map((one) => one.state === 'pending' && one.phase)).toEqual([phase, phase, phase]);
      const after = asked();
      expect({ gets: after.gets - before.gets, lists: after.lists - before.lists }).toEqual(expected);
      simulator.control.advance(20);
    }
  });

  it('polls a missing job alone, and learns that it is gone', async () => {
    const [lost, ...jobs] = await submitAll(['a boat [sim:vanishes]', 'a boat', 'a boat']);
    if (lost === undefined) throw new Error('nothing was submitted');
    simulator.control.advance(20);
    const status = pollerOf();
    const [error, ...others] = await Promise.all([upstreamError(status(lost)), ...jobs.map(status)]);
    expect(error.gone).toBe(true);
    expect(others).toMatchObject([{ state: 'pending' }, { state: 'pending' }]);
    expect(asked()).toEqual(unlisted === true ? { gets: 3, lists: 0 } : { gets: 1, lists: 1 });
  });

  it('polls more jobs than one list holds in several requests', async () => {
    const count = (part.questions.listMax ?? 0) + 2;
    const jobs = await submitAll(Array.from({ length: count }, () => 'a boat'));
    const found = await Promise.all(jobs.map(pollerOf()));
    expect(found.every(({ state }) => state === 'pending')).toBe(true);
    expect(asked()).toEqual(unlisted === true ? { gets: count, lists: 0 } : { gets: 0, lists: 2 });
  });

  it('polls each job alone if the list itself is rejected', async () => {
    const jobs = await submitAll(['a boat', 'a boat']);
    for (const fault of ['list:403', 'list:404', 'list:malformed']) {
      simulator.control.clearFaults();
      simulator.control.addFault({ match: {}, fault });
      const found = await Promise.all(jobs.map(pollerOf()));
      expect(found).toMatchObject([{ state: 'pending' }, { state: 'pending' }]);
    }
  });
});

import { expect, it } from 'vitest';
import { providers } from '../../src/providers/index.ts';
import { tryCredential } from '../../src/routing/try-credential.ts';
import { canned, providerContext } from '../providers/support.ts';
import { useSimulator } from '../providers/use-simulator.ts';
import { jobVendors } from '../providers/vendors.ts';

const simulator = useSimulator({ renderSeconds: 80 });

/** The name of a row begins with its provider. */
const providerOf = (row: string) => /^\w+/.exec(row)?.[0] ?? '';

const channelOf = (name: string, { path, model, mapping }: any, request: any, apiKey: string): any => ({
  provider: providers[providerOf(name)],
  config: { models: { m: {} } },
  context: () => ({
    ...providerContext({ request, baseUrl: simulator.url + path, model }),
    credential: { id: 'a', apiKey },
    ...(mapping === undefined ? {} : { mapping }),
  }),
});
const ask = (channel: any) => tryCredential(channel, 'a', AbortSignal.timeout(10_000));

/** These vendors answer with images at once, so they have no jobs to ask for. */
const untested = ['openai', 'stability'];

it.each(jobVendors.map((row) => [row.name, row.model, row] as const))(
  '%s with %s distinguishes a valid key from an invalid one, and creates no job',
  async (name, _model, row) => {
    const right = await ask(channelOf(name, row, simulator.request, 'test-key'));
    expect(right).toMatchObject({ verdict: 'accepted' });
    const wrong = await ask(channelOf(name, row, simulator.request, 'sk-another-key'));
    expect(wrong).toMatchObject({ verdict: 'refused' });
    expect(wrong.words).not.toContain('sk-another');
  },
);

it('the keys of every other vendor are reported as untested', async () => {
  const row = { path: '', model: 'm' };
  const tested = new Set(jobVendors.map(({ name }) => providerOf(name)));
  expect(Object.keys(providers).filter((name) => !tested.has(name))).toEqual(untested);
  for (const name of untested) {
    const answer = await ask(channelOf(name, row, simulator.request, 'test-key'));
    expect(answer.verdict).toBe('untested');
  }
});

it('an address where something else answers says nothing about the key', async () => {
  const page = { status: 404, text: '<html>' };
  for (const row of jobVendors) {
    const { request } = canned(page, page, page);
    const answer = await ask(channelOf(row.name, row, request, 'test-key'));
    expect([row.name, answer.verdict]).toEqual([row.name, 'unclear']);
  }
});

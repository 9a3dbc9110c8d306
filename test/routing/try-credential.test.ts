import { expect, it } from 'vitest';
import { providers } from '../../src/providers/index.ts';
import { tryCredential } from '../../src/routing/try-credential.ts';
import { canned, providerContext } from '../providers/support.ts';
import { useSimulator } from '../providers/use-simulator.ts';
import { jobVendors } from '../providers/vendors.ts';

const simulator = useSimulator({ renderSeconds: 80 });

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
const ask = (channel: any) => tryCredential(channel, 'a', AbortSignal.timeout(60_000));

/**
 * These vendors return images immediately, so there are no jobs to query. The key is checked with another free request.
 */
const atOnce = [
  { name: 'openai', path: '/openai/v1', model: 'gpt-image-2' },
  { name: 'stability', path: '/stability', model: 'core' },
];

it.each([...jobVendors, ...atOnce].map((row) => [row.name, row.model, row] as const))(
  '%s with %s distinguishes a valid key from an invalid one, and creates no job',
  async (name, _model, row) => {
    const right = await ask(channelOf(name, row, simulator.request, 'test-key'));
    expect(right).toMatchObject({ verdict: 'accepted' });
    const wrong = await ask(channelOf(name, row, simulator.request, 'sk-another-key'));
    expect(wrong).toMatchObject({ verdict: 'refused' });
    expect(wrong.words).not.toContain('sk-another');
  },
);

it('the key of every vendor can be tested', () => {
  const tested = new Set([...jobVendors, ...atOnce].map(({ name }) => providerOf(name)));
  expect(Object.keys(providers).filter((name) => !tested.has(name))).toEqual([]);
});

it('a key is reported as untested if the adapter has no free request', async () => {
  const { checkKey: _check, ...provider } = providers['openai'] ?? {};
  const channel = channelOf('openai', { path: '', model: 'm' }, simulator.request, 'test-key');
  expect(await ask({ ...channel, provider })).toMatchObject({ verdict: 'untested' });
});

it('Azure lists the models of the resource, with the key in its own header', async () => {
  const { request, sent } = canned({ status: 200, json: { data: [] } }, { status: 401 });
  const path = 'https://acme.example/openai/deployments/mine?api-version=2026-01-01';
  const channel = channelOf('openai', { path, model: 'm' }, request, 'k');
  const context = () => ({ ...channel.context(), baseUrl: path });
  expect(await ask({ ...channel, context })).toMatchObject({ verdict: 'accepted' });
  expect(sent[0]).toMatchObject({
    method: 'GET',
    url: 'https://acme.example/openai/models?api-version=2026-01-01',
    headers: { 'api-key': 'k' },
  });
});

it.each([
  ['a key that may render and not list', [{ status: 403, json: { error: { code: 'forbidden' } } }]],
  ['a server that lists its models for anybody', [{ json: { data: [] } }, { json: { data: [] } }]],
])('%s leaves it unclear whether the key is accepted', async (_, answers) => {
  const { request } = canned(...answers);
  const row = { path: '/openai/v1', model: 'gpt-image-2' };
  expect(await ask(channelOf('openai', row, request, 'test-key'))).toMatchObject({ verdict: 'unclear' });
});

it('a URL that belongs to another service proves nothing about the key', async () => {
  const page = { status: 404, text: '<html>' };
  for (const row of [...jobVendors, ...atOnce]) {
    const { request } = canned(page, page, page);
    const answer = await ask(channelOf(row.name, row, request, 'test-key'));
    expect([row.name, answer.verdict]).toEqual([row.name, 'unclear']);
  }
});

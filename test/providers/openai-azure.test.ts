import { AzureOpenAI } from 'openai';
import { expect, it } from 'vitest';
import { openai } from '../../src/providers/openai/openai.ts';
import { canned, fixture, imageRequest, providerContext } from './support.ts';

const host = 'https://res.openai.azure.com';
const apiVersion = '2025-04-01-preview';
const model = 'gpt-image-2';

async function sentBy(baseUrl: string) {
  const upstream = canned({ json: fixture('openai/images') });
  const context = providerContext({ model, baseUrl, request: upstream.request });
  await openai.image?.generate(imageRequest({ prompt: 'a red cube' }), context);
  return upstream.sent[0];
}

async function sentBySdk(options: { readonly endpoint: string } | { readonly baseURL: string }) {
  const sent: { url: string; headers: Headers }[] = [];
  const client = new AzureOpenAI({
    apiKey: 'test-key',
    apiVersion,
    ...options,
    fetch: async (url, init) => {
      sent.push({ url: url instanceof Request ? url.url : String(url), headers: new Headers(init?.headers) });
      return Response.json(fixture('openai/images'));
    },
  });
  await client.images.generate({ model, prompt: 'a red cube' });
  return sent[0];
}

it.each([
  [`${host}/openai?api-version=${apiVersion}`, { endpoint: host }],
  [`${host}/openai/deployments/own?api-version=${apiVersion}`, { baseURL: `${host}/openai/deployments/own` }],
])('requests %s as Azure’s SDK does', async (baseUrl, options) => {
  const [own, sdk] = [await sentBy(baseUrl), await sentBySdk(options)];
  expect(own?.url).toBe(sdk?.url);
  expect(own?.headers).toEqual({ 'api-key': sdk?.headers.get('api-key') });
  expect(sdk?.headers.get('authorization')).toBeNull();
});

it('the interface without deployments has no separate path for them', async () => {
  const sent = await sentBy(`${host}/openai/v1?api-version=preview`);
  expect(sent?.url).toBe(`${host}/openai/v1/images/generations?api-version=preview`);
});

it('a URL without a version does not belong to Azure', async () => {
  const sent = await sentBy('https://up.example/v1');
  expect(sent).toMatchObject({
    url: 'https://up.example/v1/images/generations',
    headers: { authorization: 'Bearer test-key' },
  });
});

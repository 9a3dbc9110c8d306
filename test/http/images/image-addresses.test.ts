import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { imageYaml, startImageUpstream, type ImageUpstream } from '../../images/support.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import type { TestAccount } from '../../support/client.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let corpus: string[];

beforeAll(async () => {
  const text = await readFile(new URL('../../fixtures/ssrf-corpus.txt', import.meta.url), 'utf8');
  corpus = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  upstream = await startImageUpstream();
  gateway = await startGateway({
    yaml: imageYaml({ first: upstream.url }),
    worker: false,
    environment: { MEDIA_ALLOW_PRIVATE_NETWORKS: '', WEBHOOK_ALLOW_PRIVATE_NETWORKS: '' },
  });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

it.each([
  ['image', (url: string) => ({ image: url })],
  ['image[0]', (url: string) => ({ image: [url] })],
  ['mask', (url: string) => ({ image: 'https://93.184.216.34/a.png', mask: url })],
  ['metadata.callback_url', (url: string) => ({ metadata: { callback_url: url } })],
])('%s', async (param, fields) => {
  expect(corpus.length).toBeGreaterThanOrEqual(60);
  for (const url of corpus) {
    const answer = await account.call('POST', '/v1/images/generations', {
      body: {
        model: 'gpt-image',
        prompt: 'a red cube',
        ...fields(url),
      },
    });
    expect({ url, status: answer.status, param: answer.body.error?.param }).toEqual({
      url,
      status: 400,
      param,
    });
  }
  expect(upstream.calls).toHaveLength(0);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
});

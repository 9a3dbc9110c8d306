import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { pixel, sendJson, startImageUpstream } from './support.ts';

const yaml = (url: string) => `
currency: USD
results: { storage: directory }
channels:
  - id: main
    provider: google
    base_url: ${url}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: k }]
    models: { nano: { upstream: gemini-3-pro-image } }
models:
  - id: nano
    kind: image
    sizes: [1K, 2K, 4K, 1024x1024, 2048x2048]
    price:
      lines:
        - { measure: image, when: { size: [4K] }, price: '0.151' }
        - { measure: image, when: { size: [2K, 2048x2048] }, price: '0.101' }
        - { measure: image, price: '0.0336' }
`;

it('charges what its upstream was asked for, however the caller spelt it', async () => {
  const upstream = await startImageUpstream();
  const inlineData = { mimeType: 'image/png', data: pixel.toString('base64') };
  upstream.answer = (_call, response) =>
    sendJson(response, 200, { candidates: [{ content: { parts: [{ inlineData }] } }] });
  const gateway = await startGateway({ yaml: yaml(upstream.url), worker: false });
  try {
    const account = await gateway.account();
    const made = [];
    for (const size of ['4K', '4096x4096', '2048x2048', '2048X2048', '2040x2048', '1000x1000']) {
      const body = { model: 'nano', prompt: 'x', size };
      const { headers } = await account.call('POST', '/v1/images/generations', { body });
      const asked = upstream.calls.at(-1)?.json['generationConfig'].imageConfig.imageSize;
      made.push([asked, headers['x-mediary-cost']]);
    }
    expect(made).toEqual([
      ['4K', '0.151000'],
      ['4K', '0.151000'],
      ['2K', '0.101000'],
      ['2K', '0.101000'],
      ['2K', '0.101000'],
      ['1K', '0.033600'],
    ]);
  } finally {
    await gateway.stop();
    await upstream.close();
  }
});

import { expect, it } from 'vitest';
import { retiredModels } from '../../src/routing/served-models.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { providers } from '../../src/providers/index.ts';
import { createExpressions } from '../../src/providers/vendor-files/expressions.ts';
import { fileProvider } from '../../src/providers/vendor-files/file-provider.ts';
import { exampleFile } from '../providers/vendor-files/support.ts';

const config = parseGatewayConfig(
  `
currency: USD
channels:
  - id: oai
    provider: openai
    base_url: "https://oai.example/v1"
    credentials: [{ id: a, api_key: k }]
    models: { old: { upstream: gpt-image-1 }, mini: { upstream: gpt-image-1-mini }, new: { upstream: gpt-image-2 } }
models:
  - { id: old, kind: image, price: { lines: [{ measure: call, price: "1" }] } }
  - { id: mini, kind: image, price: { lines: [{ measure: call, price: "1" }] } }
  - { id: new, kind: image, price: { lines: [{ measure: call, price: "1" }] } }
`,
  'gateway.yaml',
  { environment: {}, providerNames: Object.keys(providers) },
);

it('a model is shut down from the day that its vendor has announced', () => {
  const gone = (time: string) => retiredModels(config, (name) => providers[name], Date.parse(time));
  expect(gone('2026-10-22T23:59:59Z')).toEqual([]);
  expect(gone('2026-10-23T00:00:00Z')).toEqual([
    {
      channel: 'oai',
      model: 'old',
      text: expect.stringMatching(/^gpt-image-1, which oai serves as old, was shut down on 2026-10-23 \(/),
    },
  ]);
  expect(gone('2026-12-01T00:00:00Z').map(({ model }) => model)).toEqual(['old', 'mini']);
});

it('a vendor file lists the models that are shut down', async () => {
  const file = exampleFile('topaz', (data) => {
    data.retired = {
      source: 'a page',
      read: '2026-11-29',
      models: [{ model: 'gpt-image-1*', on: '2026-10-23' }],
    };
  });
  const expressions = createExpressions();
  const fromFile = fileProvider(file, { expressions, now: Date.now });
  const gone = retiredModels(config, () => fromFile, Date.parse('2026-10-23T00:00:00Z'));
  expect(gone.map(({ model }) => model)).toEqual(['old', 'mini']);
  await expressions.close();
});

import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';

const parse = (provider: string, mapping: string) =>
  parseGatewayConfig(
    `
currency: USD
channels:
  - id: a
    provider: ${provider}
    base_url: https://a.example
    credentials: [{ id: k, api_key: x }]
    models: { m: { upstream: vendor/model${mapping} } }
models:
  - { id: m, kind: video, price: { lines: [{ measure: call, price: "1" }] } }
`,
    'gateway.yaml',
    { environment: {}, providerNames: ['any', 'own'], mapped: ['any'] },
  );

describe('the mapping of a channel’s model', () => {
  it('is read with its defaults', () => {
    const { channels } = parse('any', ', mapping: { fields: { prompt: text }, result: url }');
    expect(channels[0]?.models['m']?.mapping).toEqual({
      fields: { prompt: { name: 'text' } },
      constants: {},
      pass: [],
      result: 'url',
      facts: {},
    });
  });

  it.each([
    ['any', '', 'channels[0].models.m.mapping: required: "any" serves any model, but needs a mapping for it'],
    [
      'own',
      ', mapping: { fields: {}, result: url }',
      'channels[0].models.m.mapping: "own" knows its models\' fields and does not accept a mapping',
    ],
    [
      'any',
      ', mapping: { fields: { prompt: 1 }, result: url }',
      'channels[0].models.m.mapping.fields.prompt: ',
    ],
    ['any', ', mapping: { fields: { colour: c }, result: url }', 'channels[0].models.m.mapping.fields'],
    [
      'any',
      ', mapping: { fields: { prompt: text, mode: text }, result: url }',
      'channels[0].models.m.mapping.fields.mode: "text" is fields.prompt already',
    ],
  ])('of %s is checked at the start:%s', (provider, mapping, message) => {
    expect(() => parse(provider, mapping)).toThrow(message);
  });
});

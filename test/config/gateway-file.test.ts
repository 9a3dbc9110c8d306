import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';

const text = `
currency: USD
channels:
  - id: a
    provider: p
    base_url: \${UPSTREAM_URL}/v1
    credentials: [{ id: one, api_key: "\${UPSTREAM_KEY}" }, { id: two, api_key: "\${UPSTREAM_KEY}" }]
    models: {}
  - id: b
    provider: p
    base_url: \${UPSTREAM_URL}/v2
    credentials: [{ id: one, api_key: "\${UPSTREAM_KEY}" }]
    models: {}
models: [{ id: m, kind: video, price: { lines: [{ measure: call, price: "1" }] } }]
`;

function violationsWith(environment: NodeJS.ProcessEnv, yaml = text): readonly string[] {
  try {
    parseGatewayConfig(yaml, 'gateway.yaml', { environment, providerNames: ['p'] });
  } catch (error) {
    if (error instanceof ConfigError) return error.violations;
    throw error;
  }
  return [];
}

describe('variables of gateway.yaml', () => {
  it('are named if they are not set, once each, however often they are used', () => {
    expect(violationsWith({})).toEqual([
      'channels[0].base_url and 1 more: the variable UPSTREAM_URL is not set',
      'channels[0].credentials[0].api_key and 2 more: the variable UPSTREAM_KEY is not set',
    ]);
  });

  it('are treated as unset if they are empty', () => {
    expect(violationsWith({ UPSTREAM_URL: 'http://x.example', UPSTREAM_KEY: '' })).toEqual([
      'channels[0].credentials[0].api_key and 2 more: the variable UPSTREAM_KEY is not set',
    ]);
  });

  it('do not prevent the report of any other problem in the file', () => {
    expect(violationsWith({ UPSTREAM_KEY: 'k' }, text.replace('currency: USD', 'currency: dollars'))).toEqual(
      [
        'channels[0].base_url and 1 more: the variable UPSTREAM_URL is not set',
        'currency: must be a currency code of three letters, such as USD',
      ],
    );
  });

  it('are checked if they are set', () => {
    expect(violationsWith({ UPSTREAM_URL: 'nowhere', UPSTREAM_KEY: 'k' })).toEqual([
      'channels[0].base_url: Invalid URL',
      'channels[1].base_url: Invalid URL',
    ]);
  });
});

describe('hold.review_above', () => {
  const environment = { UPSTREAM_URL: 'http://x.example', UPSTREAM_KEY: 'k' };
  const withMultiple = (multiple: string) =>
    text.replace('price: { lines', `price: { hold: { review_above: "${multiple}" }, lines`);

  it('is a multiple of the hold, never below it', () => {
    for (const multiple of ['1', '3.5', 'none']) {
      expect(violationsWith(environment, withMultiple(multiple))).toEqual([]);
    }
    expect(violationsWith(environment, withMultiple('0.99'))).toEqual([
      'models[0].price.hold.review_above: must be at least 1, or none',
    ]);
    expect(violationsWith(environment, withMultiple('-3'))).not.toEqual([]);
  });
});

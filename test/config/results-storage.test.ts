import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { needsStorage } from '../../src/providers/links.ts';
import type { ResultLinks } from '../../src/providers/provider.ts';
import { testOrigin } from '../support/test-origin.ts';

const yaml = (results: string) => `
currency: USD
channels: [{ id: a, provider: brief, base_url: "http://x.example", credentials: [{ id: c, api_key: k }], models: {} }]
models: [{ id: m, kind: video, price: { lines: [{ measure: call, price: "1" }] } }]
${results}`;

const check = (results: string, needingStorage: string[]) => () =>
  parseGatewayConfig(yaml(results), 'x.yaml', { environment: {}, providerNames: ['brief'], needingStorage });

describe('a channel whose links callers cannot use', () => {
  it('is rejected at startup without a storage for copies', () => {
    expect(check('', ['brief'])).toThrow(/channels\[0\]\.provider: "brief" needs results\.storage/);
    expect(check('results: { storage: none }', ['brief'])).toThrow(/needs results\.storage/);
  });

  it('is accepted with a storage, and other channels without one', () => {
    expect(check('results: { storage: directory }', ['brief'])).not.toThrow();
    expect(check('', ['other'])).not.toThrow();
  });

  const linkHeaders = () => ({ 'x-goog-api-key': 'k' });
  it.each<[string, ResultLinks, boolean]>([
    ['a life of ten minutes', { linkLifeSeconds: 600 }, true],
    ['a life of an hour', { linkLifeSeconds: 3600 }, true],
    ['a life of a day', { linkLifeSeconds: 86_400 }, false],
    ['an unknown life', {}, false],
    ['a key', { linkLifeSeconds: 86_400, linkHeaders }, true],
  ])('is one whose links have %s: %j is %s', (_, links, needed) => {
    const about = { vendor: 'v', inputs: 'text', unverified: [] };
    const never = () => Promise.reject(new Error('not called'));
    const facts = { origin: testOrigin, models: [], others: {} };
    const job = { cancelUntil: 'never', facts, submit: never, status: never, ...links } as const;
    expect(needsStorage({ about, video: job })).toBe(needed);
    expect(needsStorage({ about, imageTask: job })).toBe(needed);
  });
});

import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';

const yaml = (notify: string) => `
currency: USD
channels: [{ id: a, provider: brief, base_url: "http://x.example", credentials: [{ id: c, api_key: k }], models: {} }]
models: [{ id: m, kind: video, price: { lines: [{ measure: call, price: "1" }] } }]
notify: ${notify}`;

const parse = (notify: string) =>
  parseGatewayConfig(yaml(notify), 'x.yaml', { environment: {}, providerNames: ['brief'] }).notify;
const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;

describe('notify', () => {
  it('has no targets by default', () => {
    expect(parse('{}')).toEqual({ targets: [] });
  });

  it('accepts addresses and commands', () => {
    const targets = `[{ id: pager, url: "https://p.example/x", secret: ${secret} }, { id: mail, command: [sendmail, ops] }]`;
    expect(parse(`{ low_balance: 10, targets: ${targets} }`)).toEqual({
      low_balance: '10',
      targets: [
        { id: 'pager', url: 'https://p.example/x', secret, format: 'json' },
        { id: 'mail', command: ['sendmail', 'ops'], format: 'json' },
      ],
    });
  });

  it.each([
    ['neither', '{ id: a }', /targets\[0\]: needs either url or command/],
    ['both', '{ id: a, url: "http://p.example", command: [x] }', /needs either url or command/],
    ['another scheme', '{ id: a, url: "ftp://p.example" }', /targets\[0\]\.url/],
    [
      'a secret that is too short',
      '{ id: a, url: "http://p.example", secret: whsec_AAAA }',
      /targets\[0\]\.secret: must be whsec_/,
    ],
    ['an id that no field can have', '{ id: a.b, command: [x] }', /targets\[0\]\.id/],
    ['an id twice', '{ id: a, command: [x] }, { id: a, command: [y] }', /target ids must be unique/],
  ])('refuses a target with %s', (_, target, message) => {
    expect(() => parse(`{ targets: [${target}] }`)).toThrow(message);
  });
});

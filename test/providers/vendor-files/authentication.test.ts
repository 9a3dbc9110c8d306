import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { vendorFileSchema } from '../../../src/models/vendor-file.ts';
import { credentialsOf } from '../../../src/providers/vendor-files/authentication.ts';
import { providerContext } from '../support.ts';
import { exampleData } from './support.ts';

const now = Date.UTC(2026, 10, 29);
const unsigned = { method: 'POST', url: new URL('https://v.example/v1/jobs?a=1'), body: '{"a":1}' };

function credentials(authentication: unknown, apiKey: string) {
  const file = vendorFileSchema.parse({ ...exampleData('recraft'), authentication });
  const context = { ...providerContext({}), credential: { id: 'c', apiKey } };
  return credentialsOf(file.authentication, { unsigned, context, now });
}

describe('authentication of a vendor file', () => {
  it.each([
    [{ bearer: true }, { headers: { authorization: 'Bearer k' }, query: {} }],
    [{ header: 'X-Key' }, { headers: { 'X-Key': 'k' }, query: {} }],
    [{ header: 'Authorization', prefix: 'Key ' }, { headers: { Authorization: 'Key k' }, query: {} }],
    [{ query: 'key' }, { headers: {}, query: { key: 'k' } }],
  ])('%j', (authentication, expected) => {
    expect(credentials(authentication, 'k')).toEqual(expected);
  }); // prettier-ignore

  it('signs the listed parts, with the second half of the pair', () => {
    const over = ['method', 'path', 'query', 'timestamp', 'key', 'body'];
    const hmac = {
      over,
      header: 'X-Signature',
      key_header: 'X-Id',
      timestamp_header: 'X-Time',
      prefix: 'v1=',
    };
    const seconds = String(now / 1000);
    const content = ['POST', '/v1/jobs', 'a=1', seconds, 'id', '{"a":1}'].join('\n');
    expect(credentials({ hmac }, 'id:secret').headers).toEqual({
      'X-Signature': `v1=${createHmac('sha256', 'secret').update(content).digest('hex')}`,
      'X-Id': 'id',
      'X-Time': seconds,
    });
  });

  it('makes a token that names the first half of the pair and expires', () => {
    const token = credentials({ jwt: { lifetime_seconds: 60 } }, 'id:secret').headers['authorization'] ?? '';
    const [head = '', claims = '', signature] = token.replace('Bearer ', '').split('.');
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      iss: 'id',
      exp: now / 1000 + 60,
      nbf: now / 1000 - 5,
    });
    expect(signature).toBe(createHmac('sha256', 'secret').update(`${head}.${claims}`).digest('base64url'));
  });

  it('reports that the key must be a pair', () => {
    expect(() => credentials({ jwt: {} }, 'k')).toThrow(/unavailable/);
  });
});

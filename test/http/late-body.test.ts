import { request } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { imageYaml, startImageUpstream } from '../images/support.ts';
import type { ImageUpstream } from '../images/support.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeEach(async () => {
  upstream = await startImageUpstream();
  gateway = await startGateway({
    yaml: imageYaml({ first: upstream.url }),
    worker: false,
    environment: { UPLOAD_BYTES_PER_SECOND_MIN: '0' },
  });
  account = await gateway.account();
});
afterEach(async () => {
  await gateway.stop();
  await upstream.close();
});

async function createdAfter(meanwhile: () => Promise<unknown>): Promise<[number | undefined, string]> {
  // Caches the key. The gateway identifies the caller before it asks for the body.
  await account.balance();
  const headers = {
    authorization: `Bearer ${account.key}`,
    'content-type': 'application/json',
    expect: '100-continue',
  };
  return new Promise((resolve, reject) => {
    const create = request(`${gateway.url}/v1/images/generations`, { method: 'POST', headers }, (answer) => {
      let text = '';
      answer.on('data', (piece) => (text += String(piece)));
      answer.once('end', () => resolve([answer.statusCode, text]));
    });
    create.once('error', reject);
    create.once('continue', () => {
      const body = JSON.stringify({ model: 'gpt-image', prompt: 'x' });
      void meanwhile().then(() => create.end(body), reject);
    });
    create.flushHeaders();
  });
}

const path = () => `/admin/v1/keys/${account.keyId}`;

it('creates the requested image', async () => {
  const [status] = await createdAfter(() => Promise.resolve());
  expect(status).toBe(200);
});

it('a key that was revoked can buy nothing', async () => {
  const [status, text] = await createdAfter(() => gateway.admin('DELETE', `${path()}?reason=stolen`));
  expect(status).toBe(401);
  expect(text).toContain('invalid_api_key');
  expect(upstream.calls).toEqual([]);
});

it('a lowered cap applies', async () => {
  const lowered = { day: '0', reason: 'stop' };
  const [status, text] = await createdAfter(() => gateway.admin('POST', `${path()}/caps`, lowered));
  expect(text).toContain('cap');
  expect(status).not.toBe(200);
  expect(upstream.calls).toEqual([]);
});

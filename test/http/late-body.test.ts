import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { imageYaml, startImageUpstream, type ImageUpstream } from '../images/support.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

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

interface Late {
  readonly path: string;
  readonly bearer: string;
  readonly body: object;
}

/** Sends the body after `meanwhile`. The gateway authenticates the client before it sends 100 Continue. */
async function sentAfter(
  meanwhile: () => Promise<unknown>,
  late: Late,
): Promise<[number | undefined, string]> {
  const headers = {
    authorization: `Bearer ${late.bearer}`,
    'content-type': 'application/json',
    expect: '100-continue',
  };
  return new Promise((resolve, reject) => {
    const create = request(`${gateway.url}${late.path}`, { method: 'POST', headers }, (answer) => {
      let text = '';
      answer.on('data', (piece) => (text += String(piece)));
      answer.once('end', () => resolve([answer.statusCode, text]));
    });
    create.once('error', reject);
    create.once('continue', () => {
      void meanwhile().then(() => create.end(JSON.stringify(late.body)), reject);
    });
    create.flushHeaders();
  });
}

async function createdAfter(meanwhile: () => Promise<unknown>): Promise<[number | undefined, string]> {
  // Caches the key.
  await account.balance();
  const body = { model: 'gpt-image', prompt: 'x' };
  return sentAfter(meanwhile, { path: '/v1/images/generations', bearer: account.key, body });
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

describe('an operator', () => {
  const credit = { amount: '1', reference: 'gift' };

  async function creditedAfter(meanwhile: () => Promise<unknown>): Promise<[number | undefined, string]> {
    const { token } = (await gateway.admin('POST', '/admin/v1/operators', { name: 'ann', roles: ['money'] }))
      .body;
    return sentAfter(meanwhile, {
      path: `/admin/v1/accounts/${account.id}/credits`,
      bearer: token,
      body: credit,
    });
  }

  it('who still has the role acts', async () => {
    const [status] = await creditedAfter(() => Promise.resolve());
    expect(status).toBe(200);
  });

  it.each([
    ['who was revoked', () => gateway.admin('DELETE', '/admin/v1/operators/ann'), 401],
    [
      'whose role was withdrawn',
      () => gateway.admin('POST', '/admin/v1/operators/ann/roles', { roles: ['read'] }),
      403,
    ],
  ] as const)('%s can change nothing', async (_who, meanwhile, refused) => {
    const before = await account.balance();
    const [status] = await creditedAfter(async () => expect((await meanwhile()).status).toBe(200));
    expect(status).toBe(refused);
    expect(await account.balance()).toEqual(before);
  });
});

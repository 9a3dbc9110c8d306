import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_rotate_own_webhook_secret');

const path = '/v1/webhook-secret/rotate';

async function secretsOf(account: string): Promise<readonly string[]> {
  const sealed = (await world.stores.accounts.find(account))?.webhookSecrets ?? [];
  return sealed.map((secret) => world.deps.secrets.open({ purpose: 'webhook-secret', id: account }, secret));
}

it('gives the account of the key a new secret; the two before it stay valid', async () => {
  const account = await world.newAccount();
  const { status, body } = await account.call('POST', path);
  expect([status, body]).toEqual([
    200,
    { object: 'webhook_secret', account: account.id, webhook_secret: expect.stringMatching(/^whsec_.{32}$/) },
  ]);
  expect(await secretsOf(account.id)).toEqual([body.webhook_secret, account.webhookSecret]);
  const next = await account.call('POST', path);
  const both = [next.body.webhook_secret, body.webhook_secret];
  expect(await secretsOf(account.id)).toEqual([...both, account.webhookSecret]);
  const last = await account.call('POST', path);
  expect(await secretsOf(account.id)).toEqual([last.body.webhook_secret, ...both]);
});

it('is listed with the account, by the key that did it', async () => {
  const account = await world.newAccount();
  await account.call('POST', path);
  const { changes } = (await world.admin('GET', `/accounts/${account.id}`)).body;
  expect(changes.at(-1)).toMatchObject({ action: 'webhook_secret_rotated', by: account.keyId });
});

it('changes nothing of another account, and needs a key', async () => {
  const [one, other] = await Promise.all([world.newAccount(), world.newAccount()]);
  await one.call('POST', path, { body: { account: other.id } });
  expect(await secretsOf(other.id)).toEqual([other.webhookSecret]);
  expect((await world.call('POST', path)).status).toBe(401);
});

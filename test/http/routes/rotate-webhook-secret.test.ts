import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_rotate_webhook_secret');

it('the webhook secret is replaced; two are valid', async () => {
  const made = await world.admin('POST', '/accounts', { id: 'rotating' });
  const rotated = await world.admin('POST', '/accounts/rotating/webhook-secret/rotate');
  await world.admin('POST', '/accounts/rotating/webhook-secret/rotate');
  const sealed = (await world.stores.accounts.find('rotating'))?.webhookSecrets ?? [];
  const open = sealed.map((secret) => world.deps.secrets.open('webhook-secret', secret));
  expect(open).toHaveLength(2);
  expect(open[1]).toBe(rotated.body.webhook_secret);
  expect(open).not.toContain(made.body.webhook_secret);
});

it('404', async () => {
  const answer = await world.admin('POST', '/accounts/none/webhook-secret/rotate');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'account_not_found']);
});

import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_rotate_webhook_secret');

it('the webhook secret is replaced; three are valid', async () => {
  const made = await world.admin('POST', '/accounts', { id: 'rotating' });
  const rotate = () => world.admin('POST', '/accounts/rotating/webhook-secret/rotate');
  const rotated = await rotate();
  // A caller who lost the response rotates once more. The secret that the receiver knows must stay valid.
  await rotate();
  await rotate();
  const sealed = (await world.stores.accounts.find('rotating'))?.webhookSecrets ?? [];
  const place = { purpose: 'webhook-secret', id: 'rotating' } as const;
  const open = sealed.map((secret) => world.deps.secrets.open(place, secret));
  expect(open).toHaveLength(3);
  expect(open[2]).toBe(rotated.body.webhook_secret);
  expect(open).not.toContain(made.body.webhook_secret);
});

it('404', async () => {
  const answer = await world.admin('POST', '/accounts/none/webhook-secret/rotate');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'account_not_found']);
});

import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_balance');

it('decimal strings of six places', async () => {
  const { call } = await world.newAccount({ credit: '0.000001' });
  expect((await call('GET', '/v1/balance')).body).toEqual({
    object: 'balance',
    currency: 'USD',
    available: '0.000001',
    held: '0.000000',
    caps: [],
  });
});

it('what unfinished tasks hold is not available', async () => {
  const account = await world.newAccount({ credit: '2' });
  await account.create();
  expect((await account.call('GET', '/v1/balance')).body).toMatchObject({
    available: '1.500000',
    held: '0.500000',
  });
});

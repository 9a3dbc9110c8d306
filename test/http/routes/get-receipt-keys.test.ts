import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_receipt_keys');

it('200 without authentication: the current key first, then the earlier ones', async () => {
  const keys = async () => (await world.call('GET', '/.well-known/jwks.json')).body.keys;
  const [first, ...others] = await keys();
  expect(first).toEqual({
    kty: 'OKP',
    crv: 'Ed25519',
    x: expect.stringMatching(/^[\w-]{43}$/),
    kid: expect.stringMatching(/^[\w-]{43}$/),
    alg: 'EdDSA',
    use: 'sig',
  });
  expect(others).toEqual([]);
  world.configure((yaml) => `${yaml}\nreceipts: { key: 100 }\n`);
  const all = await keys();
  world.configure();
  expect(all).toHaveLength(100);
  expect(all.at(-1)).toEqual(first);
});

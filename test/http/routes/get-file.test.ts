import { expect, it } from 'vitest';
import { useFileWorld } from './file-world.ts';

const world = useFileWorld('route_get_file');

it('the file, to its account alone, until it expires', async () => {
  const [account, other] = [await world.world.newAccount(), await world.world.newAccount()];
  const id = await world.store(account);
  const get = ({ key }: { readonly key: string }, file = id) =>
    world.node.call('GET', `/v1/files/${file}`, { key });
  expect((await get(account)).body).toMatchObject({ id, object: 'file', filename: 'boat.mp4' });
  const refused = [await get(other), await get(account, `file_${'0'.repeat(24)}`), await get(account, 'x')];
  world.world.clock.aheadMs += 86_400_000;
  refused.push(await get(account));
  world.world.clock.aheadMs -= 86_400_000;
  for (const { status, body } of refused)
    expect([status, body.error.code, body.error.message]).toEqual([
      404,
      'file_not_found',
      'There is no such file, or it has expired.',
    ]);
});

import { expect, it } from 'vitest';
import { useFileWorld } from './file-world.ts';

const world = useFileWorld('route_list_files');

it("the account's own files, newest first, page by page", async () => {
  const [account, other] = [await world.world.newAccount(), await world.world.newAccount()];
  const ids: string[] = [];
  for (const name of ['a.mp4', 'b.mp4', 'c.mp4']) ids.unshift(await world.store(account, name));
  const foreign = await world.store(other);
  const list = (query: string) => world.node.call('GET', `/v1/files${query}`, { key: account.key });
  const first = await list('?limit=2');
  expect(first.body).toEqual({
    object: 'list',
    data: [expect.objectContaining({ id: ids[0] }), expect.objectContaining({ id: ids[1] })],
    first_id: ids[0],
    last_id: ids[1],
    has_more: true,
  });
  expect((await list(`?after=${ids[1]}`)).body).toMatchObject({
    data: [{ id: ids[2], filename: 'a.mp4' }],
    has_more: false,
  });
  for (const after of [foreign, 'nonsense']) {
    const { status, body } = await list(`?after=${after}`);
    expect([status, body.error.param]).toEqual([400, 'after']);
  }
});

import { OpenAI } from 'openai';
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
  // The id of another account's file works like any other id: it only marks a point in time.
  expect((await list(`?after=${foreign}`)).body.data.map(({ id }: { id: string }) => id)).toEqual(ids);
  const { status, body } = await list('?after=nonsense');
  expect([status, body.error.param]).toEqual([400, 'after']);
});

it('continues behind a file that is deleted meanwhile, as clients do who delete them all', async () => {
  const account = await world.world.newAccount();
  for (const name of ['a.mp4', 'b.mp4', 'c.mp4', 'd.mp4']) await world.store(account, name);
  const client = new OpenAI({ apiKey: account.key, baseURL: `${world.node.url}/v1`, maxRetries: 0 });
  const deleted: string[] = [];
  for await (const { id, filename } of client.files.list({ limit: 2 })) {
    await client.files.delete(id);
    deleted.push(filename);
  }
  expect(deleted).toEqual(['d.mp4', 'c.mp4', 'b.mp4', 'a.mp4']);
  expect((await world.files.list({ account: account.id }, { limit: 1 })).files).toEqual([]);
});

it('omits expired files that are not deleted yet', async () => {
  const account = await world.world.newAccount();
  await world.store(account);
  const list = () => world.node.call('GET', '/v1/files', { key: account.key });
  expect((await list()).body.data).toHaveLength(1);
  world.world.clock.aheadMs += 86_400_000;
  expect((await list()).body.data).toEqual([]);
  world.world.clock.aheadMs -= 86_400_000;
});

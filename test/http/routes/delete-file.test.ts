import Replicate from 'replicate';
import { expect, it } from 'vitest';
import { useFileWorld } from './file-world.ts';

const world = useFileWorld('route_delete_file');

it('reports to Replicate’s client that the file is gone', async () => {
  const account = await world.world.newAccount();
  const client = new Replicate({ auth: account.key, baseUrl: `${world.node.url}/v1` });
  expect(await client.files.delete(await world.store(account))).toBe(true);
});

it('deletes the file with its bytes, for its account alone', async () => {
  const [account, other] = [await world.world.newAccount(), await world.world.newAccount()];
  const id = await world.store(account);
  const remove = (key: string) => world.node.call('DELETE', `/v1/files/${id}`, { key });
  expect((await remove(other.key)).status).toBe(404);
  expect(await world.storage.stat(`${id}/0.mp4`)).toBeDefined();
  const { status, body } = await remove(account.key);
  expect([status, body]).toEqual([200, { id, object: 'file', deleted: true }]);
  expect(await world.storage.stat(`${id}/0.mp4`)).toBeUndefined();
  expect(await world.world.stores.files.bytesOf(account.id, 0)).toBe(0);
  expect((await remove(account.key)).status).toBe(404);
});

import { expect, it } from 'vitest';
import { clip, useFileWorld } from './file-world.ts';

const world = useFileWorld('route_get_file_content');

it('the bytes, whole or in part, to the account alone', async () => {
  const [account, other] = [await world.world.newAccount(), await world.world.newAccount()];
  const id = await world.store(account);
  const get = (key: string, headers: Record<string, string> = {}, file = id) =>
    world.node.call('GET', `/v1/files/${file}/content`, { key, headers });
  const whole = await get(account.key);
  expect([whole.status, whole.headers['content-type'], whole.headers['content-length']]).toEqual([
    200,
    'video/mp4',
    String(clip.length),
  ]);
  expect(whole.headers['access-control-allow-origin']).toBeUndefined();
  const part = await get(account.key, { range: 'bytes=4-7' });
  expect([part.status, part.text]).toEqual([206, 'ftyp']);
  const known = await get(account.key, { 'if-none-match': String(whole.headers.etag) });
  expect(known.status).toBe(304);
  const refused = [await get(other.key), await get(account.key, {}, 'file_x')];
  await world.storage.remove(`${id}/0.mp4`);
  refused.push(await get(account.key));
  expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual([
    [404, 'file_not_found'],
    [404, 'file_not_found'],
    [404, 'file_not_found'],
  ]);
});

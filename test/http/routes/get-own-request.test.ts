import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_own_request');
const prompt = 'a very private prompt about a red fox';

it('is what the owner wrote, without the files that were in it', async () => {
  const account = await world.newAccount();
  const images = ['data:image/png;base64,AAAA'];
  const { id } = (await account.create({ prompt, images })).body;
  const { status, headers, body } = await account.call('GET', `/v1/requests/${id}`);
  expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
  expect(body).toMatchObject({ object: 'task.request', task: id, request: { model: 'clip', prompt } });
  expect(body.request.references[0]).toBe('data:image/png;base64,… (4 characters)');
});

it('is absent once it has been deleted', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create({ prompt })).body;
  await world.db.collection('requests').deleteOne({ _id: id });
  const { body } = await account.call('GET', `/v1/requests/${id}`);
  expect(body).toEqual({ object: 'task.request', task: id, request: null });
});

it('404: unknown, and another account’s', async () => {
  const [account, stranger] = await Promise.all([world.newAccount(), world.newAccount()]);
  const { id } = (await account.create({ prompt })).body;
  for (const task of ['x', 'task_0000000000000000000000', id]) {
    const answer = await stranger.call('GET', `/v1/requests/${task}`);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
    expect(answer.text).not.toContain('red fox');
  }
});

import { expect, it } from 'vitest';
import { send } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_task_request');
const prompt = 'a very private prompt about a red fox';

async function tokenOf(name: string, role: string): Promise<string> {
  return (await world.admin('POST', '/operators', { name, roles: [role] })).body.token;
}

it('contains what the caller wrote, for operators who may act, and each read is in the audit log', async () => {
  const account = await world.newAccount();
  const image = 'data:image/png;base64,AAAA';
  const { id } = (await account.create({ prompt, images: [image] })).body;
  const key = await tokenOf('ada', 'everything');
  const answer = await send(world.url, 'GET', `/admin/v1/tasks/${id}/request`, { key });
  expect([answer.status, answer.headers['cache-control'], answer.headers.etag]).toEqual([
    200,
    'no-store',
    undefined,
  ]);
  expect(answer.body).toMatchObject({ object: 'task.request', task: id, request: { model: 'clip', prompt } });
  expect(answer.body.request.references[0]).toBe('data:image/png;base64,… (4 characters)');
  const [entry] = (await world.admin('GET', `/audit?task=${id}`)).body.data;
  expect(entry).toMatchObject({ by: 'ada', action: 'getTaskRequest', task: id, outcome: 'done' });
  expect(JSON.stringify(entry)).not.toContain('red fox');
});

it('403: operators who may only read', async () => {
  const { id } = (await (await world.newAccount()).create({ prompt })).body;
  const key = await tokenOf('bob', 'read');
  const { status, text } = await send(world.url, 'GET', `/admin/v1/tasks/${id}/request`, { key });
  expect(status).toBe(403);
  expect(text).not.toContain('red fox');
});

it('is absent once it has been deleted', async () => {
  const { id } = (await (await world.newAccount()).create({ prompt })).body;
  await world.db.collection('requests').deleteOne({ _id: id });
  const { body } = await world.admin('GET', `/tasks/${id}/request`);
  expect(body).toEqual({ object: 'task.request', task: id, request: null });
});

it('404', async () => {
  const answer = await world.admin('GET', '/tasks/task_0/request');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
});

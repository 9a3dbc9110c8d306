import { expect, it } from 'vitest';
import { send } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_act_on_task');

it('goes to the port, and into the record with who, when and why', async () => {
  const account = await world.newAccount();
  const id: string = (await account.create()).body.id;
  const { token } = (await world.admin('POST', '/operators', { name: 'ada' })).body;
  const answer = await send(world.url, 'POST', `/admin/v1/tasks/${id}/actions`, {
    key: token,
    body: { action: 'adopt', reason: 'found it upstream', upstream_id: 'up-7' },
  });
  expect(answer.status).toBe(200);
  expect(answer.body.actions).toEqual([
    { at: expect.any(Number), by: 'ada', action: 'adopt', reason: 'found it upstream' },
  ]);
  expect(world.port.acts).toContainEqual({
    task: id,
    action: { action: 'adopt', by: 'ada', reason: 'found it upstream', upstreamId: 'up-7' },
  });
});

it('409: the action is not possible, and is not recorded', async () => {
  const account = await world.newAccount();
  const id: string = (await account.create()).body.id;
  const answer = await world.admin('POST', `/tasks/${id}/actions`, { action: 'resubmit', reason: 'try' });
  expect([answer.status, answer.body.error.code]).toEqual([409, 'action_not_possible']);
  expect((await world.admin('GET', `/tasks/${id}`)).body.actions).toEqual([]);
});

it.each([
  [{ reason: 'r' }, 'missing_parameter', 'action'],
  [{ action: 'explode', reason: 'r' }, 'invalid_parameter', 'action'],
  [{ action: 'poll' }, 'missing_parameter', 'reason'],
  [{ action: 'poll', reason: '' }, 'invalid_parameter', 'reason'],
  [{ action: 'adopt', reason: 'r' }, 'invalid_parameter', 'upstream_id'],
])('400: %j', async (body, code, param) => {
  const answer = await world.admin('POST', '/tasks/task_0000000000000000000000/actions', body);
  expect([answer.status, answer.body.error]).toEqual([400, expect.objectContaining({ code, param })]);
});

it('404', async () => {
  const answer = await world.admin('POST', '/tasks/none/actions', { action: 'poll', reason: 'r' });
  expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
});

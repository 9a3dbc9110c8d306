import { beforeEach, describe, expect, it } from 'vitest';
import { accessOfAct, actionTable, operatorActions } from '../../../src/operating/acts.ts';
import { actOn, send } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_act_on_task');
beforeEach(() => {
  world.port.situation = 'asking';
});

async function newTask(more: Record<string, unknown> = {}): Promise<string> {
  const account = await world.newAccount();
  return (await account.create(more)).body.id;
}

it('is passed to the port, and recorded with who, when and why', async () => {
  const id = await newTask();
  const { token } = (await world.admin('POST', '/operators', { name: 'ada', roles: ['tasks'] })).body;
  const answer = await send(world.url, 'POST', `/admin/v1/tasks/${id}/actions`, {
    key: token,
    body: { action: 'adopt', reason: 'found it upstream', upstream_id: 'up-7' },
  });
  expect(answer.status).toBe(200);
  expect(answer.body.actions).toEqual([
    { at: expect.any(Number), by: 'ada', action: 'adopt', reason: 'found it upstream', detail: 'Done.' },
  ]);
  expect(answer.body.result).toEqual({ did: { task: 'Done.', money: 'Nothing.' } });
  const input = { by: 'ada', reason: 'found it upstream', upstream_id: 'up-7' };
  expect(world.port.acts).toContainEqual({ task: id, action: 'adopt', input });
});

it.each(operatorActions)('%s needs the role in its row', async (action) => {
  const id = await newTask();
  const { example } = actionTable[action];
  const access = accessOfAct(action);
  const body = { action, reason: 'r', dry_run: true, ...example };
  for (const role of ['tasks', 'money'] as const) {
    const operator = { name: `${role}-${action}`, roles: [role] };
    const { token: key } = (await world.admin('POST', '/operators', operator)).body;
    const { status } = await send(world.url, 'POST', `/admin/v1/tasks/${id}/actions`, { key, body });
    expect([role, status === 403]).toEqual([role, role !== access]);
  }
});

it('with dry_run shows what would happen, and records nothing', async () => {
  const id = await newTask();
  const body = { action: 'fail', reason: 'r', dry_run: true };
  const answer = await world.admin('POST', `/tasks/${id}/actions`, body);
  expect([answer.status, answer.body.result, answer.body.actions]).toEqual([
    200,
    { would: { task: 'Done.', money: 'Nothing.' }, plan: expect.stringMatching(/^[0-9a-f]{16}$/) },
    [],
  ]);
});

it('409: the action is not possible, the error lists those that are, and nothing is recorded', async () => {
  const id = await newTask();
  world.port.situation = 'waiting';
  const answer = await actOn(world.admin, id, { action: 'resubmit', reason: 'try' });
  expect([answer.status, answer.body.error.code]).toEqual([409, 'action_not_possible']);
  expect(answer.body.error.message).toContain('Possible now: retry_now, fail, cancel');
  expect((await world.admin('GET', `/tasks/${id}`)).body.actions).toEqual([]);
});

it('409: a task that has ended, whatever its workflow would say', async () => {
  const id = await newTask();
  await world.port.cancel(id);
  const answer = await actOn(world.admin, id, { action: 'fail', reason: 'r' });
  expect([answer.status, answer.body.error.message]).toEqual([409, 'The task has already failed.']);
});

it('redeliver: only if there is a callback address and the task has ended', async () => {
  const redeliver = (id: string) =>
    world.admin('POST', `/tasks/${id}/actions`, { action: 'redeliver', reason: 'lost it' });
  const without = await newTask();
  expect((await redeliver(without)).status).toBe(409);
  await world.port.cancel(without);
  expect((await redeliver(without)).body.error.message).toBe('The task has no callback URL.');
  const withOne = await newTask({ metadata: { callback_url: 'https://caller.example/hook' } });
  await world.port.cancel(withOne);
  expect((await redeliver(withOne)).body.actions).toMatchObject([{ action: 'redeliver', reason: 'lost it' }]);
  expect(world.port.redelivered).toEqual([withOne]);
});

describe('the plan of a dry run', () => {
  it.each(operatorActions)('%s needs one exactly if its row moves money or can be billed', async (action) => {
    const id = await newTask();
    const { example, money, bills } = actionTable[action];
    const body = { action, reason: 'r', ...example };
    const { status, body: answer } = await world.admin('POST', `/tasks/${id}/actions`, body);
    const isRefused = status === 400 && answer.error.param === 'plan';
    expect(isRefused).toBe(money !== 'none' || bills !== 'none');
    expect(isRefused && (await world.admin('GET', `/audit?task=${id}`)).body.data.length > 0).toBe(false);
  });

  const refusal = async (id: string, body: object) => {
    const before = world.port.acts.length;
    const answer = await world.admin('POST', `/tasks/${id}/actions`, {
      action: 'resubmit',
      reason: 'r',
      ...body,
    });
    expect(world.port.acts).toHaveLength(before);
    return [answer.status, answer.body.error?.message];
  };
  const planOf = async (id: string, body: object = {}) => {
    const asked = { action: 'resubmit', reason: 'seen', dry_run: true, ...body };
    return (await world.admin('POST', `/tasks/${id}/actions`, asked)).body.result.plan;
  };
  const outdated = [409, expect.stringMatching(/^The plan no longer applies: .*Repeat the dry run/)];

  it('is valid while the task is unchanged, for any operator, but only for the same fields', async () => {
    const [id, other] = [await newTask(), await newTask()];
    const plan = await planOf(id, { channel: 'two' });
    expect(await refusal(id, { plan })).toEqual(outdated);
    expect(await refusal(id, { plan, channel: 'one' })).toEqual(outdated);
    expect(await refusal(id, { plan, channel: 'two', action: 'fail' })).not.toEqual([200, undefined]);
    expect(await refusal(other, { plan, channel: 'two' })).toEqual(outdated);
    const done = await actOn(world.admin, id, { action: 'resubmit', reason: 'another', channel: 'two' });
    expect(done.status).toBe(200);
  });

  it('is no longer valid once the record of the task has changed', async () => {
    const id = await newTask();
    const plan = await planOf(id);
    await world.admin('POST', `/tasks/${id}/actions`, { action: 'extend', reason: 'r', seconds: 60 });
    expect(await refusal(id, { plan })).toEqual(outdated);
    expect((await actOn(world.admin, id, { action: 'resubmit', reason: 'r' })).status).toBe(200);
  });

  it('of an action that needs none is respected if it is given', async () => {
    const id = await newTask();
    const asked = { action: 'extend', reason: 'r', seconds: 60 };
    const { plan } = (await world.admin('POST', `/tasks/${id}/actions`, { ...asked, dry_run: true })).body
      .result;
    expect((await world.admin('POST', `/tasks/${id}/actions`, { ...asked, plan })).status).toBe(200);
    expect((await world.admin('POST', `/tasks/${id}/actions`, { ...asked, plan })).status).toBe(409);
  });
});

it.each([
  [{ reason: 'r' }, 'missing_parameter', 'action'],
  [{ action: 'explode', reason: 'r' }, 'invalid_parameter', 'action'],
  [{ action: 'retry_now' }, 'missing_parameter', 'reason'],
  [{ action: 'retry_now', reason: '' }, 'invalid_parameter', 'reason'],
  [{ action: 'adopt', reason: 'r' }, 'invalid_parameter', 'upstream_id'],
  [{ action: 'extend', reason: 'r', seconds: 5 }, 'invalid_parameter', 'seconds'],
])('400: %j', async (body, code, param) => {
  const answer = await world.admin('POST', '/tasks/task_0000000000000000000000/actions', body);
  expect([answer.status, answer.body.error]).toEqual([400, expect.objectContaining({ code, param })]);
});

it('400: a field of another action', async () => {
  const id = await newTask();
  const body = { action: 'fail', reason: 'r', dry_run: true, channel: 'one' };
  const answer = await world.admin('POST', `/tasks/${id}/actions`, body);
  expect([answer.status, answer.body.error.message]).toEqual([
    400,
    expect.stringContaining('`channel` is not a field. `fail`'),
  ]);
});

it('404', async () => {
  const answer = await world.admin('POST', '/tasks/none/actions', { action: 'retry_now', reason: 'r' });
  expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
});

import { beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import type { KeyScope } from '../../src/base/key-scope.ts';
import { useHttpWorld } from '../support/http-world.ts';
import type { TestAccount } from '../support/client.ts';

const world = useHttpWorld('http_key_reach');
let account: TestAccount;
let task: string;

async function keyWith(scopes: readonly KeyScope[]): Promise<string> {
  return (await world.admin('POST', '/keys', { account: account.id, scopes })).body.key;
}

beforeAll(async () => {
  // Stop the clock in the middle of a month, because usage covers the month so far.
  world.clock.stoppedAt = Date.parse('2031-03-15T12:00:00Z');
  account = await world.newAccount();
  task = (await account.create()).body.id;
});

describe('every route of keys that names a task', () => {
  it('does not find another key’s task, for reading or changing', async () => {
    const key = await keyWith(['create', 'read_own']);
    const routes = createApp(world.deps).routes.filter(
      ({ authentication, paths }) =>
        authentication === 'key' && paths.some((path) => path.includes(':task_id')),
    );
    expect(routes.length).toBeGreaterThan(15);
    const wrong: string[] = [];
    for (const { operationId, method, paths, readBody, kind } of routes.map((route) => ({
      ...route,
      kind: route.operationId.includes('Image') ? 'image' : 'video',
    }))) {
      const path = paths[0].replace(':task_id', task).replaceAll(/:\w+/g, 'x');
      const body = readBody === undefined ? {} : { body: { prompt: 'again' } };
      const answer = await world.call(method.toUpperCase(), path, { key, ...body });
      if (answer.status !== 404 && answer.status !== 422)
        wrong.push(`${operationId} (${kind}): ${answer.status}`);
      expect(answer.text).not.toContain(account.id);
    }
    expect(wrong).toEqual([]);
    expect((await account.call('GET', `/v1/videos/generations/${task}`)).body.status).not.toBe('failed');
  });
});

it.each(['/v1/videos/generations', '/v1/videos', '/v1/predictions', '/api/v3/contents/generations/tasks'])(
  'the list %s contains what the key may see',
  async (path) => {
    const [own, whole] = [await keyWith(['read_own']), await keyWith(['read_account'])];
    const listed = async (key: string) => (await world.call('GET', path, { key })).text.includes(task);
    expect([await listed(own), await listed(whole)]).toEqual([false, true]);
  },
);

it('a cursor that names another key’s task is refused like an unknown one', async () => {
  const key = await keyWith(['read_own']);
  const answer = await world.call('GET', `/v1/videos/generations?after=${task}`, { key });
  expect([answer.status, answer.body.error.param]).toEqual([400, 'after']);
});

it('usage is limited to the key or to the account', async () => {
  const tasksOf = async (scopes: readonly KeyScope[]): Promise<number> => {
    const { body } = await world.call('GET', '/v1/usage?by=', { key: await keyWith(scopes) });
    return body.data.reduce((sum: number, row: { tasks: number }) => sum + row.tasks, 0);
  };
  expect([await tasksOf(['read_own']), await tasksOf(['read_account'])]).toEqual([0, 1]);
});

it('ending another key’s task requires the scopes manage and create', async () => {
  const cancel = async (scopes: readonly KeyScope[]) =>
    (await world.call('POST', `/v1/videos/generations/${task}/cancel`, { key: await keyWith(scopes) }))
      .status;
  expect(await cancel(['create', 'read_account'])).toBe(404);
  expect(await cancel(['manage'])).toBe(403);
  expect(await cancel(['create', 'manage'])).toBe(200);
});

it.each([
  [{ duration_max: 4 }, { duration: 5 }, 'duration'],
  [{ resolution_max: '480p' }, { resolution: '720p' }, 'resolution'],
])('a key with %j may not request %j', async (limits, more, param) => {
  const limited = await world.newAccount({ key: limits });
  const refused = await limited.create(more);
  expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
    403,
    'key_not_allowed',
    param,
  ]);
  const estimated = await limited.call('POST', '/v1/videos/generations/estimate', {
    body: { model: 'clip', prompt: 'p', ...more },
  });
  expect(estimated.status).toBe(403);
});

it('a request that stays within the limits of its key is accepted', async () => {
  const limited = await world.newAccount({ key: { duration_max: 5, resolution_max: '720p' } });
  expect((await limited.create({ duration: 5, resolution: '720p' })).status).toBe(200);
});

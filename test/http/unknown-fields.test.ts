import { expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('http_unknown_fields');

const routes = () =>
  createApp(world.deps).routes.flatMap((route) => {
    const path = route.paths[0].replace('/admin/v1', '').replaceAll(/:\w+/g, 'x');
    return route.authentication === 'admin' ? [{ ...route, path }] : [];
  });

it('every body of the operators’ API refuses a field that it does not have', async () => {
  const withBody = routes().filter(({ readBody }) => readBody !== undefined);
  expect(withBody.length).toBeGreaterThan(30);
  for (const { method, path, operationId } of withBody) {
    const { status, body } = await world.admin(method.toUpperCase(), path, { unknown_of_all: 1 });
    expect([operationId, status, body.error]).toEqual([
      operationId,
      400,
      {
        message: 'unknown_of_all is not a field of the body.',
        type: 'invalid_request_error',
        param: 'unknown_of_all',
        code: 'invalid_parameter',
      },
    ]);
  }
});

it('every route of the operators’ API refuses a query parameter that it does not have', async () => {
  for (const { method, path, operationId, readBody } of routes()) {
    const sent = readBody === undefined ? undefined : {};
    const { status, body } = await world.admin(method.toUpperCase(), `${path}?unknown_of_all=1`, sent);
    expect([operationId, status, body.error.code, body.error.param, body.error.message]).toEqual([
      operationId,
      400,
      'invalid_parameter',
      'unknown_of_all',
      'unknown_of_all is not a query parameter of this route.',
    ]);
  }
});

it('a misspelled restriction of a key creates no key, and the message names the field that was meant', async () => {
  const { id: account } = await world.newAccount();
  const limit = { day: '1' };
  const misspelled: [object, string, string][] = [
    [{ request_per_minute: 1 }, 'request_per_minute', 'requests_per_minute'],
    [{ model: ['clip'] }, 'model', 'models'],
    [{ caps: { ...limit, mnth: '2' } }, 'caps.mnth', 'month'],
    [{ caps: { models: [limit, { model: 'clip', dya: '1' }] } }, 'caps.models[1].dya', 'day'],
  ];
  const before = await world.admin('GET', `/keys?account=${account}`);
  for (const [fields, param, meant] of misspelled) {
    const { status, body } = await world.admin('POST', '/keys', { account, ...fields });
    expect([status, body.error.param]).toEqual([400, param]);
    expect(body.error.message).toMatch(new RegExp(`is not a field of .*\\. Did you mean ${meant}\\?$`));
  }
  expect((await world.admin('GET', `/keys?account=${account}`)).body).toEqual(before.body);
});

it('a filter that is misspelled does not list everything', async () => {
  const { status, body } = await world.admin('GET', '/tasks?statsu=failed');
  expect([status, body.error.param]).toEqual([400, 'statsu']);
  expect(body.error.message).toBe('statsu is not a query parameter of this route. Did you mean status?');
});

it('a create that an operator asks about may have any fields, and so may a draft’s values', async () => {
  const request = { model: 'clip', prompt: 'a boat', unknown_of_all: 1 };
  expect((await world.admin('POST', '/routes/explain', { request })).status).toBe(200);
});

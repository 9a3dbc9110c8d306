import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_model');

it('equals its entry in the list', async () => {
  const { call } = await world.newAccount();
  const { body } = await call('GET', '/v1/models');
  expect(body.data[0].id).toBe('clip');
  expect((await call('GET', '/v1/models/clip')).body).toEqual(body.data[0]);
});

it('403: a model that the key may not use', async () => {
  const byModel = await world.newAccount({ key: { models: ['plain'] } });
  const refused = await byModel.call('GET', '/v1/models/clip');
  expect([refused.status, refused.body.error.code]).toEqual([403, 'model_not_allowed']);
  const byChannel = await world.newAccount({ key: { channels: ['three'] } });
  const elsewhere = await byChannel.call('GET', '/v1/models/clip');
  expect([elsewhere.status, elsewhere.body.error.code]).toEqual([403, 'channel_not_allowed']);
});

it('404: an unknown model', async () => {
  const { call } = await world.newAccount();
  const answer = await call('GET', '/v1/models/nothing');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'model_not_found']);
  expect(answer.body.error.type).toBe('invalid_request_error');
});

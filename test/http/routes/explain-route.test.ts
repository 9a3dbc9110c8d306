import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_explain_route');

const explain = (body: object) => world.admin('POST', '/routes/explain', body);

it('which channels would be tried, in order, and why not the others', async () => {
  const { status, body } = await explain({ request: { model: 'clip' } });
  expect([status, body]).toEqual([
    200,
    {
      candidates: [
        { channel: 'one', credential: 'a' },
        { channel: 'two', credential: 'b' },
      ],
      dropped: [{ channel: 'three', reason: 'model_not_served', detail: expect.any(String) }],
    },
  ]);
});

it('with the permissions of a key, and the error that its caller would get', async () => {
  const { keyId, call } = await world.newAccount({ key: { channels: ['three'] } });
  const { body } = await explain({ key: keyId, request: { model: 'clip' } });
  expect(body.candidates).toEqual([]);
  expect(body.dropped.map(({ reason }: { reason: string }) => reason)).toContain('not_permitted');
  expect(body.refusal).toMatchObject({ code: 'channel_not_allowed' });
  expect((await call('GET', '/v1/videos/generations')).body.data).toEqual([]);
});

it('an unknown key, an unknown model', async () => {
  const key = await explain({ key: 'key_none', request: { model: 'clip' } });
  expect([key.status, key.body.error.code]).toEqual([404, 'key_not_found']);
  const model = await explain({ request: { model: 'nothing' } });
  expect([model.status, model.body.error.code]).toEqual([400, 'model_not_found']);
});

it.each([
  [{}, 'missing_parameter', 'request'],
  [{ request: {} }, 'missing_parameter', 'request.model'],
  [{ request: { model: 'clip', duration: 'long' } }, 'invalid_parameter', 'duration'],
])('400: %j', async (body, code, param) => {
  const answer = await explain(body);
  expect([answer.status, answer.body.error]).toEqual([400, expect.objectContaining({ code, param })]);
});

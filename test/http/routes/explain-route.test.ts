import { beforeAll, expect, it } from 'vitest';
import { fallbackCatalogue } from '../../support/fallback-catalogue.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { workerReport } from '../../support/worker-report.ts';

const world = useHttpWorld('route_explain_route');

beforeAll(() => world.stores.nodes.report(workerReport(['one', 'two', 'three'])));

const explain = (body: object) => world.admin('POST', '/routes/explain', body);

it('which channels would be tried, in order, and why not the others', async () => {
  const { status, body } = await explain({ request: { model: 'clip' } });
  expect([status, body]).toEqual([
    200,
    {
      candidates: [
        { channel: 'one', credential: 'a', waits: false, detail: '' },
        { channel: 'two', credential: 'b', waits: false, detail: '' },
      ],
      dropped: [{ channel: 'three', reason: 'model_not_served', detail: expect.any(String) }],
      health: [],
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

it('where a failed job is replaced, after what, and whether moderated content may go there', async () => {
  const fallback =
    'fallback: { channels: [spare, ark], on: [capacity, moderation_output], allow_moderation: true }';
  const node = await world.startNode({ catalogue: fallbackCatalogue(fallback) });
  const about = async (fields: object, key?: string) =>
    (await node.admin('POST', '/routes/explain', { key, request: { model: 'seedance', ...fields } })).body;
  const named = {
    channels: ['spare', 'ark'],
    on: ['capacity', 'moderation_output'],
    allow_moderation: true,
  };
  const candidates = [
    { channel: 'spare', credential: 'a' },
    { channel: 'ark', credential: 'a' },
  ];
  expect((await about({})).fallback).toEqual({ ...named, candidates });
  const image = { images: ['asset://a-file'] };
  expect(await about(image)).toMatchObject({
    candidates: [{ channel: 'ark' }, { channel: 'spare' }],
    fallback: { ...named, candidates: [] },
  });
  const { keyId } = await world.newAccount({ key: { channels: ['three'] } });
  expect(await about({}, keyId)).toMatchObject({
    refusal: { code: 'channel_not_allowed' },
    fallback: { ...named, candidates: [] },
  });
  const { id: account } = await world.newAccount();
  const { body: narrow } = await node.admin('POST', '/keys', { account, channels: ['ark'] });
  expect((await about({}, narrow.id)).fallback.candidates).toEqual([{ channel: 'ark', credential: 'a' }]);
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
  [{ request: { model: 'clip', images: ['a-file'] } }, 'media_url_not_allowed', 'images[0]'],
])('400: %j', async (body, code, param) => {
  const answer = await explain(body);
  expect([answer.status, answer.body.error]).toEqual([400, expect.objectContaining({ code, param })]);
});

import { expect, it } from 'vitest';
import { learnedTimes } from '../../../src/models/render-times.ts';
import { caller } from '../../support/client.ts';
import { useHttpWorld, videoBody } from '../../support/http-world.ts';

const world = useHttpWorld('route_estimate_video');

const estimate = async (body: object, headers = {}) => {
  const { call } = await world.newAccount();
  return call('POST', '/v1/videos/generations/estimate', { body: { ...videoBody, ...body }, headers });
};

it('the hold, the expected charge and the rule', async () => {
  const answer = await estimate({ duration: -1, seconds: '5' });
  expect(answer.status).toBe(200);
  const { explanation, ...body } = answer.body;
  expect(explanation).toMatchObject({ hold: { amount: '1.200000' }, usual: { amount: '0.500000' } });
  expect(body).toEqual({
    object: 'video.generation.estimate',
    model: 'clip',
    currency: 'USD',
    hold: '1.200000',
    at_least: '0.200000',
    at_most: '1.200000',
    warnings: ['seconds: overruled by duration'],
  });
});

it('creates nothing and needs no balance', async () => {
  const account = await world.newAccount({ credit: '0' });
  const answer = await account.call('POST', '/v1/video/generations/estimate', { body: videoBody });
  expect(answer.status).toBe(200);
  expect((await account.call('GET', '/v1/videos/generations')).body.data).toEqual([]);
});

it('any other value of x-explain-route is treated as absent', async () => {
  for (const value of ['', '0', 'true']) {
    const { status, body } = await estimate({}, { 'x-explain-route': value });
    expect([status, body.route]).toEqual([200, undefined]);
  }
});

it('with x-explain-route, it shows which channels would be tried and why others would not', async () => {
  const { body } = await estimate({}, { 'x-explain-route': '1' });
  expect(body.route.candidates).toEqual([
    { channel: 'one', credential: 'a' },
    { channel: 'two', credential: 'b' },
  ]);
  expect(body.route.dropped).toEqual([
    { channel: 'three', reason: 'model_not_served', detail: expect.any(String) },
  ]);
});

it('rejects what a create rejects', async () => {
  const answer = await estimate({ images: ['https://forbidden.example/'] });
  expect([answer.status, answer.body.error.param]).toEqual([400, 'images[0]']);
});

it('how long such renders take, once that was learned of its first channel', async () => {
  const samples = Array.from({ length: 20 }, (_, n) => ({ ms: 60_000 + n * 1_000, at: 0 }));
  const node = await world.startNode({
    renders: {
      times: ({ channel, model, output }) =>
        channel === 'one' && model === 'clip' && output.endsWith('/8') ? learnedTimes(samples, 0) : undefined,
    },
  });
  const { key } = await world.newAccount();
  const ask = async (duration: number) => {
    const body = { ...videoBody, duration };
    return (await caller(node.url, key)('POST', '/v1/videos/generations/estimate', { body })).body;
  };
  expect((await ask(8)).eta_seconds).toEqual({ p50: 70, p90: 78 });
  expect(await ask(5)).not.toHaveProperty('eta_seconds');
});

it('what such requests have cost lately, within what this one can cost', async () => {
  const ask = async (expected: bigint | undefined) => {
    const node = await world.startNode({ charges: { expected: () => Promise.resolve(expected) } });
    const { key } = await world.newAccount();
    const body = { ...videoBody, duration: 8 };
    const {
      at_least: least,
      at_most: most,
      expected: said,
    } = (await caller(node.url, key)('POST', '/v1/videos/generations/estimate', { body })).body;
    return { said, least, most };
  };
  expect((await ask(undefined)).said).toBeUndefined();
  const { said, least } = await ask(1n);
  expect(said).toBe(least);
  const { said: highest, most } = await ask(10n ** 12n);
  expect(highest).toBe(most);
});

it('the cap that would refuse the create, also of an end user whose name cannot be shown', async () => {
  const account = await world.newAccount();
  const caps = { total: '0.5', reason: 'free plan' };
  await world.admin('POST', `/accounts/${account.id}/end-user-caps`, caps);
  for (const user of ['u1', 'u\u0007']) {
    const body = { ...videoBody, metadata: { safety_identifier: user } };
    const estimated = () => account.call('POST', '/v1/videos/generations/estimate', { body });
    expect((await estimated()).body).not.toHaveProperty('refused_by');
    expect((await account.call('POST', '/v1/videos/generations', { body })).status).toBe(200);
    expect((await account.call('POST', '/v1/videos/generations', { body })).status).toBe(402);
    expect((await estimated()).body.refused_by).toMatchObject({ scope: 'end_user', used: '0.500000' });
  }
});

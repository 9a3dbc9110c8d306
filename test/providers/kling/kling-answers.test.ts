import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKling } from '../../../src/providers/kling/index.ts';
import type { Operation } from '../../../src/providers/provider.ts';
import { canned, fixture, imageRequest, providerContext, submitContext, upstreamError } from '../support.ts';
import { videoRequest } from '../support.ts';
import type { CannedAnswer } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

const now = Date.UTC(2026, 10, 22);
const { video, imageTask } = createKling(() => now);
if (video === undefined || imageTask === undefined) throw new Error('a capability is missing');

const id = '893605946402811985';
const legacy: Operation = { id: '831922345719271433', path: '/v1/videos/text2video' };
const videos = videoTables(video, { operation: { id } });
const { statusOf } = videos;
const kept = (updated: number) => Math.floor(updated / 1000) + 30 * 24 * 3600;

describe('a job', () => {
  it('that succeeded has whole seconds, a cost in units, and a link that is valid for 30 days', async () => {
    const { status, sent } = await videos.polled({ json: fixture('kling/succeeded') });
    expect(status).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://files.example.com/a.mp4', expiresAt: kept(1_781_080_794_151) }],
      facts: { durationSeconds: 5 },
      cost: { amount: '4.00', unit: 'video units' },
      endedAt: 1_781_080_794_151,
    });
    expect(sent[0]).toMatchObject({
      method: 'GET',
      url: `https://upstream.example/api/v3/tasks?task_ids=${id}`,
    });
  });

  it('of the legacy standard is polled at the path of its submission', async () => {
    const { status, sent } = await videos.polled({ json: fixture('kling/legacy-video') }, legacy);
    expect(status).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://files.example.com/b.mp4', expiresAt: kept(1_766_374_419_000) }],
      facts: { durationSeconds: 5 },
      cost: { amount: '2.5', unit: 'video units' },
      endedAt: 1_766_374_419_000,
    });
    expect(sent[0]?.url).toBe('https://upstream.example/api/v3/v1/videos/text2video/831922345719271433');
  });

  it('with images counts them', async () => {
    const images = imageTables(imageTask, { operation: { id: '1', path: '/v1/images/generations' } });
    expect(await images.statusOf({ json: fixture('kling/legacy-images') })).toEqual({
      state: 'succeeded',
      items: [1, 2].map((name) => ({
        url: `https://files.example.com/${name}.png`,
        expiresAt: kept(1_766_374_419_000),
      })),
      facts: { images: 2 },
      cost: { amount: '16', unit: 'image units' },
      endedAt: 1_766_374_419_000,
    });
  });

  it('that failed gives its reason only as text', async () => {
    expect(await statusOf({ json: fixture('kling/failed') })).toEqual({
      state: 'failed',
      code: 'failed',
      message: 'Failure to pass the risk control system',
      failure: { class: 'moderation_output' },
    });
  });

  it.each<[string, object]>([
    ['submitted', { state: 'pending', phase: 'submitted' }],
    ['processing', { state: 'pending', phase: 'running' }],
    ['something_new', { state: 'pending', phase: 'running' }],
    ['failed', { state: 'failed', failure: { class: 'internal' } }],
  ])('in status %s, in both standards', async (status, expected) => {
    expect(await statusOf({ json: { code: 0, data: [{ id, status }] } })).toMatchObject(expected);
    const data = { task_id: legacy.id, task_status: status };
    expect(await statusOf({ json: { code: 0, data } }, legacy)).toMatchObject(expected);
  });

  it.each<[string, object[], object | undefined]>([
    ['no charge', [], undefined],
    ['nothing', [{ charge_type: 'unit', package_type: 'video', amount: '0.00' }], undefined],
    ['a sum without rounding',
      [{ charge_type: 'unit', package_type: 'video', amount: '0.1' }, { charge_type: 'unit', package_type: 'video', amount: '123456789012345.02' }],
      { amount: '123456789012345.12', unit: 'video units' }],
    ['cash', [{ charge_type: 'cash', amount: '0.56', currency: 'USD', cash_type: 'balance' }], { amount: '0.56', unit: 'USD' }],
    ['a number', [{ charge_type: 'unit', amount: 3 }], { amount: '3', unit: 'video units' }],
    ['two units, which are no sum',
      [{ charge_type: 'unit', package_type: 'video', amount: '1' }, { charge_type: 'unit', package_type: 'audio', amount: '1' }], undefined],
    ['a part that is not an amount, which leaves no sum',
      [{ charge_type: 'unit', amount: '1' }, { charge_type: 'unit', amount: '12345678901234567890.02' }], undefined],
    ['words', [{ charge_type: 'unit', amount: 'many' }], undefined],
  ])('costs %s', async (_, billing, cost) => {
    const job = { id, status: 'succeeded', outputs: [{ url: 'https://files.example.com/a.mp4' }], billing };
    const status = await statusOf({ json: { code: 0, data: [job] } });
    expect(status).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://files.example.com/a.mp4' }],
      facts: {},
      ...(cost === undefined ? {} : { cost }),
    });
  }); // prettier-ignore

  videos.readsNoState([
    ['an empty list', { json: { code: 0, data: [] } }, true, 'unknown_job'],
    ['a 404', { status: 404, json: { code: 1203, message: 'm' } }, legacy, true, 'unknown_job'],
    ['no file', { json: { code: 0, data: [{ id, status: 'succeeded' }] } }, false, 'unreadable_answer'],
    ['too fast', { status: 429, json: { code: 1302, message: 'm' } }, false, '1302'],
    ['trouble', { status: 500, json: { code: 5000, message: 'm' } }, false, '5000'],
    ['an error in a success', { json: { code: 5000, message: 'm' } }, false, '5000'],
  ]); // prettier-ignore
});

describe('many jobs', () => {
  it('are reported in one response, except missing jobs and those of the other standard', async () => {
    const data = [{ id: '1', status: 'processing' }, { id: '2', status: 'succeeded' }, { status: 'failed' }];
    const upstream = canned({ json: { code: 0, data } });
    const operations = [{ id: '1' }, { id: '2' }, { id: '3' }, legacy];
    const found = await video.list?.(operations, providerContext({ request: upstream.request }));
    expect([...(found ?? [])]).toEqual([['1', { state: 'pending', phase: 'running' }]]);
    expect(upstream.sent[0]?.url).toBe('https://upstream.example/api/v3/tasks?task_ids=1%2C2%2C3');
  });

  it('of the legacy standard are not polled together', async () => {
    const found = await video.list?.([legacy], providerContext());
    expect(found?.size).toBe(0);
  });
});

describe('a lost submission', () => {
  const lost = { marker: 'mediary-t1-1', sentAfter: 0, sentBefore: now };

  it('is requested by its marker', async () => {
    const upstream = canned({ json: fixture('kling/succeeded') });
    const context = providerContext({ request: upstream.request, model: 'kling-3.0' });
    expect(await video.find?.({ request: videoRequest(), ...lost }, context)).toEqual([
      { operation: { id }, traceId: id },
    ]);
    expect(upstream.sent[0]?.url).toContain('/tasks?external_task_ids=mediary-t1-1');
  });

  it.each([[[]], [[{ id: '1', external_id: 'mediary-other-1' }]], [[{ id: '1' }]]])(
    'is not confused with another job: %j',
    async (data) => {
      const request = canned({ json: { code: 0, data } }).request;
      const context = providerContext({ request, model: 'kling-3.0' });
      expect(await video.find?.({ request: videoRequest(), ...lost }, context)).toEqual([]);
    },
  );

  it('of the legacy standard is searched for in the list of its service', async () => {
    const upstream = canned({ json: fixture('kling/legacy-list') }, { json: fixture('kling/legacy-list') });
    const context = providerContext({ request: upstream.request, model: 'kling-v2-6' });
    const path = '/v1/videos/text2video';
    expect(await video.find?.({ request: videoRequest(), ...lost }, context)).toEqual([
      { operation: { id: '2', path }, traceId: '2' },
    ]);
    expect(upstream.sent[0]?.url).toContain(`${path}?pageNum=1&pageSize=500`);
    const images = await imageTask.find?.(
      { request: imageRequest(), ...lost },
      { ...context, model: 'kling-v3' },
    );
    expect(images?.map(({ operation }) => operation['path'])).toEqual(['/v1/images/generations']);
  });
});

describe('a key pair', () => {
  const credential = { id: 'a', apiKey: 'access:secret' };
  const submitWith = (model: string, ...answers: CannedAnswer[]) => {
    const upstream = canned(...answers);
    const context = submitContext({ model, request: upstream.request, credential });
    return { upstream, done: video.submit(videoRequest(), context) };
  };
  const claimsOf = (authorization = '') => {
    const [head = '', body = '', signature] = authorization.replace('Bearer ', '').split('.');
    expect(signature).toBe(createHmac('sha256', 'secret').update(`${head}.${body}`).digest('base64url'));
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'HS256', typ: 'JWT' });
    return JSON.parse(Buffer.from(body, 'base64url').toString()) as unknown;
  };

  it('signs requests of the legacy standard, for half an hour', async () => {
    const { upstream, done } = submitWith('kling-v2-6', { json: fixture('kling/legacy-created') });
    await done;
    const at = now / 1000;
    expect(claimsOf(upstream.sent[0]?.headers?.['authorization'])).toEqual({
      iss: 'access',
      exp: at + 1800,
      nbf: at - 5,
    });
  });

  it.each([1003, 1004])('signs again by the vendor’s clock after %i', async (code) => {
    const refusal = {
      status: 401,
      headers: { date: 'Sun, 22 Nov 2026 02:00:00 GMT' },
      json: { code, message: 'm' },
    };
    const { upstream, done } = submitWith('kling-v2-6', refusal, { json: fixture('kling/legacy-created') });
    await done;
    expect(claimsOf(upstream.sent[1]?.headers?.['authorization'])).toMatchObject({ nbf: now / 1000 + 7195 });
    const again = submitWith('kling-v2-6', refusal, refusal);
    expect(await upstreamError(again.done)).toMatchObject({ outcome: 'unavailable', code: String(code) });
  });

  it('is neither sent to the new standard, nor sent unsigned', async () => {
    const { upstream, done } = submitWith('kling-3.0');
    expect(await upstreamError(done)).toMatchObject({ outcome: 'unavailable', code: 'api_key_needed' });
    expect(upstream.sent).toEqual([]);
    const wrong = submitWith('kling-v2-6', { status: 401, json: { code: 1002, message: 'm' } });
    await upstreamError(wrong.done);
    expect(wrong.upstream.sent).toHaveLength(1);
  });
});

describe('a callback', () => {
  videos.hears([
    [fixture('kling/callback'), true],
    [{ id, status: 'failed' }, true],
    [{ id, status: 'processing' }, false],
    [{ task_id: id, task_status: 'succeed' }, true],
    [{ task_id: id, task_status: 'submitted' }, false],
    [{ code: 0, data: { task_id: id, task_status: 'failed' } }, true],
    [null, false],
  ]);

  const secret = Buffer.from('a secret of the console');
  const callbackSecret = `whsec_${secret.toString('base64')}`;
  const body = { id: '1', status: 'succeeded' };
  const sign = (key: Buffer, timestamp: string) =>
    `v1,${createHmac('sha256', key)
      .update(`msg_1.${timestamp}.${JSON.stringify(body)}`)
      .digest('base64')}`;
  const at = String(now / 1000);
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': at, 'webhook-signature': sign(secret, at) };

  videos.verifies({ body, now }, [
    ['with its own signature', headers, callbackSecret, true],
    ['with one of two signatures, after a rotation', { ...headers, 'webhook-signature': `${sign(Buffer.from('old'), at)} ${sign(secret, at)}` }, callbackSecret, true],
    ['with another signature', { ...headers, 'webhook-signature': sign(Buffer.from('other'), at) }, callbackSecret, false],
    ['with another version', { ...headers, 'webhook-signature': sign(secret, at).replace('v1', 'v2') }, callbackSecret, false],
    ['with another id', { ...headers, 'webhook-id': 'msg_2' }, callbackSecret, false],
    ['with words', { ...headers, 'webhook-signature': 'v1' }, callbackSecret, false],
    ['with no signature', {}, callbackSecret, false],
    ['with a time that is none', { ...headers, 'webhook-timestamp': 'now' }, callbackSecret, false],
    ['if no secret is configured', {}, undefined, true],
    ...[-301, 301, -299, 299].map((age) => {
      const time = String(now / 1000 + age);
      const signed = { ...headers, 'webhook-timestamp': time, 'webhook-signature': sign(secret, time) };
      return [`with a time ${age} s away`, signed, callbackSecret, Math.abs(age) < 300] as const;
    }),
  ]); // prettier-ignore
});

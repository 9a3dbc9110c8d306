import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { useHttpWorld, videoBody } from '../../support/http-world.ts';
import type { TestAccount } from '../../support/client.ts';

const world = useHttpWorld('http_create_video');

async function understood(account: TestAccount, body: Record<string, unknown>): Promise<VideoRequest> {
  const answer = await account.create(body);
  if (answer.status !== 200) throw new Error(answer.text);
  const request = (await world.stores.requests.find(answer.body.id))?.request;
  if (request?.kind !== 'video') throw new Error('no video request');
  return request;
}

it('200: the contract’s fields, and a task that a GET finds at once', async () => {
  const account = await world.newAccount();
  const before = Math.floor(Date.now() / 1000);
  const answer = await account.create();
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.headers['x-mediary-hold']).toBe('0.500000');
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^task_[0-9A-Za-z]{22,}$/),
    task_id: answer.body.id,
    object: 'video.generation.task',
    status: 'submitted',
    message: 'The task is submitted.',
    model: 'clip',
    created_at: expect.any(Number),
  });
  expect(answer.body.created_at).toBeGreaterThanOrEqual(before);
  const got = await account.call('GET', `/v1/videos/generations/${answer.body.id}`);
  expect([got.status, got.body.id]).toEqual([200, answer.body.id]);
  expect((await account.call('GET', '/v1/balance')).body).toMatchObject({
    available: '99.500000',
    held: '0.500000',
  });
});

it('both spellings create', async () => {
  const { call } = await world.newAccount();
  const answer = await call('POST', '/v1/video/generations', { body: videoBody });
  expect([answer.status, answer.body.status]).toEqual([200, 'submitted']);
});

describe('400 suggests what may have been meant', () => {
  const messageOf = async (account: TestAccount, body: unknown) =>
    (await account.call('POST', '/v1/videos/generations', { body })).body.error.message;

  it('for a misspelled model, among those that the key may use', async () => {
    const body = { ...videoBody, model: 'pictur' };
    const all = await world.newAccount();
    expect(await messageOf(all, body)).toBe(
      'There is no model "pictur". Did you mean picture? GET /v1/models lists the models.',
    );
    const one = await world.newAccount({ key: { models: ['clip'] } });
    expect(await messageOf(one, body)).toBe('There is no model "pictur". GET /v1/models lists the models.');
  });

  it('for a misspelled field', async () => {
    const account = await world.newAccount();
    expect(await messageOf(account, { model: 'clip', promt: 'a boat' })).toBe(
      'The parameter prompt is required. "promt" looks like a misspelling of it.',
    );
    const images = [{ url: 'https://cdn.example/a.png', roel: 'first_frame' }];
    expect(await messageOf(account, { ...videoBody, model: 'clip', images })).toBe(
      'images[0].roel is not a field of images[0].',
    );
  });
});

describe('400 names the field', () => {
  const long = 'x'.repeat(65);
  const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) as unknown;

  it.each<[Record<string, unknown>, string, string]>([
    [{ model: undefined }, 'missing_parameter', 'model'],
    [{ model: null }, 'missing_parameter', 'model'],
    [{ model: 5 }, 'invalid_parameter', 'model'],
    [{ model: '' }, 'invalid_parameter', 'model'],
    [{ model: 'x'.repeat(129) }, 'invalid_parameter', 'model'],
    [{ model: 'nonexistent' }, 'model_not_found', 'model'],
    [{ model: 'picture' }, 'unsupported_parameter', 'model'],
    [{ prompt: undefined }, 'missing_parameter', 'prompt'],
    [{ prompt: null }, 'missing_parameter', 'prompt'],
    [{ prompt: ' '.repeat(64_001) }, 'invalid_parameter', 'prompt'],
    [{ duration: '1'.repeat(100_000) }, 'invalid_parameter', 'duration'],
    [{ prompt: '' }, 'invalid_parameter', 'prompt'],
    [{ prompt: ' \n\t' }, 'invalid_parameter', 'prompt'],
    [{ prompt: ['a'] }, 'invalid_parameter', 'prompt'],
    [{ prompt: { text: 'a' } }, 'invalid_parameter', 'prompt'],
    [{ prompt: 'x'.repeat(32_001) }, 'invalid_parameter', 'prompt'],
    [{ mode: 5 }, 'invalid_parameter', 'mode'],
    [{ mode: long }, 'invalid_parameter', 'mode'],
    [{ input_type: 'video_to_video' }, 'invalid_parameter', 'input_type'],
    [{ input_type: 1 }, 'invalid_parameter', 'input_type'],
    [{ input_type: 'text_to_video', images: ['https://a.example/1.png'] }, 'invalid_parameter', 'input_type'],
    [{ input_type: 'text_to_video', videos: ['https://a.example/1.mp4'] }, 'invalid_parameter', 'input_type'],
    [{ input_type: 'reference' }, 'invalid_parameter', 'input_type'],
    [{ input_type: 'first_last_frame' }, 'invalid_parameter', 'input_type'],
    [
      {
        input_type: 'first_last_frame',
        images: ['a', 'b', 'c'].map((name) => `https://a.example/${name}.png`),
      },
      'invalid_parameter',
      'images',
    ],
    [
      { input_type: 'reference', images: [{ url: 'https://a.example/1.png', role: 'first_frame' }] },
      'invalid_parameter',
      'images[0]',
    ],
    [{ images: [{ url: 'https://a.example/1.png', role: 'last_frame' }] }, 'invalid_parameter', 'images[0]'],
    [
      { images: ['1', '2'].map((name) => ({ url: `https://a.example/${name}.png`, role: 'first_frame' })) },
      'invalid_parameter',
      'images[1]',
    ],
    [{ images: [{ url: 'https://a.example/1.png', role: 'mask' }] }, 'invalid_parameter', 'images[0]'],
    [{ model: 'plain', image: 'https://a.example/1.png' }, 'unsupported_parameter', 'image'],
    [{ model: 'plain', images: ['https://a.example/1.png'] }, 'unsupported_parameter', 'images'],
    [{ model: 'plain', videos: ['https://a.example/1.mp4'] }, 'unsupported_parameter', 'videos'],
    [
      { model: 'plain', images: ['https://a.example/1.png'], input_type: 'reference' },
      'unsupported_parameter',
      'input_type',
    ],
    [{ duration: 5.5 }, 'unsupported_parameter', 'duration'],
    [{ seconds: '5.5' }, 'unsupported_parameter', 'seconds'],
    [{ metadata: { duration: 5.5 } }, 'unsupported_parameter', 'metadata.duration'],
    [{ size: '123x456' }, 'unsupported_parameter', 'size'],
    [{ size: '3840x2160' }, 'unsupported_parameter', 'size'],
    [{ metadata: { size: '1000x1000' } }, 'unsupported_parameter', 'metadata.size'],
    [{ image: 'https://forbidden.example/1.png' }, 'media_url_not_allowed', 'image'],
    [{ images: ['https://a.example/1.png', 5] }, 'invalid_parameter', 'images[1]'],
    [{ images: [null] }, 'invalid_parameter', 'images[0]'],
    [{ images: [['https://a.example/1.png']] }, 'invalid_parameter', 'images[0]'],
    [{ images: [{ href: 'https://a.example/1.png' }] }, 'invalid_parameter', 'images[0]'],
    [{ images: Array.from({ length: 65 }, () => 'https://a.example/1.png') }, 'invalid_parameter', 'images'],
    [
      { videos: Array.from({ length: 4 }, () => 'https://a.example/1.mp4') },
      'unsupported_parameter',
      'videos',
    ],
    [
      { images: ['https://a.example/1.png', 'https://forbidden.example/2.png'] },
      'media_url_not_allowed',
      'images[1]',
    ],
    [{ images: ['file:///etc/passwd'] }, 'media_url_not_allowed', 'images[0]'],
    [{ images: ['ftp://a.example/1.png'] }, 'media_url_not_allowed', 'images[0]'],
    [{ images: ['a.example/1.png'] }, 'media_url_not_allowed', 'images[0]'],
    [{ images: ['javascript:alert(1)'] }, 'media_url_not_allowed', 'images[0]'],
    [{ images: ['//a.example/1.png'] }, 'media_url_not_allowed', 'images[0]'],
    [{ videos: [true] }, 'invalid_parameter', 'videos[0]'],
    [{ videos: ['https://forbidden.example/1.mp4'] }, 'media_url_not_allowed', 'videos[0]'],
    [{ audios: {} }, 'invalid_parameter', 'audios'],
    [{ audios: ['https://a.example/1.mp3', ''] }, 'invalid_parameter', 'audios[1]'],
    [{ audios: ['https://forbidden.example/1.mp3'] }, 'media_url_not_allowed', 'audios[0]'],
    [{ resolution: 720 }, 'invalid_parameter', 'resolution'],
    [{ resolution: '8k' }, 'unsupported_parameter', 'resolution'],
    [{ ratio: 1.5 }, 'invalid_parameter', 'ratio'],
    [{ ratio: long }, 'invalid_parameter', 'ratio'],
    [{ size: 1280 }, 'invalid_parameter', 'size'],
    [{ size: '1280' }, 'invalid_parameter', 'size'],
    [{ size: '1280*720' }, 'invalid_parameter', 'size'],
    [{ size: '0x720' }, 'invalid_parameter', 'size'],
    [{ size: '-1280x720' }, 'invalid_parameter', 'size'],
    [{ size: '1280x720x3' }, 'invalid_parameter', 'size'],
    [{ size: '999999x720' }, 'invalid_parameter', 'size'],
    [{ duration: true }, 'invalid_parameter', 'duration'],
    [{ duration: [5] }, 'invalid_parameter', 'duration'],
    [{ duration: 0 }, 'invalid_parameter', 'duration'],
    [{ duration: -2 }, 'invalid_parameter', 'duration'],
    [{ duration: 1e9 }, 'invalid_parameter', 'duration'],
    [{ duration: 'five' }, 'invalid_parameter', 'duration'],
    [{ duration: '5 seconds' }, 'invalid_parameter', 'duration'],
    [{ duration: '5m' }, 'invalid_parameter', 'duration'],
    [{ duration: '1e1' }, 'invalid_parameter', 'duration'],
    [{ duration: '0x5' }, 'invalid_parameter', 'duration'],
    [{ duration: 'NaN' }, 'invalid_parameter', 'duration'],
    [{ duration: 13 }, 'unsupported_parameter', 'duration'],
    [{ duration: 1 }, 'unsupported_parameter', 'duration'],
    [{ seconds: 'x' }, 'invalid_parameter', 'seconds'],
    [{ seconds: {} }, 'invalid_parameter', 'seconds'],
    [{ metadata: 5 }, 'invalid_parameter', 'metadata'],
    [{ metadata: [] }, 'invalid_parameter', 'metadata'],
    [{ metadata: 'not json' }, 'invalid_parameter', 'metadata'],
    [{ metadata: '[]' }, 'invalid_parameter', 'metadata'],
    [{ metadata: '"{}"' }, 'invalid_parameter', 'metadata'],
    [{ metadata: 'null' }, 'invalid_parameter', 'metadata'],
    [{ metadata: '5' }, 'invalid_parameter', 'metadata'],
    [{ metadata: deep }, 'invalid_parameter', 'metadata'],
    [{ metadata: JSON.stringify(deep) }, 'invalid_parameter', 'metadata'],
    [{ metadata: { draft: 'yes' } }, 'invalid_parameter', 'metadata.draft'],
    [{ metadata: '{"draft": 1}' }, 'invalid_parameter', 'metadata.draft'],
    [{ metadata: { generate_audio: 1 } }, 'invalid_parameter', 'metadata.generate_audio'],
    [{ metadata: { watermark: 'no' } }, 'invalid_parameter', 'metadata.watermark'],
    [{ metadata: { seed: '１' } }, 'invalid_parameter', 'metadata.seed'],
    [{ metadata: { seed: 1.5 } }, 'invalid_parameter', 'metadata.seed'],
    [{ metadata: { seed: 1e20 } }, 'invalid_parameter', 'metadata.seed'],
    [{ metadata: { execution_expires_after: 0 } }, 'invalid_parameter', 'metadata.execution_expires_after'],
    [{ metadata: { execution_expires_after: -1 } }, 'invalid_parameter', 'metadata.execution_expires_after'],
    [{ metadata: { execution_expires_after: 1.5 } }, 'invalid_parameter', 'metadata.execution_expires_after'],
    [
      { metadata: { execution_expires_after: '6e1' } },
      'invalid_parameter',
      'metadata.execution_expires_after',
    ],
    [
      { metadata: { execution_expires_after: 259_201 } },
      'invalid_parameter',
      'metadata.execution_expires_after',
    ],
    [{ metadata: { safety_identifier: 5 } }, 'invalid_parameter', 'metadata.safety_identifier'],
    [{ metadata: { safety_identifier: 'x'.repeat(257) } }, 'invalid_parameter', 'metadata.safety_identifier'],
    [{ metadata: { tools: 'web_search' } }, 'invalid_parameter', 'metadata.tools'],
    [{ metadata: { negative_prompt: ['rain'] } }, 'invalid_parameter', 'metadata.negative_prompt'],
    [{ metadata: { cfg_scale: '7 ' } }, 'invalid_parameter', 'metadata.cfg_scale'],
    [{ metadata: { camera_control: 1 } }, 'invalid_parameter', 'metadata.camera_control'],
    [{ metadata: { fps: 23.5 } }, 'invalid_parameter', 'metadata.fps'],
    [{ metadata: { motion_strength: 'high' } }, 'invalid_parameter', 'metadata.motion_strength'],
    [{ metadata: { video_task: 1 } }, 'invalid_parameter', 'metadata.video_task'],
    [{ metadata: { callback_url: 5 } }, 'invalid_parameter', 'metadata.callback_url'],
    [{ metadata: { callback_url: 'nonsense' } }, 'callback_url_not_allowed', 'metadata.callback_url'],
    [
      { metadata: { callback_url: 'https://forbidden.example/' } },
      'callback_url_not_allowed',
      'metadata.callback_url',
    ],
    [
      { metadata: { callback_url: `https://a.example/${'x'.repeat(2_048)}` } },
      'invalid_parameter',
      'metadata.callback_url',
    ],
    [{ metadata: { resolution: 720 } }, 'invalid_parameter', 'metadata.resolution'],
    [{ metadata: { duration: 'long' } }, 'invalid_parameter', 'metadata.duration'],
    [{ metadata: { size: 'large' } }, 'invalid_parameter', 'metadata.size'],
    [{ metadata: { refuse_me: 1 } }, 'unsupported_parameter', 'metadata.refuse_me'],
  ])('%j → %s %s', async (body, code, param) => {
    const account = await world.newAccount();
    const { status, body: answer } = await account.create(body);
    expect(status).toBe(400);
    expect(answer).toEqual({
      error: { message: expect.stringMatching(/^[A-Za-z].*\.$/), type: 'invalid_request_error', param, code },
    });
    expect((await account.call('GET', '/v1/balance')).body).toMatchObject({ held: '0.000000' });
  });
});

describe('the field rules', () => {
  const png = (name: string) => `https://a.example/${name}.png`;

  it.each<[Record<string, unknown>, Partial<VideoRequest>]>([
    [{}, { references: [], videos: [], audios: [], duration: 5, extra: {} }],
    [{ image: png('a') }, { references: [png('a')] }],
    [{ image: png('a'), images: [png('b')] }, { references: [png('b')] }],
    [{ image: png('a'), images: [] }, { references: [png('a')] }],
    [{ images: [png('a'), png('b')] }, { references: [png('a'), png('b')] }],
    [
      { image: png('a'), input_type: 'first_last_frame' },
      { firstFrame: png('a'), references: [] },
    ],
    [
      { images: [png('a'), png('b')], input_type: 'first_last_frame' },
      { firstFrame: png('a'), lastFrame: png('b'), references: [] },
    ],
    [{ images: [png('a')], input_type: 'reference' }, { references: [png('a')] }],
    [{ images: [{ url: png('a'), role: 'first_frame' }] }, { firstFrame: png('a'), references: [] }],
    [
      { images: [{ url: png('a'), role: 'last_frame' }, { url: png('b') }], input_type: 'first_last_frame' },
      { firstFrame: png('b'), lastFrame: png('a') },
    ],
    [{ videos: ['https://a.example/v.mp4'] }, { videos: ['https://a.example/v.mp4'] }],
    [{ audios: ['https://a.example/v.mp3'] }, { audios: ['https://a.example/v.mp3'] }],
    [{ images: ['data:image/png;base64,AA=='] }, { references: ['data:image/png;base64,AA=='] }],
    [{ duration: 7 }, { duration: 7 }],
    [{ duration: '7' }, { duration: 7 }],
    [{ duration: '7s' }, { duration: 7 }],
    [{ duration: ' 7S ' }, { duration: 7 }],
    [{ duration: -1 }, { duration: 'auto' }],
    [{ duration: '-1' }, { duration: 'auto' }],
    [{ seconds: '8' }, { duration: 8 }],
    [{ seconds: 8 }, { duration: 8 }],
    [{ duration: 7, seconds: '8' }, { duration: 7 }],
    [{ metadata: { duration: 9 } }, { duration: 9, extra: {} }],
    [{ metadata: { seconds: '9' } }, { duration: 9, extra: {} }],
    [
      { seconds: '8', metadata: { duration: 9 } },
      { duration: 8, extra: {} },
    ],
    [{ size: '1280x720' }, { resolution: '720p', ratio: '16:9', size: '1280x720' }],
    [{ size: '1080x1920' }, { resolution: '1080p', ratio: '9:16' }],
    [{ size: '640x480' }, { resolution: '480p', ratio: '4:3' }],
    [
      { size: '960X960', resolution: '480p' },
      { resolution: '480p', ratio: '1:1' },
    ],
    [
      { size: '1280x720', ratio: '1:1', resolution: '1080p' },
      { resolution: '1080p', ratio: '1:1' },
    ],
    [{ metadata: { size: '1280x720' } }, { resolution: '720p', ratio: '16:9', extra: {} }],
    [{ metadata: { resolution: '1080p', ratio: '9:16' } }, { resolution: '1080p', ratio: '9:16', extra: {} }],
    [
      { resolution: '480p', metadata: { resolution: '1080p' } },
      { resolution: '480p', extra: {} },
    ],
    [{ mode: 'pro' }, { mode: 'pro' }],
    [{ metadata: { mode: 'pro' } }, { mode: 'pro', extra: {} }],
    [
      {
        metadata: { draft: true, generate_audio: false, watermark: true, return_last_frame: true, seed: -1 },
      },
      { draft: true, generateAudio: false, watermark: true, returnLastFrame: true, seed: -1, extra: {} },
    ],
    [
      { metadata: { safety_identifier: 'u1', tools: [{ type: 'x' }] } },
      { safetyIdentifier: 'u1', tools: [{ type: 'x' }] },
    ],
    [{ metadata: { tools: { a: 1 } } }, { tools: { a: 1 } }],
    [{ metadata: '{"seed": 7, "camera_fixed": true}' }, { seed: 7, extra: { camera_fixed: true } }],
    [
      {
        metadata: { camera_control: { type: 'simple' }, cfg_scale: 0.5, fps: null, negative_prompt: 'rain' },
      },
      { extra: { camera_control: { type: 'simple' }, cfg_scale: 0.5, negative_prompt: 'rain' } },
    ],
    [
      { metadata: { service_tier: 'flex', nested: { a: [1, null, 'x'] } } },
      { extra: { service_tier: 'flex', nested: { a: [1, null, 'x'] } } },
    ],
    [{ metadata: '{"__proto__": {"polluted": 1}, "a": 1}' }, { extra: { a: 1 } }],
    [{ metadata: {} }, { extra: {} }],
  ])('%j', async (body, expected) => {
    expect(await understood(await world.newAccount(), body)).toMatchObject(expected);
  });

  it('null is treated as absent, wherever a field is known', async () => {
    const names = [
      'mode', 'input_type', 'image', 'images', 'videos', 'audios', 'resolution', 'ratio', 'size', 'duration', 'seconds', 'metadata',
    ]; // prettier-ignore
    const known = [
      'draft', 'generate_audio', 'watermark', 'return_last_frame', 'callback_url', 'seed', 'execution_expires_after',
      'safety_identifier', 'tools', 'mode', 'resolution', 'ratio', 'size', 'duration', 'seconds',
    ]; // prettier-ignore
    const nulls = (of: readonly string[]) => Object.fromEntries(of.map((name) => [name, null]));
    const account = await world.newAccount();
    const plain = await understood(account, {});
    expect(await understood(account, nulls(names))).toEqual(plain);
    for (const metadata of [nulls(known), JSON.stringify(nulls(known))]) {
      expect(await understood(account, { metadata })).toEqual(plain);
    }
    expect((await understood(account, { metadata: { theirs: null } })).extra).toEqual({ theirs: null });
    const estimate = await account.call('POST', '/v1/videos/generations/estimate', {
      body: { model: 'clip', prompt: 'x', ...nulls(names) },
    });
    expect(estimate.status).toBe(200);
  });

  it('fields that no upstream receives are named in the warnings, as they were sent', async () => {
    const account = await world.newAccount();
    const metadata = { mode: 'pro', safety_identifier: 'u1', return_last_frame: true, theirs: 1 };
    const lost = await account.create({ model: 'other', seconds: '5', size: '1280x720', metadata });
    expect(lost.body.warnings.toSorted()).toEqual([
      'metadata.mode',
      'metadata.return_last_frame',
      'metadata.safety_identifier',
      'metadata.theirs',
      'seconds',
      'size',
    ]);
    expect((await account.create({ metadata })).body).not.toHaveProperty('warnings');
    expect((await account.create({ model: 'other' })).body).not.toHaveProperty('warnings');
  });

  it('misspelt fields are named in the warnings, up to a limit', async () => {
    const account = await world.newAccount();
    const answer = await account.create({ resolutoin: '480p', ratio: '16:9' });
    expect(answer.body.warnings).toEqual(['resolutoin']);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${'x'.repeat(100)}${n}`, n]));
    const { warnings } = (await account.create(many)).body;
    expect(warnings).toHaveLength(20);
    expect(Math.max(...warnings.map((name: string) => name.length))).toBe(64);
    const estimate = await account.call('POST', '/v1/videos/generations/estimate', {
      body: { model: 'clip', prompt: 'x', durration: 5 },
    });
    expect(estimate.text).toContain('durration');
  });

  it('unknown fields on the top level are ignored', async () => {
    const request = await understood(await world.newAccount(), { temperature: 0.5, user: 'x', stream: true });
    expect(request.extra).toEqual({});
    expect(JSON.stringify(request)).not.toContain('temperature');
  });

  it('the callback address and the time limit are used here, and not sent upstream', async () => {
    const account = await world.newAccount();
    const { body } = await account.create({
      metadata: { callback_url: 'https://me.example/hook?secret=1', execution_expires_after: 90, keep: 1 },
    });
    const record = await world.stores.requests.find(body.id);
    expect(record?.callbackUrl).toBe('https://me.example/hook?secret=1');
    expect(record?.request).toMatchObject({ extra: { keep: 1 } });
    expect(JSON.stringify(record?.request)).not.toContain('me.example');
    const input = world.port.started.find(({ task }) => task === body.id);
    expect(JSON.stringify(input)).not.toContain('me.example');
    expect(input).toMatchObject({ hasCallback: true });
    const task = await world.stores.tasks.find(body.id);
    expect((task?.deadlineAt ?? 0) - (task?.createdAt ?? 0)).toBe(90_000);
    expect(input?.deadlineAt).toBe(task?.deadlineAt);
  });

  it('ignored fields are named', async () => {
    const account = await world.newAccount();
    const answer = await account.create({
      image: png('a'),
      images: [png('b')],
      duration: 5,
      seconds: '6',
      ratio: '5:7',
      resolution: '720p',
      metadata: { resolution: '1080p' },
    });
    expect(answer.body.warnings.toSorted()).toEqual([
      'image: overruled by images',
      'metadata.resolution: overruled by resolution',
      'ratio',
      'seconds: overruled by duration',
    ]);
  });

  it('a prompt of 32,000 characters is accepted, and astral ones count once', async () => {
    const account = await world.newAccount();
    expect((await account.create({ prompt: '😀'.repeat(32_000) })).status).toBe(200);
    expect((await account.create({ prompt: '😀'.repeat(32_001) })).status).toBe(400);
  });
});

describe('media that are not web addresses', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['text in place of a sound', { audios: ['data:text/plain,hello'] }, 'audios[0]'],
    ['a sound in place of an image', { images: ['data:audio/mpeg;base64,AA=='] }, 'images[0]'],
    ['data of no type', { image: 'data:,hello' }, 'image'],
    ["another account's asset", { images: ['asset://asset-1'] }, 'images[0]'],
    ['an asset in capitals', { videos: ['ASSET://asset-1'] }, 'videos[0]'],
  ])('400: %s', async (_, body, param) => {
    const account = await world.newAccount();
    const answer = await account.create(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'media_url_not_allowed', param });
  });

  it('assets are accepted with a key that may use them', async () => {
    const account = await world.newAccount({ key: { asset_urls: true } });
    expect((await account.create({ images: ['asset://asset-1'] })).status).toBe(200);
  });
});

it.each(['mediary-7H77VMJdwZ6JvAV4sP80PR0w-1', ' MEDIARY-x-12'])(
  '400: an end-user id in the form of our own marker: %s',
  async (safety_identifier) => {
    const account = await world.newAccount();
    const answer = await account.create({ metadata: { safety_identifier } });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ param: 'metadata.safety_identifier' });
  },
);

describe('the price considers what the upstream receives', () => {
  it.each<[Record<string, unknown>, string]>([
    [{ resolution: '720p', duration: 5 }, '0.500000'],
    [{ resolution: '1080p', duration: 5 }, '1.000000'],
    [{ metadata: { resolution: '1080p', duration: 5 } }, '1.000000'],
    [{ size: '1920x1080', duration: '5s' }, '1.000000'],
    [{ resolution: '720p', duration: 12, metadata: { duration: 5 } }, '1.200000'],
    // If the duration is open, the hold covers the maximum of 12 s. If the resolution is open, the gateway requests the
    // first one listed.
    [{ duration: -1, resolution: '1080p' }, '2.400000'],
    [{ duration: -1 }, '1.200000'],
    [{ duration: 5 }, '0.500000'],
  ])('%j holds %s', async (body, held) => {
    const account = await world.newAccount();
    await account.create(body);
    expect((await account.call('GET', '/v1/balance')).body.held).toBe(held);
  });
});

describe('permissions and balance', () => {
  it('403: a model that the key may not use', async () => {
    const account = await world.newAccount({ key: { models: ['plain'] } });
    const answer = await account.create();
    expect(answer.status).toBe(403);
    expect(answer.body.error).toMatchObject({
      type: 'permission_error',
      code: 'model_not_allowed',
      param: 'model',
    });
    expect((await account.create({ model: 'plain' })).status).toBe(200);
  });

  it('403: no channel that the key may use', async () => {
    const account = await world.newAccount({ key: { channels: ['three'] } });
    expect((await account.create()).body.error).toMatchObject({
      type: 'permission_error',
      code: 'channel_not_allowed',
    });
    expect((await account.create({ model: 'other' })).status).toBe(200);
  });

  it('402: the hold does not fit, and nothing is left behind', async () => {
    const account = await world.newAccount({ credit: '0.40' });
    const headers = { 'idempotency-key': 'again' };
    const answer = await account.create({ resolution: '720p', duration: 5 }, headers);
    expect(answer.status).toBe(402);
    expect(answer.body.error).toMatchObject({
      type: 'billing_error',
      code: 'insufficient_balance',
      param: '',
    });
    expect((await account.call('GET', '/v1/videos/generations')).body.data).toEqual([]);
    await world.admin('POST', `/accounts/${account.id}/credits`, { amount: '1', reference: 'more' });
    expect((await account.create({ resolution: '720p', duration: 5 }, headers)).status).toBe(200);
  });

  it('429: unfinished tasks of the key', async () => {
    const account = await world.newAccount({ key: { concurrent_tasks: 2 } });
    await account.create();
    await account.create();
    const answer = await account.create();
    expect(answer.status).toBe(429);
    expect(answer.body.error).toMatchObject({ type: 'rate_limit_error', code: 'concurrency_limit_exceeded' });
    expect(answer.headers).toMatchObject({
      'retry-after': '5',
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '5s',
    });
  });
});

describe('Idempotency-Key', () => {
  it('the same request gets the first response again', async () => {
    const account = await world.newAccount();
    const headers = { 'idempotency-key': 'order-1' };
    const first = await account.create({ duration: 5 }, headers);
    const second = await account.create({ duration: '5' }, headers);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(second.body).toEqual(first.body);
    expect((await account.call('GET', '/v1/videos/generations')).body.data).toHaveLength(1);
    expect((await account.call('GET', '/v1/balance')).body.held).toBe('0.500000');
  });

  it('even if both spellings of the path are used', async () => {
    const { call } = await world.newAccount();
    const options = { body: videoBody, headers: { 'idempotency-key': 'order-1' } };
    const first = await call('POST', '/v1/videos/generations', options);
    const second = await call('POST', '/v1/video/generations', options);
    expect(second.body.id).toBe(first.body.id);
  });

  it('even if ten arrive at the same moment on two nodes', async () => {
    const account = await world.newAccount();
    const node = await world.startNode();
    const options = { body: videoBody, headers: { 'idempotency-key': 'rush' }, key: account.key };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? world : node).call('POST', '/v1/videos/generations', options),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
    expect((await account.call('GET', '/v1/balance')).body.held).toBe('0.500000');
  });

  it('a different body is 409', async () => {
    const account = await world.newAccount();
    const headers = { 'idempotency-key': 'order-2' };
    await account.create({}, headers);
    for (const change of [
      { prompt: 'another' },
      { metadata: { seed: 1 } },
      { metadata: { execution_expires_after: 9 } },
    ]) {
      const answer = await account.create(change, headers);
      expect([answer.status, answer.body.error.code]).toEqual([409, 'idempotency_key_reused']);
    }
  });

  it('another account’s key is a different key', async () => {
    const [one, two] = [await world.newAccount(), await world.newAccount()];
    const headers = { 'idempotency-key': 'shared' };
    const first = await one.create({}, headers);
    const second = await two.create({}, headers);
    expect(second.status).toBe(200);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('is kept 24 hours', async () => {
    const account = await world.newAccount();
    const headers = { 'idempotency-key': 'old' };
    const createdAt = Date.now();
    world.clock.stoppedAt = createdAt;
    const first = await account.create({}, headers);
    world.clock.stoppedAt = createdAt + 24 * 3_600_000 - 1;
    expect((await account.create({}, headers)).body.id).toBe(first.body.id);
    world.clock.stoppedAt = createdAt + 24 * 3_600_000;
    const later = await account.create({ prompt: 'another' }, headers);
    world.clock.stoppedAt = undefined;
    expect(later.status).toBe(200);
    expect(later.body.id).not.toBe(first.body.id);
  });

  it.each(['', 'x'.repeat(256), 'with blank', 'caf\u00e9'])('400: %j', async (key) => {
    const account = await world.newAccount();
    const answer = await account.create({}, { 'idempotency-key': key });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'invalid_parameter', param: 'Idempotency-Key' });
  });

  it.each(['x', 'x'.repeat(255), '!~#$%/\\"'])('200: %j', async (key) => {
    const account = await world.newAccount();
    expect((await account.create({}, { 'idempotency-key': key })).status).toBe(200);
  });
});

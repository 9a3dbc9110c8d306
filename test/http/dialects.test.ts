import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { ApiError, createFalClient, ValidationError } from '@fal-ai/client';
import { OpenRouter } from '@openrouter/sdk';
import OpenAI from 'openai';
import Replicate from 'replicate';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDirectoryStorage } from '../../src/results/directory-storage.ts';
import { createMediaLinks } from '../../src/results/media-links.ts';
import { pixel } from '../images/support.ts';
import { caller, type TestAccount } from '../support/client.ts';
import { useHttpWorld, type Server } from '../support/http-world.ts';

const world = useHttpWorld('http_dialects');
const file = Buffer.from('0123456789abcdef');
const storedAt = Math.floor(Date.now() / 1000);
const prompt = 'a paper boat on a rainy street';
let directory: string;
let node: Server;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'http-dialects-'));
  const storage = createDirectoryStorage(directory);
  const now = Date.now;
  const ttl = { ttlSeconds: 3_600, retentionSeconds: 86_400 };
  const links = createMediaLinks({ key: randomBytes(32), publicUrl: 'https://gateway.example', ...ttl, now });
  node = await world.startNode({
    keptResults: { storage, links, now },
    mediaUrl: links.url,
  });
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function succeed(id: string): Promise<void> {
  const name = '0.mp4';
  const storage = createDirectoryStorage(directory);
  await storage.write(`${id}/${name}`, Readable.from([file]), { mediaType: 'video/mp4' });
  const items = [
    { url: `https://cdn.example/${id}.mp4`, stored: { name, sha256: 'f'.repeat(64), at: storedAt } },
  ];
  const facts = { durationSeconds: 5, usage: { completionTokens: 7, totalTokens: 7 } };
  await world.drive.succeed(id, { kind: 'succeeded', items, facts });
}

const requestOf = async (id: string) => (await world.stores.requests.find(id))?.request;
const native = async (account: TestAccount, id: string) =>
  (await caller(node.url, account.key)('GET', `/v1/videos/generations/${id}`)).body;

describe('OpenAI', () => {
  const clientOf = ({ key }: TestAccount) =>
    new OpenAI({ apiKey: key, baseURL: `${node.url}/v1`, maxRetries: 0 });
  const refused = async (run: Promise<unknown>) => {
    const error: unknown = await run.catch((thrown: unknown) => thrown);
    if (!(error instanceof OpenAI.APIError)) throw new Error(`not refused: ${String(error)}`);
    const { status, code, param, type } = error;
    return { status, code, param, type, error };
  };

  it('a video from its creation to its file', async () => {
    const account = await world.newAccount();
    const { videos } = clientOf(account);
    const made = await videos.create({ model: 'clip', prompt, seconds: '4', size: '1280x720' });
    const queued = {
      id: expect.stringMatching(/^task_\w{22,59}$/),
      object: 'video',
      status: 'queued',
      progress: 0,
      model: 'clip',
      prompt,
      seconds: '4',
      size: '1280x720',
      created_at: expect.any(Number),
      completed_at: null,
      expires_at: null,
      error: null,
      remixed_from_video_id: null,
    };
    expect(made).toEqual(queued);
    expect(await account.balance()).toMatchObject({ held: '0.400000' });
    await world.drive.accept(made.id);
    expect(await videos.retrieve(made.id)).toEqual(queued);
    await world.stores.tasks.step(made.id, { kind: 'rendering', n: 1 });
    await world.stores.tasks.recordProgress(made.id, { progress: 40 });
    const { data: running, response } = await videos.retrieve(made.id).withResponse();
    expect(running).toEqual({ ...queued, status: 'in_progress', progress: 40 });
    expect(Number(response.headers.get('openai-poll-after-ms'))).toBeGreaterThanOrEqual(2_000);
    expect(await refused(videos.downloadContent(made.id))).toMatchObject({
      status: 409,
      code: 'result_not_ready',
    });
    await succeed(made.id);
    expect(await videos.retrieve(made.id)).toEqual({
      ...queued,
      status: 'completed',
      progress: 100,
      completed_at: expect.any(Number),
      expires_at: expect.any(Number),
    });
    const content = await videos.downloadContent(made.id);
    expect(content.headers.get('content-type')).toBe('video/mp4');
    expect(Buffer.from(await content.arrayBuffer())).toEqual(file);
    expect(await native(account, made.id)).toMatchObject({ status: 'succeeded', duration: 5 });
  });

  it('a failed video says why, and one that expired has failed too', async () => {
    const account = await world.newAccount();
    const { videos } = clientOf(account);
    const { id } = await videos.create({ model: 'clip', prompt });
    await world.drive.fail(id, { code: 'task_expired', message: 'Its deadline has passed.' });
    expect(await videos.retrieve(id)).toMatchObject({
      status: 'failed',
      error: { code: 'task_expired', message: 'Its deadline has passed.' },
      completed_at: expect.any(Number),
    });
  });

  it('a file is the first frame, and so is an image_url', async () => {
    const account = await world.newAccount();
    const { videos } = clientOf(account);
    const input_reference = await OpenAI.toFile(pixel, 'boat.png', { type: 'image/png' });
    const { id } = await videos.create({ model: 'clip', prompt, input_reference });
    const dataUrl = `data:image/png;base64,${pixel.toString('base64')}`;
    expect(await requestOf(id)).toMatchObject({ firstFrame: dataUrl, references: [] });
    const image_url = 'https://cdn.example/boat.png';
    const linked = await videos.create({ model: 'clip', prompt, input_reference: { image_url } });
    expect(await requestOf(linked.id)).toMatchObject({ firstFrame: image_url });
  });

  it('a form: a file larger than JSON may be, and fields of our own in brackets', async () => {
    const account = await world.newAccount();
    const { videos } = clientOf(account);
    const bytes = Buffer.concat([pixel, randomBytes(2_000_000)]);
    const input_reference = await OpenAI.toFile(bytes, 'boat.png', { type: 'image/png' });
    const metadata = { seed: 7, watermark: true, negative_prompt: 'rain' };
    const asked = { model: 'clip', prompt, input_reference, metadata };
    const { id } = await videos.create(asked);
    expect(await requestOf(id)).toMatchObject({
      firstFrame: `data:image/png;base64,${bytes.toString('base64')}`,
      seed: 7,
      watermark: true,
      extra: { negative_prompt: 'rain' },
    });
    const [listed] = (await videos.list()).data;
    expect(listed).toMatchObject({ id, prompt });
    const tooLarge = await OpenAI.toFile(Buffer.concat([pixel, Buffer.alloc(8 << 20)]), 'boat.png');
    expect(await refused(videos.create({ ...asked, input_reference: tooLarge }))).toMatchObject({
      status: 413,
      param: 'input_reference',
    });
    for (const name of ['prompt', 'metadata', 'metadata[style]'])
      expect(await refused(videos.create({ ...asked, [name]: input_reference }))).toMatchObject({
        status: 400,
        param: name,
      });
  });

  it('JSON, with fields of our own beside those of the dialect, and names of what is ignored', async () => {
    const account = await world.newAccount();
    const body = {
      model: 'clip',
      prompt,
      ratio: '9:16',
      resolution: '720p',
      metadata: { seed: 7 },
      user: 'u',
      unknown: 1,
      input_reference: { image_url: 'https://cdn.example/boat.png' },
    };
    const answer = await caller(node.url, account.key)('POST', '/v1/videos', { body });
    expect(answer.body).toMatchObject({ size: '720x1280', seconds: '5', warnings: ['unknown'] });
    expect(await requestOf(answer.body.id)).toMatchObject({ seed: 7, ratio: '9:16', safetyIdentifier: 'u' });
  });

  it('the same key again is the same video', async () => {
    const account = await world.newAccount();
    const { videos } = clientOf(account);
    const create = () =>
      videos.create({ model: 'clip', prompt }, { headers: { 'idempotency-key': 'once' } }).withResponse();
    const [first, second] = [await create(), await create()];
    expect(second.data.id).toBe(first.data.id);
    expect(second.response.headers.get('idempotency-replayed')).toBe('true');
    expect(await account.balance()).toMatchObject({ held: '0.500000' });
  });

  it('errors use the words of the dialect', async () => {
    const account = await world.newAccount({ credit: '0.10' });
    const { videos } = clientOf(account);
    const create = (fields: object) => refused(videos.create({ model: 'clip', prompt, ...fields }));
    expect(await create({ seconds: 'x' })).toMatchObject({ status: 400, param: 'seconds' });
    expect(await create({ size: '7x7' })).toMatchObject({ status: 400, param: 'size' });
    expect(await create({ model: 'none' })).toMatchObject({ status: 400, code: 'model_not_found' });
    expect(await create({})).toMatchObject({ status: 402, code: 'insufficient_balance' });
    expect(await create({ input_reference: { file_id: 'file-1' } })).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
      param: 'input_reference',
      error: { message: expect.stringContaining('POST /v1/files') },
    });
    const image_url = 'https://forbidden.example/a.png';
    expect(await create({ input_reference: { image_url } })).toMatchObject({
      code: 'media_url_not_allowed',
      param: 'input_reference',
    });
    const notAnImage = await OpenAI.toFile(Buffer.from('<html>'), 'a.png', { type: 'image/png' });
    expect(await create({ input_reference: notAnImage })).toMatchObject({
      code: 'invalid_parameter',
      param: 'input_reference',
    });
    const stranger = new OpenAI({ apiKey: 'sk-wrong', baseURL: `${node.url}/v1`, maxRetries: 0 });
    expect((await refused(stranger.videos.create({ model: 'clip', prompt }))).error).toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
    expect(await account.balance()).toMatchObject({ available: '0.100000', held: '0.000000' });
  });

  it('a list in both directions, page by page, without other accounts’ videos', async () => {
    const [account, other] = [await world.newAccount(), await world.newAccount()];
    const { videos } = clientOf(account);
    await clientOf(other).videos.create({ model: 'clip', prompt });
    const ids: string[] = [];
    for (const text of ['one', 'two', 'three'])
      ids.push((await videos.create({ model: 'clip', prompt: text })).id);
    const list = async (order: 'asc' | 'desc') => {
      const found: (readonly [string, string | null])[] = [];
      for await (const video of videos.list({ limit: 2, order })) found.push([video.id, video.prompt]);
      return found;
    };
    const sorted = (await world.stores.tasks.list({ account: account.id }, { limit: 9 })).tasks.map(
      ({ id }) => id,
    );
    expect(sorted.toSorted()).toEqual(ids.toSorted());
    const prompts = new Map(ids.map((id, at) => [id, ['one', 'two', 'three'][at]]));
    const expected = sorted.map((id) => [id, prompts.get(id)]);
    expect(await list('desc')).toEqual(expected);
    expect(await list('asc')).toEqual(expected.toReversed());
    expect(await refused(videos.list({ after: 'task_x' }))).toMatchObject({ status: 400, param: 'after' });
  });

  it('another account’s video and unknown ids are not found', async () => {
    const [account, other] = [await world.newAccount(), await world.newAccount()];
    const { videos } = clientOf(other);
    const { id } = await clientOf(account).videos.create({ model: 'clip', prompt });
    const unknown = { status: 404, code: 'task_not_found' };
    expect(await refused(videos.retrieve(id))).toMatchObject(unknown);
    expect(await refused(videos.downloadContent(id))).toMatchObject(unknown);
    expect(await refused(videos.delete(id))).toMatchObject(unknown);
    expect(await refused(videos.remix(id, { prompt }))).toMatchObject(unknown);
    const foreign = 'video_123';
    expect(await refused(videos.retrieve(foreign))).toMatchObject(unknown);
    expect(await refused(videos.downloadContent(foreign))).toMatchObject(unknown);
    expect(await refused(videos.delete(foreign))).toMatchObject(unknown);
    expect(await refused(videos.remix(foreign, { prompt }))).toMatchObject(unknown);
  });

  it('our own addresses stay unchanged', async () => {
    const misspelt = await node.call('POST', '/v1/videos/generation', { body: {} });
    expect([misspelt.status, misspelt.body.error.message]).toEqual([
      404,
      'No such route. Did you mean /v1/videos/generations? GET /openapi.json lists all routes.',
    ]);
    const method = await node.call('DELETE', '/v1/videos/generations');
    expect([method.status, method.headers.allow]).toEqual([405, 'POST, HEAD, GET']);
  });

  it('a variant that does not exist is a 404 that says so', async () => {
    const account = await world.newAccount();
    const { videos } = clientOf(account);
    const { id } = await videos.create({ model: 'clip', prompt });
    await succeed(id);
    const asked = (variant: 'thumbnail' | 'spritesheet') => refused(videos.downloadContent(id, { variant }));
    expect(await asked('spritesheet')).toMatchObject({
      status: 404,
      code: 'result_not_found',
      param: 'variant',
    });
    expect((await asked('thumbnail')).error.message).toContain('delivered no last frame');
  });

  it('the thumbnail is the last frame, where there is one', async () => {
    const account = await world.newAccount();
    const { videos } = clientOf(account);
    const [kept, linked] = [
      await videos.create({ model: 'clip', prompt }),
      await videos.create({ model: 'clip', prompt }),
    ];
    const lastFrame = '0-last-frame.png';
    await createDirectoryStorage(directory).write(`${kept.id}/${lastFrame}`, Readable.from([pixel]), {
      mediaType: 'image/png',
    });
    const stored = { name: '0.mp4', lastFrame, sha256: 'f'.repeat(64), at: storedAt };
    const items = (id: string) => [
      { url: `https://cdn.example/${id}.mp4`, lastFrameUrl: `https://cdn.example/${id}.png` },
    ];
    const ofKept = items(kept.id).map((item) => ({ ...item, stored }));
    await world.drive.succeed(kept.id, { kind: 'succeeded', items: ofKept, facts: {} });
    await world.drive.succeed(linked.id, { kind: 'succeeded', items: items(linked.id), facts: {} });
    const thumbnail = await videos.downloadContent(kept.id, { variant: 'thumbnail' });
    expect(thumbnail.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await thumbnail.arrayBuffer()).equals(pixel)).toBe(true);
    const path = `/v1/videos/${linked.id}/content?variant=thumbnail`;
    const elsewhere = await caller(node.url, account.key)('GET', path);
    expect([elsewhere.status, elsewhere.headers.location]).toEqual([
      302,
      `https://cdn.example/${linked.id}.png`,
    ]);
  });

  it('without our own copy, the file is the upstream’s', async () => {
    const account = await world.newAccount();
    const { id } = await clientOf(account).videos.create({ model: 'clip', prompt });
    const url = 'https://cdn.example/v.mp4?sig=x';
    await world.drive.succeed(id, { kind: 'succeeded', items: [{ url }], facts: {} });
    const answer = await caller(node.url, account.key)('GET', `/v1/videos/${id}/content`);
    expect([answer.status, answer.headers.location]).toEqual([302, url]);
  });

  it('a delete cancels an unfinished video, and reports that a finished one is kept', async () => {
    const account = await world.newAccount();
    const { videos } = clientOf(account);
    const { id } = await videos.create({ model: 'clip', prompt });
    expect(await videos.delete(id)).toEqual({ id, object: 'video.deleted', deleted: true });
    expect(await videos.retrieve(id)).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });
    expect(await account.balance()).toMatchObject({ held: '0.000000' });
    expect(await refused(videos.delete(id))).toMatchObject({ status: 409, code: 'task_not_cancellable' });
  });

  it('a remix is a new video of the same model, made from the first', async () => {
    const account = await world.newAccount();
    const { videos } = clientOf(account);
    const { id } = await videos.create({ model: 'clip', prompt, size: '720x1280' });
    expect(await refused(videos.remix(id, { prompt }))).toMatchObject({
      status: 409,
      code: 'result_not_ready',
    });
    await succeed(id);
    const remix = await videos.remix(id, { prompt: 'at night' });
    expect(remix).toMatchObject({
      model: 'clip',
      prompt: 'at night',
      remixed_from_video_id: id,
      size: '720x1280',
    });
    expect(await requestOf(remix.id)).toMatchObject({
      prompt: 'at night',
      videos: [expect.stringContaining(`https://gateway.example/media/${id}/0.mp4?`)],
      extra: { video_task: 'edit' },
    });
    const plain = await videos.create({ model: 'plain', prompt });
    await succeed(plain.id);
    expect(await refused(videos.remix(plain.id, { prompt }))).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      param: 'video_id',
    });
  });
});

describe('Ark', () => {
  const path = '/api/v3/contents/generations/tasks';
  const clientOf = ({ key }: TestAccount) => caller(node.url, key);
  const text = { type: 'text', text: prompt };
  const image = (name: string, role?: string) => ({
    type: 'image_url',
    image_url: { url: `https://cdn.example/${name}.png` },
    ...(role === undefined ? {} : { role }),
  });

  it('a task from its creation to its end', async () => {
    const account = await world.newAccount();
    const call = clientOf(account);
    const asked = {
      resolution: '720p',
      ratio: '9:16',
      duration: 4,
      seed: 11,
      generate_audio: true,
      priority: 3,
    };
    const created = await call('POST', path, {
      // The Python SDK sends null for every field its caller omits.
      body: { model: 'clip', content: [text], ...asked, safety_identifier: 'u1', tools: null, frames: null },
    });
    expect([created.status, created.body]).toEqual([
      200,
      { id: expect.stringMatching(/^task_/), safety_identifier: 'u1' },
    ]);
    const { id } = created.body;
    expect(await account.balance()).toMatchObject({ held: '0.400000' });
    expect(await requestOf(id)).toMatchObject({
      prompt,
      seed: 11,
      generateAudio: true,
      extra: { priority: 3 },
    });
    const queued = {
      id,
      model: 'clip',
      status: 'queued',
      error: null,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      execution_expires_after: 172_800,
      duration: 4,
      resolution: '720p',
      ratio: '9:16',
      seed: 11,
      generate_audio: true,
      safety_identifier: 'u1',
    };
    expect((await call('GET', `${path}/${id}`)).body).toEqual(queued);
    await world.drive.accept(id);
    await world.stores.tasks.step(id, { kind: 'rendering', n: 1 });
    const running = await call('GET', `${path}/${id}`);
    expect(running.body).toEqual({ ...queued, status: 'running' });
    expect(running.headers['retry-after']).toMatch(/^[2-5]$/);
    await succeed(id);
    expect((await call('GET', `${path}/${id}`)).body).toEqual({
      ...queued,
      status: 'succeeded',
      duration: 5,
      content: { video_url: expect.stringContaining(`https://gateway.example/media/${id}/0.mp4?`) },
      usage: { completion_tokens: 7, total_tokens: 7 },
    });
  });

  it('media have their roles, and an image alone is the first frame', async () => {
    const account = await world.newAccount();
    const create = async (...content: object[]) => {
      const { body } = await clientOf(account)('POST', path, {
        body: { model: 'clip', content: [text, ...content] },
      });
      return requestOf(body.id);
    };
    expect(await create(image('a'))).toMatchObject({
      firstFrame: 'https://cdn.example/a.png',
      references: [],
    });
    expect(await create(image('a', 'first_frame'), image('b', 'last_frame'))).toMatchObject({
      firstFrame: 'https://cdn.example/a.png',
      lastFrame: 'https://cdn.example/b.png',
    });
    const video = {
      type: 'video_url',
      video_url: { url: 'https://cdn.example/v.mp4' },
      role: 'reference_video',
    };
    const audio = { type: 'audio_url', audio_url: { url: 'https://cdn.example/a.mp3' } };
    expect(
      await create(image('a', 'reference_image'), image('b', 'reference_image'), video, audio),
    ).toMatchObject({
      references: ['https://cdn.example/a.png', 'https://cdn.example/b.png'],
      videos: ['https://cdn.example/v.mp4'],
      audios: ['https://cdn.example/a.mp3'],
    });
  });

  it.each([
    ['task_expired', 'expired', 'TaskExpired'],
    ['task_cancelled', 'cancelled', undefined],
    ['provider_error', 'failed', 'InternalServiceError'],
  ] as const)('%s is %s', async (code, status, word) => {
    const account = await world.newAccount();
    const { id } = (await clientOf(account)('POST', path, { body: { model: 'clip', content: [text] } })).body;
    await world.drive.fail(id, { code, message: 'It ended.' });
    const error = word === undefined ? null : { code: word, message: 'It ended.' };
    expect((await clientOf(account)('GET', `${path}/${id}`)).body).toMatchObject({ status, error });
    const listed = await clientOf(account)('GET', `${path}?filter.status=${status}`);
    expect(listed.body).toMatchObject({ total: 1, items: [{ id, status }] });
  });

  it('moderation uses the codes that clients look for', async () => {
    const account = await world.newAccount();
    const { id } = (await clientOf(account)('POST', path, { body: { model: 'clip', content: [text] } })).body;
    const failure = { class: 'moderation_input', input: 'image' } as const;
    await world.drive.fail(id, { code: 'provider_error', message: 'A face.', ...failure });
    expect((await clientOf(account)('GET', `${path}/${id}`)).body.error).toEqual({
      code: 'InputImageSensitiveContentDetected',
      message: 'A face.',
    });
  });

  it('errors use the words and the form of the dialect', async () => {
    const account = await world.newAccount({ credit: '0.10' });
    const create = async (fields: object) => {
      const { status, body } = await clientOf(account)('POST', path, {
        body: { model: 'clip', content: [text], ...fields },
      });
      return [status, body.error.code, body.error.param, body.error.type, Object.keys(body.error)];
    };
    const keys = ['code', 'message', 'param', 'type'];
    expect(await create({ seed: 'x' })).toEqual([400, 'InvalidParameter', 'seed', 'BadRequest', keys]);
    expect(await create({ content: undefined })).toEqual([
      400,
      'MissingParameter',
      'content',
      'BadRequest',
      keys,
    ]);
    expect(await create({ content: [image('a')] })).toEqual([
      400,
      'InvalidParameter',
      'content',
      'BadRequest',
      keys,
    ]);
    const hidden = { type: 'image_url', image_url: { url: 'https://forbidden.example/a.png' } };
    expect(await create({ content: [image('a'), text, hidden] })).toEqual([
      400, 'InvalidParameter', 'content[2].image_url', 'BadRequest', keys,
    ]); // prettier-ignore
    expect(await create({ callback_url: 'https://forbidden.example' })).toEqual([
      400, 'InvalidParameter', 'callback_url', 'BadRequest', keys,
    ]); // prettier-ignore
    expect(await create({ content: [{ type: 'draft_task', draft_task: { id: 'x' } }] })).toEqual([
      400, 'InvalidParameter', 'content[0].type', 'BadRequest', keys,
    ]); // prettier-ignore
    expect(await create({})).toEqual([402, 'AccountOverdueError', '', 'Forbidden', keys]);
    const stranger = await node.call('POST', path, { body: {} });
    expect([stranger.status, stranger.body.error]).toEqual([
      401,
      expect.objectContaining({ code: 'AuthenticationError', type: 'Unauthorized' }),
    ]);
    const unknown = await clientOf(account)('GET', `${path}/cgt-1`);
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'ResourceNotFound']);
  });

  it('a list by pages, ids and models, without other accounts’ tasks', async () => {
    const [account, other] = [await world.newAccount(), await world.newAccount()];
    const create = async ({ key }: TestAccount, model = 'clip') =>
      (await caller(node.url, key)('POST', path, { body: { model, content: [text] } })).body.id as string;
    const foreign = await create(other);
    const ids = [await create(account), await create(account), await create(account, 'plain')];
    const list = async (query: string) => {
      const { total, items } = (await clientOf(account)('GET', `${path}?${query}`)).body;
      return [total, items.map(({ id }: { id: string }) => id).toSorted()];
    };
    expect(await list('')).toEqual([3, ids.toSorted()]);
    const pages = [await list('page_num=1&page_size=2'), await list('page_num=2&page_size=2')];
    expect(pages.flatMap(([, page]) => page as string[]).toSorted()).toEqual(ids.toSorted());
    expect(await list(`filter.task_ids=${ids[0]}&filter.task_ids=${foreign}`)).toEqual([1, [ids[0]]]);
    expect(await list('filter.model=plain')).toEqual([1, [ids[2]]]);
    expect(await list('filter.status=queued')).toEqual([3, ids.toSorted()]);
    expect(await list('filter.status=succeeded')).toEqual([0, []]);
  });

  it('a delete cancels an unfinished task, and keeps a finished one', async () => {
    const account = await world.newAccount();
    const call = clientOf(account);
    const { id } = (await call('POST', path, { body: { model: 'clip', content: [text] } })).body;
    const deleted = await call('DELETE', `${path}/${id}`);
    expect([deleted.status, deleted.body]).toEqual([200, {}]);
    expect((await call('GET', `${path}/${id}`)).body).toMatchObject({ status: 'cancelled', error: null });
    const again = await call('DELETE', `${path}/${id}`);
    expect([again.status, again.body.error.code]).toEqual([409, 'OperationDenied.InvalidState']);
  });
});

describe('OpenRouter', () => {
  const clientOf = ({ key }: TestAccount) =>
    new OpenRouter({
      apiKey: key,
      serverURL: `${node.url}/api/v1`,
      retryConfig: { strategy: 'none' },
    }).videoGeneration;
  const link = (name: string) => ({
    type: 'image_url' as const,
    imageUrl: { url: `https://cdn.example/${name}.png` },
  });

  it('a video from its creation to its file', async () => {
    const account = await world.newAccount();
    const client = clientOf(account);
    const made = await client.generate({
      videoGenerationRequest: {
        model: 'clip',
        prompt,
        duration: 4,
        resolution: '720p',
        aspectRatio: '9:16',
        generateAudio: true,
        seed: 3,
        frameImages: [{ ...link('a'), frameType: 'first_frame' }],
        inputReferences: [link('b')],
      },
    });
    const { id } = made;
    expect(made).toEqual({ id, pollingUrl: `/api/v1/videos/${id}`, status: 'pending' });
    expect(await requestOf(id)).toMatchObject({
      ratio: '9:16',
      duration: 4,
      generateAudio: true,
      seed: 3,
      firstFrame: 'https://cdn.example/a.png',
      references: ['https://cdn.example/b.png'],
    });
    await world.drive.accept(id);
    await world.stores.tasks.step(id, { kind: 'rendering', n: 1 });
    expect(await client.getGeneration({ jobId: id })).toMatchObject({ status: 'in_progress' });
    await succeed(id);
    expect(await client.getGeneration({ jobId: id })).toEqual({
      id,
      pollingUrl: `/api/v1/videos/${id}`,
      status: 'completed',
      unsignedUrls: [`/api/v1/videos/${id}/content?index=0`],
      usage: { cost: 0.000001, isByok: false },
    });
    const content = await client.getVideoContent({ jobId: id });
    expect(Buffer.from(await new Response(content).arrayBuffer())).toEqual(file);
  });

  it.each([
    ['task_expired', 'expired'],
    ['task_cancelled', 'cancelled'],
    ['internal_error', 'failed'],
  ] as const)('%s is %s', async (code, status) => {
    const account = await world.newAccount();
    const client = clientOf(account);
    const { id } = await client.generate({ videoGenerationRequest: { model: 'clip', prompt } });
    await world.drive.fail(id, { code, message: 'It ended.' });
    expect(await client.getGeneration({ jobId: id })).toMatchObject({ status, error: 'It ended.' });
  });

  it('references, and names of what is ignored', async () => {
    const account = await world.newAccount();
    const { body } = await caller(node.url, account.key)('POST', '/api/v1/videos', {
      body: {
        model: 'clip',
        prompt,
        input_references: [
          { type: 'image_url', image_url: { url: 'https://cdn.example/a.png' } },
          { type: 'video_url', video_url: { url: 'https://cdn.example/v.mp4' } },
          { type: 'audio_url', audio_url: { url: 'https://cdn.example/a.mp3' } },
        ],
        session_id: 's',
      },
    });
    expect(body.warnings).toEqual(['session_id']);
    expect(await requestOf(body.id)).toMatchObject({
      references: ['https://cdn.example/a.png'],
      videos: ['https://cdn.example/v.mp4'],
      audios: ['https://cdn.example/a.mp3'],
    });
  });

  it('errors use the words and the form of the dialect', async () => {
    const account = await world.newAccount({ credit: '0.10' });
    const create = async (fields: object) => {
      const { status, body } = await caller(node.url, account.key)('POST', '/api/v1/videos', {
        body: { model: 'clip', prompt, ...fields },
      });
      return [status, body.error.code, body.error.metadata.code, body.error.metadata.param];
    };
    expect(await create({ seed: 'x' })).toEqual([400, 400, 'invalid_parameter', 'seed']);
    expect(await create({ creativity: 1 })).toEqual([400, 400, 'unsupported_parameter', 'creativity']);
    const frame = { type: 'image_url', image_url: { url: 'https://forbidden.example/a.png' } };
    expect(await create({ frame_images: [{ ...frame, frame_type: 'last_frame' }] })).toEqual([
      400, 400, 'media_url_not_allowed', 'frame_images[0]',
    ]); // prettier-ignore
    expect(await create({ model: 'plain', input_references: [{ ...frame, image_url: { url: 'https://cdn.example/a.png' } }] })).toEqual([
      400, 400, 'unsupported_parameter', 'input_references',
    ]); // prettier-ignore
    const refused = clientOf(account).generate({ videoGenerationRequest: { model: 'clip', prompt } });
    await expect(refused).rejects.toMatchObject({
      name: 'PaymentRequiredResponseError',
      error: { code: 402 },
    });
    const unknown = clientOf(account).getGeneration({ jobId: 'task_0000000000000000000000' });
    await expect(unknown).rejects.toMatchObject({ name: 'NotFoundResponseError', error: { code: 404 } });
  });

  it('the models that the key may use', async () => {
    const account = await world.newAccount({ key: { models: ['clip', 'picture'] } });
    const { data } = await clientOf(account).listVideosModels();
    expect(data).toEqual([
      expect.objectContaining({
        id: 'clip',
        supportedDurations: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
        supportedFrameImages: ['first_frame', 'last_frame'],
        supportedResolutions: ['720p', '480p', '1080p'],
        supportedAspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'],
        supportedSizes: expect.arrayContaining(['1280x720', '720x1280', '1080x1080']),
        generateAudio: true,
        seed: true,
        allowedPassthroughParameters: [],
      }),
    ]);
  });
});

describe('Replicate', () => {
  const clientOf = ({ key }: TestAccount) => new Replicate({ auth: key, baseUrl: `${node.url}/v1` });

  it('a prediction from its creation to its end', async () => {
    const account = await world.newAccount();
    const { predictions } = clientOf(account);
    const input = {
      prompt,
      duration: 4,
      aspect_ratio: '9:16',
      seed: 3,
      image: 'https://cdn.example/a.png',
      last_frame_image: 'https://cdn.example/b.png',
      motion: 'slow',
    };
    const made = await predictions.create({ version: 'clip', input });
    const { id } = made;
    const starting = {
      id,
      model: 'clip',
      version: 'hidden',
      status: 'starting',
      input: { prompt, duration: 4, resolution: '720p', aspect_ratio: '9:16', seed: 3 },
      output: null,
      error: null,
      logs: '',
      source: 'api',
      data_removed: false,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      urls: { get: `/v1/predictions/${id}`, cancel: `/v1/predictions/${id}/cancel` },
    };
    expect(made).toEqual(starting);
    expect(await requestOf(id)).toMatchObject({
      firstFrame: 'https://cdn.example/a.png',
      lastFrame: 'https://cdn.example/b.png',
      seed: 3,
      extra: { motion: 'slow' },
    });
    await world.drive.accept(id);
    await world.stores.tasks.step(id, { kind: 'rendering', n: 1 });
    expect(await predictions.get(id)).toEqual({ ...starting, status: 'processing' });
    await succeed(id);
    const output = await clientOf(account).wait(made, {});
    expect(output).toMatchObject({
      status: 'succeeded',
      output: expect.stringContaining(`https://gateway.example/media/${id}/0.mp4?`),
      completed_at: expect.any(String),
    });
  });

  it('the repeat of a create is starting until it has ended, as the client’s run expects', async () => {
    const account = await world.newAccount();
    const create = async () => {
      const headers = { 'idempotency-key': 'a-run' };
      const body = { version: 'clip', input: { prompt } };
      return (await caller(node.url, account.key)('POST', '/v1/predictions', { headers, body })).body;
    };
    const { id } = await create();
    await world.drive.accept(id);
    await world.stores.tasks.step(id, { kind: 'rendering', n: 1 });
    expect(await create()).toMatchObject({ id, status: 'starting' });
    expect(await clientOf(account).predictions.get(id)).toMatchObject({ status: 'processing' });
    await succeed(id);
    expect(await create()).toMatchObject({ id, status: 'succeeded', output: expect.any(String) });
  });

  it('a model by owner and name, whose owner may be any word', async () => {
    const account = await world.newAccount();
    const { predictions } = clientOf(account);
    const made = await predictions.create({
      model: 'anybody/clip',
      input: { prompt },
      webhook: 'https://a.example',
    });
    expect(made).toMatchObject({ model: 'clip', status: 'starting' });
    expect((await world.stores.requests.find(made.id))?.callbackUrl).toBe('https://a.example');
  });

  it('cancelled, expired and failed end the client’s wait', async () => {
    const account = await world.newAccount();
    const client = clientOf(account);
    const create = () => client.predictions.create({ version: 'clip', input: { prompt } });
    const cancelled = await create();
    expect(await client.predictions.cancel(cancelled.id)).toMatchObject({ status: 'canceled' });
    expect(await client.predictions.cancel(cancelled.id)).toMatchObject({ status: 'canceled' });
    expect(await client.wait(cancelled, {})).toMatchObject({ status: 'canceled' });
    const expired = await create();
    await world.drive.fail(expired.id, { code: 'task_expired', message: 'Its deadline has passed.' });
    await expect(client.wait(expired, {})).rejects.toThrow('Its deadline has passed.');
  });

  it('a list, page by page', async () => {
    const [account, other] = [await world.newAccount(), await world.newAccount()];
    const client = clientOf(account);
    await clientOf(other).predictions.create({ version: 'clip', input: { prompt } });
    const { id } = await client.predictions.create({ version: 'clip', input: { prompt } });
    const { results, next } = await client.predictions.list();
    expect([results.map((each) => each.id), next]).toEqual([[id], null]);
    const call = caller(node.url, account.key);
    expect((await call('GET', `/v1/predictions?cursor=${id}`)).body.results).toEqual([]);
    expect((await call('GET', '/v1/predictions?cursor=x')).status).toBe(400);
  });

  it('errors use the words and the form of the dialect', async () => {
    const account = await world.newAccount({ credit: '0.10' });
    const create = async (input: object) => {
      const { status, body } = await caller(node.url, account.key)('POST', '/v1/predictions', {
        body: { version: 'clip', input: { prompt, ...input } },
      });
      return [status, body.status, body.title, body.invalid_fields?.[0].field];
    };
    expect(await create({ seed: 'x' })).toEqual([400, 400, 'invalid_parameter', 'input.seed']);
    expect(await create({ prompt: null })).toEqual([400, 400, 'missing_parameter', 'input.prompt']);
    expect(await create({ last_frame_image: 'https://forbidden.example/a.png' })).toEqual([
      400, 400, 'media_url_not_allowed', 'input.last_frame_image',
    ]); // prettier-ignore
    expect(await create({})).toEqual([402, 402, 'insufficient_balance', undefined]);
    const stranger = new Replicate({ auth: 'sk-wrong', baseUrl: `${node.url}/v1` });
    await expect(stranger.predictions.get('task_0')).rejects.toThrow('401');
  });
});

describe('fal', () => {
  const clientOf = ({ key }: TestAccount) =>
    createFalClient({
      credentials: key,
      proxyUrl: { url: `${node.url}/fal`, when: 'always' },
      retry: { maxRetries: 0 },
    });
  const path = 'any/clip';
  const refused = async (run: Promise<unknown>): Promise<ApiError<any>> => {
    const error: unknown = await run.catch((thrown: unknown) => thrown);
    if (!(error instanceof ApiError)) throw new Error(`not refused: ${String(error)}`);
    return error;
  };

  it('a request from its submission to its result', async () => {
    const account = await world.newAccount();
    const { queue } = clientOf(account);
    const input = {
      prompt,
      duration: '4',
      aspect_ratio: '9:16',
      seed: 3,
      image_url: 'https://cdn.example/a.png',
      tail_image_url: 'https://cdn.example/b.png',
      motion: 'slow',
    };
    const webhookUrl = 'https://a.example/hook';
    const made = await queue.submit(path, { input, webhookUrl, priority: 'low' });
    const { request_id: requestId } = made;
    const self = `/fal/any/clip/requests/${requestId}`;
    const queued = {
      status: 'IN_QUEUE',
      request_id: expect.stringMatching(/^task_/),
      response_url: self,
      status_url: `${self}/status`,
      cancel_url: `${self}/cancel`,
      queue_position: 0,
      logs: [],
    };
    expect(made).toEqual(queued);
    expect(await requestOf(requestId)).toMatchObject({
      firstFrame: input.image_url,
      lastFrame: input.tail_image_url,
      duration: 4,
      ratio: '9:16',
      seed: 3,
      extra: { motion: 'slow' },
    });
    expect((await world.stores.requests.find(requestId))?.callbackUrl).toBe(webhookUrl);
    await world.drive.accept(requestId);
    expect(await queue.status(path, { requestId })).toEqual(queued);
    await world.stores.tasks.step(requestId, { kind: 'rendering', n: 1 });
    expect(await queue.status(path, { requestId, logs: true })).toMatchObject({ status: 'IN_PROGRESS' });
    const early = await refused(queue.result(path, { requestId }));
    expect([early.status, early.body.error_type]).toEqual([400, 'result_not_ready']);
    await succeed(requestId);
    await queue.subscribeToStatus(path, { requestId });
    expect(await queue.result(path, { requestId })).toEqual({
      data: {
        video: { url: expect.stringContaining(`https://gateway.example/media/${requestId}/0.mp4?`) },
        seed: 3,
      },
      requestId,
    });
    const late = await refused(queue.cancel(path, { requestId }));
    expect([late.status, late.body]).toEqual([400, { status: 'ALREADY_COMPLETED' }]);
    expect(await native(account, requestId)).toMatchObject({ status: 'succeeded' });
  });

  it('a cancelled request has ended, and its result says so', async () => {
    const account = await world.newAccount();
    const { queue } = clientOf(account);
    const { request_id: requestId } = await queue.submit(path, { input: { prompt } });
    await queue.cancel(path, { requestId });
    expect(await queue.status(path, { requestId })).toMatchObject({ status: 'COMPLETED' });
    expect(await refused(queue.result(path, { requestId }))).toMatchObject({ status: 500, requestId });
    expect(await native(account, requestId)).toMatchObject({ error: { code: 'task_cancelled' } });
    expect(await account.balance()).toMatchObject({ held: '0.000000' });
  });

  it('refused content is a ValidationError of its field', async () => {
    const account = await world.newAccount();
    const { queue } = clientOf(account);
    const { request_id: requestId } = await queue.submit(path, { input: { prompt } });
    const failure = { class: 'moderation_input', input: 'image' } as const;
    await world.drive.fail(requestId, { code: 'provider_error', message: 'It was refused.', ...failure });
    const error = await refused(queue.result(path, { requestId }));
    if (!(error instanceof ValidationError)) throw error;
    expect(error.getFieldErrors('image')).toEqual([
      { loc: ['body', 'image'], msg: 'It was refused.', type: 'content_policy_violation' },
    ]);
  });

  it('errors use the words and the form of the dialect', async () => {
    const account = await world.newAccount({ credit: '0.10' });
    const { queue } = clientOf(account);
    const submit = (input: object, model = path) => refused(queue.submit(model, { input }));
    const wrong = async (input: object) => {
      const error = await submit(input);
      if (!(error instanceof ValidationError)) throw error;
      return error.fieldErrors.map(({ loc, type }) => [type, ...loc]);
    };
    expect(await wrong({ prompt, seed: 'x' })).toEqual([['invalid_parameter', 'body', 'seed']]);
    expect(await wrong({})).toEqual([['missing_parameter', 'body', 'prompt']]);
    const forbidden = { prompt, image_url: 'https://forbidden.example/a.png' };
    expect(await wrong(forbidden)).toEqual([['media_url_not_allowed', 'body', 'image_url']]);
    expect(await submit({ prompt })).toMatchObject({
      status: 402,
      body: { error_type: 'insufficient_balance' },
    });
    expect(await submit({ prompt }, 'any/none')).toMatchObject({ body: { error_type: 'model_not_found' } });
    const stranger = clientOf({ ...account, key: 'sk-wrong' }).queue;
    expect(await refused(stranger.submit(path, { input: { prompt } }))).toMatchObject({ status: 401 });
    expect(await refused(queue.status(path, { requestId: 'task_0' }))).toMatchObject({ status: 404 });
  });

  const begun = (account: TestAccount): Promise<string> =>
    vi.waitFor(async () => {
      const { body } = await caller(node.url, account.key)('GET', '/v1/videos/generations');
      const id: unknown = body.data[0]?.id;
      if (typeof id !== 'string') throw new Error('nothing has begun yet');
      return id;
    }, 180_000);

  it('without the queue, the result is in the answer', async () => {
    const account = await world.newAccount();
    const asked = clientOf(account).run(path, { input: { prompt, seed: 3 } });
    const requestId = await begun(account);
    await world.drive.accept(requestId);
    await world.stores.tasks.step(requestId, { kind: 'rendering', n: 1 });
    await succeed(requestId);
    const url = expect.stringContaining(`https://gateway.example/media/${requestId}/0.mp4?`);
    expect(await asked).toEqual({ data: { video: { url }, seed: 3 }, requestId });
    expect(await native(account, requestId)).toMatchObject({ status: 'succeeded' });
  });

  it('without the queue, a failure looks as in the queue', async () => {
    const account = await world.newAccount();
    const asked = refused(clientOf(account).run(path, { input: { prompt } }));
    const requestId = await begun(account);
    const failure = { class: 'moderation_input', input: 'image' } as const;
    await world.drive.fail(requestId, { code: 'provider_error', message: 'It was refused.', ...failure });
    const error = await asked;
    expect([error instanceof ValidationError, error.status, error.requestId]).toEqual([true, 422, requestId]);
    const wrong = await refused(clientOf(account).run(path, { input: { prompt, seed: 'x' } }));
    expect(wrong.status).toBe(422);
  });

  it('a stream has the result as its only event', async () => {
    const account = await world.newAccount();
    const stream = await clientOf(account).stream(path, { input: { prompt } });
    const requestId = await begun(account);
    await succeed(requestId);
    const result = { video: { url: expect.stringContaining(`/media/${requestId}/0.mp4?`) } };
    expect(await stream.done()).toEqual(result);
  });

  it('a stream of statuses has each of them, and ends with the request', async () => {
    const account = await world.newAccount();
    const { queue } = clientOf(account);
    const { request_id: requestId } = await queue.submit(path, { input: { prompt } });
    const seen: string[] = [];
    const hasSeen = (status: string) => vi.waitFor(() => expect(seen).toContain(status), 180_000);
    const onQueueUpdate = ({ status }: { readonly status: string }) => void seen.push(status);
    const ended = queue.subscribeToStatus(path, { requestId, mode: 'streaming', onQueueUpdate });
    await hasSeen('IN_QUEUE');
    await world.drive.accept(requestId);
    await world.stores.tasks.step(requestId, { kind: 'rendering', n: 1 });
    await hasSeen('IN_PROGRESS');
    await succeed(requestId);
    expect(await ended).toMatchObject({ status: 'COMPLETED', request_id: requestId });
    expect([...new Set(seen)]).toEqual(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
    const unknown = await queue.streamStatus(path, { requestId: 'task_0' });
    expect(await refused(unknown.done())).toMatchObject({ status: 404 });
  });

  it('a restarting gateway ends waiting requests, and the client creates no second task', async () => {
    const account = await world.newAccount();
    const leaving = await world.startNode();
    const proxyUrl = { url: `${leaving.url}/fal`, when: 'always' } as const;
    const client = createFalClient({ credentials: account.key, proxyUrl });
    const asked = refused(client.run(path, { input: { prompt } }));
    const requestId = await begun(account);
    const statuses = await client.queue.streamStatus(path, { requestId });
    const seen: unknown[] = [];
    statuses.on('data', (status) => seen.push(status));
    await vi.waitFor(() => expect(seen).not.toEqual([]), 180_000);
    await leaving.close(60_000);
    const error = await asked;
    expect([error.status, error.requestId]).toEqual([500, requestId]);
    expect(error.message).toContain(`GET /fal/any/clip/requests/${requestId} returns it`);
    expect(await statuses.done()).toMatchObject({ status: 'IN_QUEUE' });
    const { body } = await caller(node.url, account.key)('GET', '/v1/videos/generations');
    expect(body.data).toHaveLength(1);
  });

  it('the address in the header is read for its path, and never called', async () => {
    const account = await world.newAccount();
    let called = 0;
    const server = createServer((_request, response) => void response.end(String((called += 1))));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const here = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const targets = [
      `http://${here}/any/clip`,
      `https://${here}/any/clip`,
      `https://queue.fal.run@${here}/any/clip`,
      `https://queue.fal.run.${here}/any/clip`,
      'https://fal.run.evil.example/any/clip',
      'https://x.fal.run/any/clip',
      'https://rest.fal.ai/storage/upload/initiate',
      'file:///etc/passwd',
      '//queue.fal.run/any/clip',
      'x',
    ];
    for (const target of targets) {
      const headers = { 'x-fal-target-url': target };
      const answer = await caller(node.url, account.key)('POST', '/fal', { headers, body: { prompt } });
      expect([target, answer.status]).toEqual([target, 400]);
      expect(answer.body.message).toContain('https://queue.fal.run');
    }
    const elsewhere = { 'x-fal-target-url': 'https://queue.fal.run/../../v1/balance' };
    const outside = await caller(node.url, account.key)('GET', '/fal', { headers: elsewhere });
    expect(outside.status).toBe(405);
    expect((await caller(node.url, account.key)('GET', '/fal')).status).toBe(400);
    expect(called).toBe(0);
    server.close();
    expect(await account.balance()).toMatchObject({ held: '0.000000' });
  });
});

it('a task of one interface is the same in every other, and for operators', async () => {
  const account = await world.newAccount();
  const call = caller(node.url, account.key);
  const creates = [
    ['/v1/videos/generations', { prompt }],
    ['/v1/videos', { prompt }],
    ['/api/v3/contents/generations/tasks', { content: [{ type: 'text', text: prompt }] }],
    ['/api/v1/videos', { prompt }],
    ['/v1/predictions', { input: { prompt }, version: 'clip' }],
    ['/fal/any/clip', { prompt }],
  ] as const;
  for (const [path, fields] of creates) {
    const made = (await call('POST', path, { body: { model: 'clip', ...fields } })).body;
    const id = made.id ?? made.request_id;
    const seen = [];
    for (const [read] of creates) {
      const address = read.startsWith('/fal') ? `${read}/requests/${id}/status` : `${read}/${id}`;
      const { body } = await call('GET', address);
      seen.push([body.id ?? body.request_id, body.status]);
    }
    const statuses = ['pending', 'queued', 'queued', 'pending', 'starting', 'IN_QUEUE'];
    expect([path, seen]).toEqual([path, statuses.map((status) => [id, status])]);
    expect((await world.admin('GET', `/tasks/${id}`)).body).toMatchObject({ id, account: account.id });
  }
  expect(await account.balance()).toMatchObject({ held: '3.000000' });
});

it('every interface names the id of a task as its clients do', async () => {
  const account = await world.newAccount();
  const { body: document } = await caller(node.url, account.key)('GET', '/openapi.json');
  const paths = Object.entries<Record<string, object>>(document.paths).flatMap(([path, { get }]) =>
    /\/(?:tasks|videos|predictions|requests)\/\{task_id\}$/.test(path) && get !== undefined ? [path] : [],
  );
  const namesIn = async (path: string) => {
    const { text } = await caller(node.url, account.key)(
      'GET',
      path.replace('{task_id}', 'task_0000000000000000000000').replace(/\{\w+\}/g, 'any'),
    );
    return [path, /"(task_id|video_id|jobId|prediction_id|request_id)"/.exec(text)?.[1]];
  };
  expect(Object.fromEntries(await Promise.all(paths.map(namesIn)))).toEqual({
    '/api/v1/videos/{task_id}': 'jobId',
    '/api/v3/contents/generations/tasks/{task_id}': 'task_id',
    '/fal/{owner}/{name}/requests/{task_id}': 'request_id',
    '/v1/predictions/{task_id}': 'prediction_id',
    '/v1/requests/{task_id}': 'task_id',
    '/v1/videos/{task_id}': 'video_id',
  });
});

it('every route that returns a result has the same errors for one that is pending and one that failed', async () => {
  const account = await world.newAccount();
  const call = caller(node.url, account.key);
  const { body: document } = await call('GET', '/openapi.json');
  const operations = Object.entries<Record<string, object>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => JSON.stringify(operation).includes('result_not_ready'))
      .map(([method]) => [method.toUpperCase(), path] as const),
  );
  const create = async (): Promise<string> =>
    (await call('POST', '/v1/videos/generations', { body: { model: 'clip', prompt } })).body.id;
  const [waiting, failed] = [await create(), await create()];
  await world.drive.fail(failed, { code: 'provider_error', message: 'It failed.' });
  const ask = (method: string, path: string, id: string) =>
    call(
      method,
      path.replace('{task_id}', id).replace(/\{\w+\}/g, 'any'),
      method === 'GET' ? {} : { body: { prompt } },
    );
  const seen = [];
  for (const [method, path] of operations) {
    const early = await ask(method, path, waiting);
    const late = await ask(method, path, failed);
    const codes = [early, late].map(({ text }) => /result_not_(?:ready|found)/.exec(text)?.[0]);
    seen.push([path, early.status, Number(early.headers['retry-after']) > 0, late.status, ...codes]);
  }
  const both = ['result_not_ready', 'result_not_found'];
  expect(seen.toSorted((one, other) => String(one[0]).localeCompare(String(other[0])))).toEqual([
    ['/api/v1/videos/{task_id}/content', 409, true, 404, ...both],
    ['/fal/{owner}/{name}/requests/{task_id}', 400, true, 500, both[0], undefined],
    ['/v1/videos/{task_id}/content', 409, true, 404, ...both],
    ['/v1/videos/{task_id}/remix', 409, true, 404, ...both],
  ]);
});

import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { gateway } from '../../../src/providers/gateway/gateway.ts';
import { isUnusable } from '../../../src/providers/links.ts';
import { fixture, providerContext, upstreamError, videoIssue, videoRequest } from '../support.ts';
import { videoTables } from '../vendor-tables.ts';

const video = gateway.video;
if (video === undefined) throw new Error('gateway makes no videos');
const operation = { id: 'task_5nkR8v' };
const task = 'https://gw.example/v1';
const videos = 'https://gw.example/v1/videos';

const usual = { model: 'seedance-2.0', operation, created: { json: fixture('gateway/created') } };
const tasks = videoTables(video, { ...usual, context: { baseUrl: task } });
const openai = videoTables(video, { ...usual, context: { baseUrl: videos } });

const full: Partial<VideoRequest> = {
  mode: 'pro',
  references: ['https://ex.com/a.png'],
  videos: ['https://ex.com/v.mp4'],
  resolution: '720p',
  ratio: '9:16',
  duration: 5,
  seed: 7,
  generateAudio: true,
  returnLastFrame: true,
  watermark: false,
  extra: { camera_fixed: true },
};

describe('submit', () => {
  it('uses the task dialect if the base URL names no path', async () => {
    const { submitted, sent } = await tasks.sentFor(full);
    expect(submitted).toEqual({ operation, traceId: operation.id });
    expect(sent).toMatchObject({
      method: 'POST',
      url: 'https://gw.example/v1/video/generations',
      headers: { authorization: 'Bearer test-key', 'idempotency-key': 'mediary-t1-1' },
    });
    expect(sent?.json).toEqual({
      model: 'seedance-2.0',
      prompt: 'a fox in the snow',
      mode: 'pro',
      input_type: 'reference',
      images: ['https://ex.com/a.png'],
      videos: ['https://ex.com/v.mp4'],
      resolution: '720p',
      ratio: '9:16',
      duration: 5,
      metadata: {
        camera_fixed: true,
        resolution: '720p',
        ratio: '9:16',
        duration: 5,
        seed: 7,
        generate_audio: true,
        return_last_frame: true,
        watermark: false,
        content: [
          { type: 'image_url', image_url: { url: 'https://ex.com/a.png' }, role: 'reference_image' },
          { type: 'video_url', video_url: { url: 'https://ex.com/v.mp4' }, role: 'reference_video' },
        ],
      },
    });
  });

  it('uses the OpenAI dialect if the base URL ends in /videos', async () => {
    const { sent } = await openai.sentFor({ ...full, videos: [] });
    expect(sent?.url).toBe('https://gw.example/v1/videos');
    expect(sent?.json).toMatchObject({
      seconds: '5',
      size: '720x1280',
      input_reference: 'https://ex.com/a.png',
      images: ['https://ex.com/a.png'],
      metadata: { resolution: '720p', seed: 7 },
    });
    expect(sent?.json).not.toHaveProperty('duration');
  });

  it('accepts the other spelling of the path', async () => {
    const baseUrl = 'https://gw.example/v1/videos/generations';
    const { sent } = await tasks.sentFor({ duration: 'auto' }, usual.model, { baseUrl });
    expect(sent?.url).toBe('https://gw.example/v1/videos/generations');
    expect(sent?.json).toMatchObject({ duration: -1, metadata: { duration: -1 } });
  });

  it.each([
    [{ id: 'a' }, 'a'],
    [{ task_id: 'b', status: 'processing' }, 'b'],
    [{ code: 'success', data: { id: 91, task_id: 'c' } }, 'c'],
    [{ data: { id: 'd' } }, 'd'],
    [{ id: 77 }, '77'],
    [{ request_id: 'e' }, 'e'],
  ])('finds the id in %j', async (json, id) => {
    const { sentFor } = videoTables(video, { created: { status: 201, json }, context: { baseUrl: task } });
    expect((await sentFor({})).submitted).toMatchObject({ operation: { id } });
  });

  tasks.isRefused([
    ['an invalid request', { status: 400, json: { code: 'invalid_request', message: 'm', data: null } }, 'rejected', 'invalid_request'],
    ['an invalid request with status 200', { status: 200, json: { code: 'invalid_request', message: 'm', data: null } }, 'rejected', 'invalid_request'],
    ['an error with the id of its request', { status: 200, json: { code: 'invalid_request', message: 'm', request_id: 'r' } }, 'rejected', 'invalid_request'],
    ['no quota with status 200', { status: 200, json: { code: 'quota_not_enough', message: 'm', data: null } }, 'unavailable', 'quota_not_enough'],
    ['no quota', { status: 403, json: { code: 'quota_not_enough', message: 'm' } }, 'unavailable', 'quota_not_enough'],
    ['no price', { status: 400, json: { code: 'model_price_error', message: 'm' } }, 'unavailable', 'model_price_error'],
    ['no balance', { status: 402, json: { error: { code: 'insufficient_balance', message: 'm' } } }, 'unavailable', 'insufficient_balance'],
    ['a wrong key', { status: 401, json: { error: { code: '', message: 'm', type: 'new_api_error' } } }, 'unavailable', 'http_401'],
    ['the pace', { status: 429, json: { error: { code: 'rate_limit_exceeded', message: 'm' } } }, 'throttled', 'rate_limit_exceeded'],
    ['load', { status: 503, json: { error: { code: 'service_unavailable', message: 'm' } } }, 'throttled', 'service_unavailable'],
    ['its upstream', { status: 500, json: { code: 'fail_to_fetch_task', message: 'm' } }, 'ambiguous', 'http_500'],
    ['nothing', { status: 200, json: {} }, 'ambiguous', 'unreadable_answer'],
  ]); // prettier-ignore
});

describe('status', () => {
  it('polls the path of the submission', async () => {
    const { status, sent } = await tasks.polled({ json: fixture('gateway/nested-running') });
    expect(status).toEqual({ state: 'pending', phase: 'running', progress: 50, traceId: operation.id });
    expect(sent[0]?.url).toBe('https://gw.example/v1/video/generations/task_5nkR8v');
  });

  it('reads the nested response with all its facts', async () => {
    expect(await tasks.statusOf({ json: fixture('gateway/nested-succeeded') })).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://files.example.com/a.mp4', lastFrameUrl: 'https://files.example.com/a.png' }],
      facts: {
        usage: { completionTokens: 108_900, totalTokens: 108_900 },
        durationSeconds: 5,
        resolution: '720p',
        ratio: '16:9',
      },
      traceId: operation.id,
    });
  });

  it.each([
    ['at the top, as in our own interface', { completed_at: 1_778_754_892 }],
    ['in the nested answer, as text', { data: { finish_time: '1778754892' } }],
  ])('reads when the job ended %s', async (_, over) => {
    const json = { status: 'completed', url: 'https://files.example.com/a.mp4', ...over };
    expect(await tasks.statusOf({ json })).toMatchObject({ endedAt: 1_778_754_892_500 });
  });

  it.each([
    ['old-succeeded', 'https://files.example.com/old.mp4', undefined],
    ['flat-succeeded', 'https://files.example.com/flat.mp4', 5],
    ['videos-succeeded', 'https://files.example.com/v.mp4', 5],
    ['same-interface-succeeded', 'https://files.example.com/m.mp4', 5],
  ])('reads %s', async (name, url, durationSeconds) => {
    const found = await tasks.statusOf({ json: fixture(`gateway/${name}`) });
    expect(found).toMatchObject({ state: 'succeeded', items: [{ url }] });
    expect(found?.state === 'succeeded' && found.facts.durationSeconds).toBe(durationSeconds);
  });

  it('reads the last frame and the end of a link of our own interface', async () => {
    const found = await tasks.statusOf({ json: fixture('gateway/same-interface-succeeded') });
    expect(found).toMatchObject({
      items: [{ lastFrameUrl: 'https://files.example.com/m.png', expiresAt: 1_778_841_292 }],
      facts: { usage: { completionTokens: 108_900 } },
    });
  });

  it.each([
    ['nested-failed', 'failure', 'content policy'],
    ['videos-failed', 'moderation_blocked', 'bad prompt'],
  ])('reads %s', async (name, code, message) => {
    const found = await tasks.statusOf({ json: fixture(`gateway/${name}`) });
    expect(found).toMatchObject({ state: 'failed', code, message });
  });

  it.each([
    ['queued PENDING submitted NOT_START preparing created starting UNKNOWN', { state: 'pending', phase: 'submitted' }],
    ['processing IN_PROGRESS running generating something_new', { state: 'pending', phase: 'running' }],
    ['failed FAILURE fail error cancelled canceled expired', { state: 'failed' }],
    ['completed complete SUCCESS succeeded succeed finished', { state: 'succeeded' }],
  ])('the status words %s', async (words, expected) => {
    for (const status of words.split(' ')) {
      const found = await tasks.statusOf({ json: { id: 'x', status, url: 'https://ex.com/v.mp4' } });
      expect([status, found]).toMatchObject([status, expected]);
    }
  }); // prettier-ignore

  it.each([
    [0.5, 50],
    ['50%', 50],
    [50, 50],
    ['100', 100],
    [250, 100],
    ['half', undefined],
    [undefined, undefined],
  ])('the progress %j is %s', async (progress, expected) => {
    const found = await tasks.statusOf({ json: { status: 'running', progress } });
    expect(found?.state === 'pending' && found.progress).toBe(expected);
  });

  it('a success without a link is read from /content, which may redirect', async () => {
    const completed = { json: { id: 'x', status: 'completed', seconds: '4' } };
    const redirect = {
      status: 302,
      headers: { location: 'https://files.example.com/c.mp4?Expires=1778841292' },
    };
    const { status, sent } = await openai.polled([completed, redirect]);
    expect(status).toMatchObject({
      items: [{ url: 'https://files.example.com/c.mp4?Expires=1778841292', expiresAt: 1_778_841_292 }],
      facts: { durationSeconds: 4 },
    });
    expect(sent[1]?.url).toBe('https://gw.example/v1/videos/task_5nkR8v/content');
    const content = 'https://gw.example/v1/videos/task_5nkR8v/content';
    for (const status of [200, 206])
      expect(await openai.statusOf([completed, { status, text: 'mp4' }])).toMatchObject({
        state: 'succeeded',
        items: [{ url: content }],
      });
    const refused = openai.statusOf([completed, { status: 502, json: { error: { message: 'm' } } }]);
    expect((await upstreamError(refused)).code).toBe('unreadable_answer');
  });

  it('a link to what a relay serves itself is fetched from our address of it, with the key', async () => {
    const own = 'https://gw.example/v1/videos/task_5nkR8v/content';
    const links = [
      [own, own],
      ['https://public.example/v1/videos/task_5nkR8v/content', own],
      ['https://public.example/v1/videos/task_other/content', 'https://public.example/v1/videos/task_other/content'],
      ['https://files.example.com/v1/a.mp4', 'https://files.example.com/v1/a.mp4'],
    ] as const; // prettier-ignore
    const headers = gateway.video?.linkHeaders;
    for (const [url, expected] of links) {
      for (const asked of [
        openai.statusOf({ json: { id: 'x', status: 'completed', metadata: { url } } }),
        tasks.statusOf({ json: { code: 'success', data: { status: 'SUCCESS', result_url: url } } }),
      ])
        expect(await asked).toMatchObject({ items: [{ url: expected }] });
      const context = providerContext({ baseUrl: 'https://gw.example/v1', model: 'm' });
      const sent = headers?.(expected, context);
      expect(Object.keys(sent ?? {})).toEqual(expected === own ? ['authorization'] : []);
    }
    expect(isUnusable(gateway.video ?? {})).toBe(false);
  });

  tasks.readsNoState([
    ['an unknown task', { status: 400, json: { code: 'task_not_exist', message: 'm', data: null } }, true, 'task_not_exist'],
    ['an unknown task with status 200', { status: 200, json: { code: 'task_not_exist', message: 'm', data: null } }, true, 'task_not_exist'],
    ['an unknown task in the other words', { status: 404, json: { error: { code: 'task_not_found', message: 'm' } } }, true, 'task_not_found'],
    ['a page', { status: 404, text: '<html>' }, false, 'http_404'],
    ['its upstream', { status: 500, json: { code: 'fail_to_fetch_task', message: 'm' } }, false, 'http_500'],
    ['nothing', { status: 200, json: {} }, false, 'unreadable_answer'],
  ]); // prettier-ignore
});

tasks.cancels(
  [
    ['a task', { json: { id: 'x', status: 'failed', error: { code: 'task_cancelled', message: 'm' } } }, 'cancelled'],
    ['no running task', { json: { id: 'x', status: 'running' } }, 'refused'],
    ['no task that it cannot', { status: 409, json: { error: { code: 'task_not_cancellable', message: 'm' } } }, 'refused'],
    ['nothing at a path that is not there', { status: 404, text: '<html>' }, 'refused'],
    ['nothing by a method that is not allowed', { status: 405, text: '' }, 'refused'],
    ['nothing in trouble', { status: 503, text: '' }, 'ambiguous'],
  ],
  ([sent]) =>
    expect(sent).toMatchObject({ method: 'POST', url: `${task}/video/generations/task_5nkR8v/cancel` }),
); // prettier-ignore

it('parameters in the prompt are refused, and tokens are estimated for any name', () => {
  expect(videoIssue(video, videoRequest({ prompt: 'a --rs 1080p' }), 'm')?.param).toBe('prompt');
  expect(videoIssue(video, videoRequest(), 'm')).toBeUndefined();
  const output = { resolution: '720p', ratio: '16:9', durationSeconds: 5 };
  expect(video.estimateTokens?.(videoRequest(), output, 'seedance-2.0')).toBe(108_900n);
});

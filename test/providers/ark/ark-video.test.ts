import { describe, expect, it } from 'vitest';
import { arkVideo } from '../../../src/providers/ark/ark-video.ts';
import { canned, fixture, providerContext, upstreamError, videoRequest } from '../support.ts';
import { videoTables } from '../vendor-tables.ts';

const model = 'doubao-seedance-2-0-260128';
const operation = { id: 'cgt-20260514183217-t8rzv' };

const created = { json: fixture('ark/created') };
const videos = videoTables(arkVideo, { model, operation, created });
const { statusOf, refusalOf } = videos;
const bodyOf = async (...asking: Parameters<typeof videos.sentFor>) =>
  (await videos.sentFor(...asking)).json ?? {};

describe('submit', () => {
  it('posts one request with the key, the marker and the prompt', async () => {
    const callbackUrl = 'https://gw.example/cb/x';
    const { submitted, sent } = await videos.sentFor({}, model, { callbackUrl });
    expect(submitted).toEqual({ operation, traceId: operation.id });
    expect(sent).toMatchObject({
      method: 'POST',
      url: 'https://upstream.example/api/v3/contents/generations/tasks',
      headers: { authorization: 'Bearer test-key', 'x-client-request-id': 'mediary-t1-1' },
      json: {
        model,
        content: [{ type: 'text', text: 'a fox in the snow' }],
        safety_identifier: 'mediary-t1-1',
        execution_expires_after: 172_800,
        callback_url: 'https://gw.example/cb/x',
      },
    });
  });

  it('contains only the requested fields', async () => {
    expect(Object.keys(await bodyOf({})).sort()).toEqual([
      'content',
      'execution_expires_after',
      'model',
      'safety_identifier',
    ]);
  });

  it('sends every parameter', async () => {
    const body = await bodyOf({
      resolution: '1080p',
      ratio: '21:9',
      duration: 'auto',
      seed: 7,
      watermark: false,
      generateAudio: true,
      returnLastFrame: true,
      tools: { type: 'web_search' },
      safetyIdentifier: 'user-hash',
      extra: { service_tier: 'default', priority: 3, camera_fixed: null },
    });
    expect(body).toMatchObject({
      resolution: '1080p',
      ratio: '21:9',
      duration: -1,
      seed: 7,
      watermark: false,
      generate_audio: true,
      return_last_frame: true,
      tools: [{ type: 'web_search' }],
      safety_identifier: 'user-hash',
      service_tier: 'default',
      priority: 3,
      camera_fixed: null,
    });
  });

  it('requests a draft at 480p', async () => {
    const body = await bodyOf({ draft: true }, 'doubao-seedance-1-5-pro-251215');
    expect(body).toMatchObject({ draft: true, resolution: '480p' });
  });

  it('sends no audio field to a model that generates no audio', async () => {
    const body = await bodyOf({ generateAudio: false }, 'doubao-seedance-1-0-pro-250528');
    expect(body).not.toHaveProperty('generate_audio');
  });

  it('sends frames instead of the duration', async () => {
    const body = await bodyOf({ duration: 5, extra: { frames: 121 } }, 'doubao-seedance-1-0-pro-250528');
    expect(body).toMatchObject({ frames: 121 });
    expect(body).not.toHaveProperty('duration');
  });

  it.each([
    [1, 3_600],
    [3_599, 3_600],
    [7_200, 7_200],
    [400_000, 259_200],
  ])('requests %i s left as %i s', async (remainingSeconds, expected) => {
    expect(await bodyOf({}, model, { remainingSeconds })).toHaveProperty('execution_expires_after', expected);
  });

  it.each([
    [{ firstFrame: 'https://ex.com/a.png' }, ['first_frame']],
    [{ firstFrame: 'https://ex.com/a.png', lastFrame: 'https://ex.com/b.png' }, ['first_frame', 'last_frame']],
    [{ references: ['https://ex.com/a.png', 'https://ex.com/b.png'] }, ['reference_image', 'reference_image']],
  ] as const)('%j has the roles %j', async (media, roles) => {
    const { content } = await bodyOf(media);
    expect(content).toEqual([
      { type: 'text', text: 'a fox in the snow' },
      ...roles.map((role, index) => ({
        type: 'image_url',
        image_url: { url: `https://ex.com/${['a', 'b'][index]}.png` },
        role,
      })),
    ]);
  }); // prettier-ignore

  it('sends reference videos and audio with their roles', async () => {
    const { content } = await bodyOf({
      prompt: '',
      videos: ['https://ex.com/v.mp4'],
      audios: ['https://ex.com/a.wav'],
    });
    expect(content).toEqual([
      { type: 'video_url', video_url: { url: 'https://ex.com/v.mp4' }, role: 'reference_video' },
      { type: 'audio_url', audio_url: { url: 'https://ex.com/a.wav' }, role: 'reference_audio' },
    ]);
  });
});

describe('a submit that is not accepted', () => {
  const said = (code: string) => ({
    error: { code, message: `${code} in words. Request id: 021`, type: 'x' },
  });

  it('has the code, the status and the message of the upstream', async () => {
    const error = await refusalOf({ status: 500, json: said('ModelNotOpen') });
    expect([error.outcome, error.code, error.status]).toEqual(['ambiguous', 'ModelNotOpen', 500]);
    expect(error.words).toContain('in words');
  });

  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1_500],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:27:00 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 0],
    [{ 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT' }, 86_400_000],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('%j causes a wait of %s ms', async (headers, expected) => {
    const error = await refusalOf({ status: 429, headers, json: said('RequestBurstTooFast') });
    expect(error.retryAfterMs).toBe(expected);
  });
});

describe('status', () => {
  it('asks for the one job', async () => {
    const { sent } = await videos.polled({ json: fixture('ark/queued') }, { id: 'cgt-a/../b' });
    expect(sent[0]).toMatchObject({
      method: 'GET',
      url: 'https://upstream.example/api/v3/contents/generations/tasks/cgt-a%2F..%2Fb',
      headers: { authorization: 'Bearer test-key' },
    });
  });

  videos.readsPart([
    ['queued', { json: fixture('ark/queued') }, { state: 'pending', phase: 'submitted' }],
    ['running', { json: fixture('ark/running') }, { state: 'pending', phase: 'running' }],
    ...['paused', '', 'SUCCEEDED', null, 5, undefined].map((status) => {
      const answer = { json: { id: 'cgt-a', status } };
      return [`in the unknown status ${status}`, answer, { state: 'pending', phase: 'running' }] as const;
    }),
    ['expired', { json: { id: 'cgt-a', status: 'expired' } }, { state: 'failed', code: 'upstream_expired' }],
    ['cancelled', { json: { id: 'cgt-a', status: 'cancelled' } }, { state: 'failed', code: 'upstream_cancelled' }],
    ['failed in silence', { json: { id: 'cgt-a', status: 'failed', error: null } }, { state: 'failed', code: 'failed' }],
  ]); // prettier-ignore

  it('a success contains the file, the last frame, its end and its usage', async () => {
    expect(await statusOf({ json: fixture('ark/succeeded') })).toEqual({
      state: 'succeeded',
      items: [
        {
          url: expect.stringContaining('a.mp4?X-Tos-'),
          lastFrameUrl: expect.stringContaining('a.png'),
          expiresAt: Date.UTC(2026, 4, 15, 10, 34, 52) / 1000,
        },
      ],
      facts: {
        usage: { completionTokens: 108_900, totalTokens: 108_900 },
        durationSeconds: 5,
        resolution: '720p',
        ratio: '16:9',
        generateAudio: true,
      },
      endedAt: 1_778_754_892_500,
      traceId: operation.id,
    });
  });

  it('without usage and with frames, the duration is computed, and the link is valid for a day', async () => {
    expect(await statusOf({ json: fixture('ark/succeeded-frames') })).toMatchObject({
      items: [{ url: 'https://files.example.com/b.mp4', expiresAt: 1_778_754_737 + 86_400 }],
      facts: { durationSeconds: 121 / 24, resolution: '480p', ratio: '16:9' },
    });
    const status = await statusOf({ json: fixture('ark/succeeded-frames') });
    expect(status?.state === 'succeeded' && status.facts).not.toHaveProperty('usage');
  });

  it('a success without a file reports no state', async () => {
    const error = await upstreamError(statusOf({ json: { id: 'cgt-a', status: 'succeeded', content: {} } }));
    expect(error.code).toBe('unreadable_answer');
  });

  it('a failure contains the upstream’s code and message', async () => {
    expect(await statusOf({ json: fixture('ark/failed') })).toMatchObject({
      state: 'failed',
      code: 'OutputVideoSensitiveContentDetected',
      message: expect.stringContaining('sensitive information'),
    });
  });

  it.each([
    [{ status: 404, json: { error: { code: 'ResourceNotFound', message: 'm' } } }, true],
    [{ status: 404, json: { error: { code: 'NotFound.id', message: 'm' } } }, true],
    [{ status: 404, json: { error: { code: 'InvalidEndpointOrModel.NotFound', message: 'm' } } }, false],
    [{ status: 404, text: '<html>' }, false],
    [{ status: 500, json: { error: { code: 'InternalServiceError', message: 'm' } } }, false],
    [{ status: 502, text: '<html>' }, false],
    [{ status: 200, text: '<html>' }, false],
    [{ status: 200, json: { id: 5 } }, false],
  ])('%j reports no state (gone: %s)', async (answer, gone) => {
    expect((await upstreamError(statusOf(answer))).gone).toBe(gone);
  });
});

describe('list', () => {
  it('requests many jobs at once and omits those without the facts for the charge', async () => {
    const upstream = canned({ json: fixture('ark/list') });
    const operations = ['cgt-a', 'cgt-b', 'cgt-c', 'cgt-d', 'cgt-e', 'cgt-z'].map((id) => ({ id }));
    const found = await arkVideo.list?.(operations, providerContext({ request: upstream.request }));
    expect(upstream.sent[0]?.url).toBe(
      'https://upstream.example/api/v3/contents/generations/tasks?page_num=1&page_size=140' +
        '&filter.task_ids=cgt-a&filter.task_ids=cgt-b&filter.task_ids=cgt-c&filter.task_ids=cgt-d' +
        '&filter.task_ids=cgt-e&filter.task_ids=cgt-z',
    );
    expect([...(found?.keys() ?? [])]).toEqual(['cgt-a', 'cgt-c', 'cgt-d', 'cgt-e']);
    expect(found?.get('cgt-d')).toMatchObject({
      state: 'failed',
      code: 'InternalServiceError',
      message: 'internal',
    });
    expect(found?.get('cgt-e')).toMatchObject({
      state: 'failed',
      code: 'failed',
      message: 'the words alone',
    });
  });

  it('a response that is not a list reports no state', async () => {
    const upstream = canned({ json: { total: 0 } });
    const asked = arkVideo.list?.([operation], providerContext({ request: upstream.request }));
    expect((await upstreamError(asked ?? Promise.resolve())).code).toBe('unreadable_answer');
  });
});

const methodsOf = (sent: readonly { readonly method: string }[]) => sent.map(({ method }) => method);
const queued = { json: fixture('ark/queued') };
const json = { error: { code: 'InvalidAction.RunningTaskDeletion', message: 'running' } };
videos.cancels(
  [
    ['a queued job by deleting it', [queued, { json: {} }], 'cancelled'],
    ['a queued job, without words', [queued, { status: 204, text: '' }], 'cancelled'],
    ['no job that began to run meanwhile', [queued, { status: 409, json }], 'refused'],
    ['no job in trouble', [queued, { status: 502, text: '' }], 'ambiguous'],
  ],
  (sent) => expect(methodsOf(sent)).toEqual(['GET', 'DELETE']),
);
videos.cancels(
  [
    ...['running', 'succeeded', 'failed'].map(
      (name) =>
        [`no ${name} job, and never deletes it`, { json: fixture(`ark/${name}`) }, 'refused'] as const,
    ),
    ['no job twice', { json: { id: 'cgt-a', status: 'cancelled' } }, 'cancelled'],
  ],
  (sent) => expect(methodsOf(sent)).toEqual(['GET']),
);

describe('find', () => {
  const at = 1_778_754_737_000;
  const lost = {
    request: videoRequest(),
    marker: 'mediary-t1-1',
    sentAfter: at - 5_000,
    sentBefore: at + 60_000,
  };
  const job = (id: string, over: object) => ({
    id,
    status: 'queued',
    created_at: at / 1000,
    safety_identifier: lost.marker,
    ...over,
  });
  const find = async (...pages: unknown[][]) => {
    const upstream = canned(...pages.map((items) => ({ json: { total: 0, items } })));
    const found = await arkVideo.find?.(lost, providerContext({ request: upstream.request }));
    return { ids: found?.map((entry) => entry.operation.id), requests: upstream.sent.length };
  };

  it('recognises the marker within the window', async () => {
    const page = [
      job('cgt-other', { safety_identifier: 'mediary-t2-1' }),
      job('cgt-unmarked', { safety_identifier: undefined }),
      job('cgt-old', { created_at: at / 1000 - 60 }),
      job('cgt-late', { created_at: at / 1000 + 120 }),
      job('cgt-ours', {}),
    ];
    expect(await find(page)).toEqual({ ids: ['cgt-ours'], requests: 1 });
  });

  it('reads every page and counts a job once', async () => {
    const full = Array.from({ length: 100 }, (_, index) => job(`cgt-${index}`, { safety_identifier: 'x' }));
    const first = [...full.slice(1), job('cgt-ours', {})];
    expect(await find(first, [job('cgt-ours', {})])).toEqual({ ids: ['cgt-ours'], requests: 2 });
  });

  it('finds nothing if there is no job', async () => {
    expect(await find([])).toEqual({ ids: [], requests: 1 });
  });
});

videos.hears([
  [fixture('ark/succeeded'), true],
  [fixture('ark/failed'), true],
  [{ id: 'x', status: 'expired' }, true],
  [{ id: 'x', status: 'cancelled' }, true],
  [fixture('ark/running'), false],
  [fixture('ark/queued'), false],
  [null, false],
  ['succeeded', false],
  [{}, false],
]);

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/models/request.ts';
import { arkVideo } from '../../../src/providers/ark/ark-video.ts';
import { arkFacts } from '../../../src/providers/ark/ark-facts.ts';
import {
  callback,
  canned,
  fixture,
  providerContext,
  submitContext,
  upstreamError,
  videoRequest,
} from '../support.ts';
import type { CannedAnswer } from '../support.ts';

const model = 'doubao-seedance-2-0-260128';
const operation = { id: 'cgt-20260514183217-t8rzv' };

async function bodyOf(
  request: Parameters<typeof videoRequest>[0],
  context: Parameters<typeof submitContext>[0] = {},
) {
  const upstream = canned({ json: fixture('ark/created') });
  await arkVideo.submit(
    videoRequest(request),
    submitContext({ model, ...context, request: upstream.request }),
  );
  return upstream.sent[0]?.json ?? {};
}

describe('submit', () => {
  it('posts one request with the key, the marker and the prompt', async () => {
    const upstream = canned({ json: fixture('ark/created') });
    const context = submitContext({
      model,
      request: upstream.request,
      callbackUrl: 'https://gw.example/cb/x',
    });
    const submitted = await arkVideo.submit(videoRequest(), context);
    expect(submitted).toEqual({ operation, traceId: operation.id });
    expect(upstream.sent).toHaveLength(1);
    expect(upstream.sent[0]).toMatchObject({
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

  it('names nothing that was not asked for', async () => {
    expect(Object.keys(await bodyOf({})).sort()).toEqual([
      'content',
      'execution_expires_after',
      'model',
      'safety_identifier',
    ]);
  });

  it('carries every parameter', async () => {
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

  it('a draft is asked for at 480p', async () => {
    const body = await bodyOf({ draft: true }, { model: 'doubao-seedance-1-5-pro-251215' });
    expect(body).toMatchObject({ draft: true, resolution: '480p' });
  });

  it('a model that generates no audio gets no field for it', async () => {
    const body = await bodyOf({ generateAudio: false }, { model: 'doubao-seedance-1-0-pro-250528' });
    expect(body).not.toHaveProperty('generate_audio');
  });

  it('frames take the place of the duration', async () => {
    const body = await bodyOf(
      { duration: 5, extra: { frames: 121 } },
      { model: 'doubao-seedance-1-0-pro-250528' },
    );
    expect(body).toMatchObject({ frames: 121 });
    expect(body).not.toHaveProperty('duration');
  });

  it.each([
    [1, 3_600],
    [3_599, 3_600],
    [7_200, 7_200],
    [400_000, 259_200],
  ])('%i s left are asked for as %i s', async (remainingSeconds, expected) => {
    expect(await bodyOf({}, { remainingSeconds })).toHaveProperty('execution_expires_after', expected);
  });

  it.each([
    [{ firstFrame: 'https://ex.com/a.png' }, ['first_frame']],
    [
      { firstFrame: 'https://ex.com/a.png', lastFrame: 'https://ex.com/b.png' },
      ['first_frame', 'last_frame'],
    ],
    [
      { references: ['https://ex.com/a.png', 'https://ex.com/b.png'] },
      ['reference_image', 'reference_image'],
    ],
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
  });

  it('reference videos and audios have their roles', async () => {
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

  it('metadata never overrides what the gateway decides, and everything else passes as it came', async () => {
    const { reserved = [] } = arkFacts.others;
    const own = new Set(reserved);
    const name = fc.oneof(fc.constantFrom(...reserved, 'service_tier', 'camera_fixed'), fc.string());
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, fc.jsonValue()), async (extra) => {
        const plain = await bodyOf({ resolution: '480p', duration: 5 });
        const body = await bodyOf({ resolution: '480p', duration: 5, extra: withoutFrames(extra) });
        for (const field of reserved) expect(body[field]).toEqual(plain[field]);
        const passed = Object.entries(withoutFrames(extra)).filter(([field]) => !own.has(field));
        expect(passed.map(([field]) => [field, Object.getOwnPropertyDescriptor(body, field)?.value])).toEqual(
          passed,
        );
      }),
    );
  });

  function withoutFrames(extra: Record<string, unknown>): JsonObject {
    return Object.fromEntries(Object.entries(extra).filter(([name]) => name !== 'frames')) as Record<
      string,
      JsonValue
    >;
  }
});

describe('a submit that is not accepted', () => {
  const failed = (answer: CannedAnswer) =>
    upstreamError(arkVideo.submit(videoRequest(), submitContext({ model, request: canned(answer).request })));
  const said = (code: string) => ({
    error: { code, message: `${code} in words. Request id: 021`, type: 'x' },
  });

  it.each([
    [400, 'MissingParameter', 'rejected'],
    [400, 'MissingParameter.content', 'rejected'],
    [400, 'InvalidParameter', 'rejected'],
    [400, 'InvalidParameter.ratio', 'rejected'],
    [400, 'InvalidParameter.UnsupportedParameter', 'rejected'],
    [400, 'InvalidEndpoint.ClosedEndpoint', 'unavailable'],
    [400, 'SensitiveContentDetected', 'rejected'],
    [400, 'SensitiveContentDetected.SevereViolation', 'rejected'],
    [400, 'SensitiveContentDetected.Violence', 'rejected'],
    [400, 'InputTextSensitiveContentDetected', 'rejected'],
    [400, 'InputImageSensitiveContentDetected.PrivacyInformation', 'rejected'],
    [400, 'InputVideoSensitiveContentDetected.PolicyViolation', 'rejected'],
    [400, 'InputAudioSensitiveContentDetected', 'rejected'],
    [400, 'OutputVideoSensitiveContentDetected.PolicyViolation', 'rejected'],
    [401, 'AuthenticationError', 'unavailable'],
    [401, 'InvalidAccountStatus', 'unavailable'],
    [403, 'AccessDenied', 'unavailable'],
    [403, 'AccountOverdueError', 'unavailable'],
    [403, 'OperationDenied.ServiceNotOpen', 'unavailable'],
    [403, 'OperationDenied.ServiceOverdue', 'unavailable'],
    [404, 'InvalidEndpointOrModel.NotFound', 'unavailable'],
    [404, 'InvalidEndpointOrModel.ModelIDAccessDisabled', 'unavailable'],
    [404, 'ModelNotOpen', 'unavailable'],
    [404, 'NotFound.draft_task', 'rejected'],
    [409, 'InvalidAction.RunningTaskDeletion', 'rejected'],
    [429, 'RateLimitExceeded.EndpointRPMExceeded', 'throttled'],
    [429, 'RateLimitExceeded.EndpointTPMExceeded', 'throttled'],
    [429, 'ModelAccountRpmRateLimitExceeded', 'throttled'],
    [429, 'ModelAccountTpmRateLimitExceeded', 'throttled'],
    [429, 'ModelAccountIpmRateLimitExceeded', 'throttled'],
    [429, 'APIAccountRpmRateLimitExceeded', 'throttled'],
    [429, 'AccountRateLimitExceeded', 'throttled'],
    [429, 'InflightBatchsizeExceeded', 'throttled'],
    [429, 'ServerOverloaded', 'throttled'],
    [429, 'RequestBurstTooFast', 'throttled'],
    [429, 'QuotaExceeded', 'unavailable'],
    [429, 'SetLimitExceeded', 'unavailable'],
    [500, 'InternalServiceError', 'ambiguous'],
    [500, 'ModelNotOpen', 'ambiguous'],
    [502, 'InternalServiceError', 'ambiguous'],
    [503, 'ServiceUnavailable', 'throttled'],
    [504, 'InternalServiceError', 'ambiguous'],
  ])('%i %s is %s', async (status, code, outcome) => {
    const error = await failed({ status, json: said(code) });
    expect([error.outcome, error.code, error.status]).toEqual([outcome, code, status]);
    expect(error.words).toContain('in words');
  });

  it.each([
    [302, 'unavailable'],
    [400, 'unavailable'],
    [404, 'unavailable'],
    [408, 'ambiguous'],
    [413, 'rejected'],
    [429, 'throttled'],
    [500, 'ambiguous'],
    [502, 'ambiguous'],
    [503, 'ambiguous'],
    [504, 'ambiguous'],
  ])('%i with a page of an edge proxy is %s', async (status, outcome) => {
    const error = await failed({ status, text: '<html>Bad gateway</html>' });
    expect([error.outcome, error.code]).toEqual([outcome, `http_${status}`]);
  });

  it.each([
    [{ text: '' }],
    [{ text: '<html>' }],
    [{ json: {} }],
    [{ json: { id: '' } }],
    [{ json: { id: 7 } }],
    [{ json: null }],
    [{ json: [] }],
    [{ status: 204, text: '' }],
    [{ json: { error: { code: 'X' } } }],
  ])('a success without an id is ambiguous: %j', async (answer) => {
    const error = await failed(answer);
    expect([error.outcome, error.code]).toEqual(['ambiguous', 'unreadable_answer']);
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
  ])('%j is waited for %s ms', async (headers, expected) => {
    const error = await failed({ status: 429, headers, json: said('RequestBurstTooFast') });
    expect(error.retryAfterMs).toBe(expected);
  });
});

describe('status', () => {
  const statusOf = (answer: CannedAnswer) =>
    arkVideo.status(operation, providerContext({ model, request: canned(answer).request }));

  it('asks for the one job', async () => {
    const upstream = canned({ json: fixture('ark/queued') });
    await arkVideo.status({ id: 'cgt-a/../b' }, providerContext({ request: upstream.request }));
    expect(upstream.sent[0]).toMatchObject({
      method: 'GET',
      url: 'https://upstream.example/api/v3/contents/generations/tasks/cgt-a%2F..%2Fb',
      headers: { authorization: 'Bearer test-key' },
    });
  });

  it('queued and running are pending', async () => {
    expect(await statusOf({ json: fixture('ark/queued') })).toMatchObject({
      state: 'pending',
      phase: 'submitted',
    });
    expect(await statusOf({ json: fixture('ark/running') })).toMatchObject({
      state: 'pending',
      phase: 'running',
    });
  });

  it.each(['paused', '', 'SUCCEEDED', null, 5, undefined])(
    'the unknown status %j is running',
    async (status) => {
      const json = { id: 'cgt-a', status };
      expect(await statusOf({ json })).toMatchObject({ state: 'pending', phase: 'running' });
    },
  );

  it('succeeded has the file, the last frame, its end and what it consumed', async () => {
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

  it('without usage and with frames: the duration is computed, the link lives a day', async () => {
    expect(await statusOf({ json: fixture('ark/succeeded-frames') })).toMatchObject({
      items: [{ url: 'https://files.example.com/b.mp4', expiresAt: 1_778_754_737 + 86_400 }],
      facts: { durationSeconds: 121 / 24, resolution: '480p', ratio: '16:9' },
    });
    const status = await statusOf({ json: fixture('ark/succeeded-frames') });
    expect(status.state === 'succeeded' && status.facts).not.toHaveProperty('usage');
  });

  it('a success without a file reports no state', async () => {
    const error = await upstreamError(statusOf({ json: { id: 'cgt-a', status: 'succeeded', content: {} } }));
    expect(error.code).toBe('unreadable_answer');
  });

  it('failed has the upstream code and words', async () => {
    expect(await statusOf({ json: fixture('ark/failed') })).toMatchObject({
      state: 'failed',
      code: 'OutputVideoSensitiveContentDetected',
      message: expect.stringContaining('sensitive information'),
    });
    const bare = { id: 'cgt-a', status: 'failed', error: null };
    expect(await statusOf({ json: bare })).toMatchObject({ state: 'failed', code: 'failed' });
  });

  it.each([
    ['expired', 'upstream_expired'],
    ['cancelled', 'upstream_cancelled'],
  ])('%s is a failure of its own', async (status, code) => {
    expect(await statusOf({ json: { id: 'cgt-a', status } })).toMatchObject({ state: 'failed', code });
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
  it('asks for many jobs at once and leaves out what lacks the facts of the charge', async () => {
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

  it('an answer that is not a list reports no state', async () => {
    const upstream = canned({ json: { total: 0 } });
    const asked = arkVideo.list?.([operation], providerContext({ request: upstream.request }));
    expect((await upstreamError(asked ?? Promise.resolve())).code).toBe('unreadable_answer');
  });
});

describe('cancel', () => {
  const cancel = (...answers: CannedAnswer[]) => {
    const upstream = canned(...answers);
    const asked = arkVideo.cancel?.(operation, providerContext({ request: upstream.request }));
    return { sent: upstream.sent, asked: asked ?? Promise.reject(new Error('no cancel')) };
  };

  it.each([{ json: {} }, { status: 204, text: '' }])('deletes a queued job; %j is a yes', async (answer) => {
    const { sent, asked } = cancel({ json: fixture('ark/queued') }, answer);
    expect(await asked).toBe('cancelled');
    expect(sent.map(({ method }) => method)).toEqual(['GET', 'DELETE']);
  });

  it.each(['running', 'succeeded', 'failed'])('never deletes a %s job', async (name) => {
    const { sent, asked } = cancel({ json: fixture(`ark/${name}`) });
    expect(await asked).toBe('refused');
    expect(sent).toHaveLength(1);
  });

  it('a job that is cancelled already is', async () => {
    expect(await cancel({ json: { id: 'cgt-a', status: 'cancelled' } }).asked).toBe('cancelled');
  });

  it('a job that began to run meanwhile continues', async () => {
    const json = { error: { code: 'InvalidAction.RunningTaskDeletion', message: 'running' } };
    expect(await cancel({ json: fixture('ark/queued') }, { status: 409, json }).asked).toBe('refused');
  });

  it('an upstream in trouble reports no state', async () => {
    const { asked } = cancel({ json: fixture('ark/queued') }, { status: 502, text: '' });
    expect((await upstreamError(asked)).outcome).toBe('ambiguous');
  });
});

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

  it('recognises the marker inside the window', async () => {
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

  it('finds nothing where nothing is', async () => {
    expect(await find([])).toEqual({ ids: [], requests: 1 });
  });
});

it.each([
  [fixture('ark/succeeded'), true],
  [fixture('ark/failed'), true],
  [{ id: 'x', status: 'expired' }, true],
  [{ id: 'x', status: 'cancelled' }, true],
  [fixture('ark/running'), false],
  [fixture('ark/queued'), false],
  [null, false],
  ['succeeded', false],
  [{}, false],
])('a callback that says %j ends the wait: %s', (body, ended) => {
  expect(arkVideo.parseCallback?.(callback(body))).toEqual({ ended });
});

import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { createGuardedClient } from '../../../src/http-client/guarded-client.ts';
import { arkVideo } from '../../../src/providers/ark/ark-video.ts';
import type { OperationStatus, ProviderContext, SubmitContext } from '../../../src/providers/provider.ts';
import { providerContext, submitContext, upstreamError, videoIssue, videoRequest } from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

const pro1 = 'doubao-seedance-1-0-pro-250528';
const pro15 = 'doubao-seedance-1-5-pro-251215';
const pro2 = 'doubao-seedance-2-0-260128';
const mini = 'doubao-seedance-2-0-mini-260615';
const pro25 = 'doubao-seedance-2-5-260628';

const simulator = useSimulator({ renderSeconds: 80 });

const base = () => ({ request: simulator.request, baseUrl: `${simulator.url}/ark/api/v3` });
const context = (over: Partial<ProviderContext> = {}) => providerContext({ ...base(), ...over });

function submit(asked: Partial<VideoRequest>, over: Partial<SubmitContext> = {}) {
  return arkVideo.submit(videoRequest(asked), submitContext({ model: pro2, ...base(), ...over }));
}

async function render(
  asked: Partial<VideoRequest>,
  over: Partial<SubmitContext> = {},
): Promise<OperationStatus> {
  const { operation } = await submit(asked, over);
  simulator.control.advance(100);
  return arkVideo.status(operation, context());
}

describe('a job', () => {
  it('is queued, runs, and ends with a link that works, a last frame and its usage', async () => {
    const { operation } = await submit({
      resolution: '480p',
      ratio: '16:9',
      duration: 5,
      returnLastFrame: true,
    });
    expect(operation.id).toMatch(/^cgt-/);
    expect(await arkVideo.status(operation, context())).toMatchObject({
      state: 'pending',
      phase: 'submitted',
    });
    simulator.control.advance(20);
    expect(await arkVideo.status(operation, context())).toMatchObject({ state: 'pending', phase: 'running' });
    simulator.control.advance(80);
    const status = await arkVideo.status(operation, context());
    expect(status).toMatchObject({
      state: 'succeeded',
      facts: {
        usage: { completionTokens: 50_638, totalTokens: 50_638 },
        durationSeconds: 5,
        resolution: '480p',
        ratio: '16:9',
      },
    });
    const item = status.state === 'succeeded' ? status.items[0] : undefined;
    expect(item?.lastFrameUrl).toBeDefined();
    const nowSeconds = Date.now() / 1000 + 100;
    expect(item?.expiresAt).toBeGreaterThan(nowSeconds + 23 * 3600);
    expect(item?.expiresAt).toBeLessThan(nowSeconds + 25 * 3600);
    const guarded = createGuardedClient({ networks: ['127.0.0.0/8'] });
    const media = await guarded.openMedia({ url: item?.url ?? '', maxBytes: 10_000_000, timeoutMs: 30_000 });
    expect(media.mediaType).toBe('video/mp4');
    for await (const chunk of media.body) expect(chunk.byteLength).toBeGreaterThan(0);
    await guarded.close();
  });

  it.each<[string, string, Partial<VideoRequest>]>([
    ['text', pro1, { resolution: '1080p', ratio: '21:9', duration: 12, seed: 7, watermark: true }],
    ['a first frame', pro1, { firstFrame: 'https://ex.com/a.png' }],
    ['two frames', pro15, { firstFrame: 'https://ex.com/a.png', lastFrame: 'https://ex.com/b.png' }],
    ['a draft', pro15, { draft: true }],
    ['sound', pro15, { generateAudio: true, duration: 'auto' }],
    ['no sound for a silent model', pro1, { generateAudio: false }],
    ['frames', pro1, { duration: 5, extra: { frames: 29 } }],
    ['a flex tier', pro15, { extra: { service_tier: 'flex' } }],
    ['a tool', pro2, { tools: { type: 'web_search' } }],
    ['2.5 with thirty seconds', pro25, { resolution: '1080p', ratio: '21:9', duration: 30 }],
    ['2.5 as a draft', pro25, { draft: true }],
    ['2.5 with a frame', pro25, { firstFrame: 'https://ex.com/a.png', ratio: 'adaptive' }],
    ['2.5 with audio alone', pro25, { audios: ['https://ex.com/a.wav'] }],
    [
      '2.5 that edits',
      pro25,
      {
        videos: ['https://ex.com/a.mp4'],
        duration: 'auto',
        extra: { video_task: 'edit' },
      },
    ],
    [
      '2.5 that extends',
      pro25,
      {
        videos: ['https://ex.com/a.mp4'],
        duration: 10,
        extra: { video_task: 'extend' },
      },
    ],
    ['2.0 mini', mini, { resolution: '720p', ratio: '9:16', duration: 4 }],
    ['4k', 'dreamina-seedance-2-0-260128', { resolution: '4k' }],
    [
      'references of every kind',
      pro2,
      {
        references: ['https://ex.com/a.png', 'https://ex.com/b.png'],
        videos: ['https://ex.com/a.mp4'],
        audios: ['https://ex.com/a.wav'],
        duration: 15,
        ratio: 'adaptive',
      },
    ],
  ])('of %s passes our check, is accepted and succeeds', async (_, model, asked) => {
    expect(videoIssue(arkVideo, videoRequest(asked), model)).toBeUndefined();
    expect(await render(asked, { model })).toMatchObject({ state: 'succeeded' });
  });

  it('never costs more tokens than were estimated', async () => {
    for (const model of [pro1, pro15, pro2, pro25]) {
      for (const resolution of ['480p', '720p', '1080p']) {
        for (const ratio of ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9']) {
          const asked = { resolution, ratio, duration: 5 };
          const status = await render(asked, { model });
          const used = status.state === 'succeeded' ? status.facts.usage?.completionTokens : undefined;
          const output = { resolution, ratio, durationSeconds: 5 };
          expect([model, resolution, ratio, used]).toEqual([
            model,
            resolution,
            ratio,
            Number(arkVideo.estimateTokens?.(videoRequest(asked), output, model)),
          ]);
        }
      }
    }
  });

  it('that the upstream fails keeps its code', async () => {
    expect(await render({ prompt: 'a [sim:failed]' })).toMatchObject({ state: 'failed' });
    expect(await render({ prompt: 'a [sim:moderation-in-task]' })).toMatchObject({
      state: 'failed',
      code: expect.stringContaining('SensitiveContentDetected'),
    });
  });

  it('that the upstream refuses fails for its input, with its words', async () => {
    const error = await upstreamError(submit({ resolution: '240p' }));
    const failure = { class: 'invalid_input', field: 'resolution' };
    expect([error.outcome, error.failure]).toEqual(['rejected', failure]);
    expect(error.words).toContain('`resolution`');
  });

  it('of a status that goes unknown is running', async () => {
    const { operation } = await submit({ prompt: 'a [sim:unknown-status]' });
    simulator.control.advance(20);
    expect(await arkVideo.status(operation, context())).toMatchObject({ state: 'pending', phase: 'running' });
  });

  it('without usage has none', async () => {
    const status = await render({ prompt: 'a [sim:missing-usage]', resolution: '720p' });
    expect(status.state === 'succeeded' && status.facts).toMatchObject({
      resolution: '720p',
      durationSeconds: 5,
    });
    expect(status.state === 'succeeded' && status.facts.usage).toBeUndefined();
  });

  it('whose record is gone is gone', async () => {
    const { operation } = await submit({ prompt: 'a [sim:vanishes]' });
    simulator.control.advance(50);
    expect((await upstreamError(arkVideo.status(operation, context()))).gone).toBe(true);
    expect((await upstreamError(arkVideo.status({ id: 'cgt-nothing' }, context()))).gone).toBe(true);
  });

  it('that outlives its time is expired', async () => {
    const { operation } = await submit({ prompt: 'a [sim:never-finishes]' }, { remainingSeconds: 1 });
    simulator.control.advance(4_000);
    expect(await arkVideo.status(operation, context())).toMatchObject({
      state: 'failed',
      code: 'upstream_expired',
    });
  });
});

it.each([
  ['429=2', 'throttled', 0],
  ['429-date=30', 'throttled', 0],
  ['503', 'throttled', 0],
  ['quota', 'unavailable', 0],
  ['401', 'unavailable', 0],
  ['403', 'unavailable', 0],
  ['404', 'rejected', 0],
  ['moderation', 'rejected', 0],
  ['redirect', 'unavailable', 0],
  ['500', 'ambiguous', 0],
  ['502', 'ambiguous', 0],
  ['504', 'ambiguous', 0],
  ['reset', 'ambiguous', 0],
  ['accepted-then-silent', 'ambiguous', 1],
  ['accepted-500', 'ambiguous', 1],
  ['accepted-502', 'ambiguous', 1],
  ['accepted-504', 'ambiguous', 1],
  ['malformed', 'ambiguous', 1],
  ['empty', 'ambiguous', 1],
  ['html', 'ambiguous', 1],
  ['gzip', 'ambiguous', 1],
  ['huge-body=3', 'ambiguous', 1],
])('a submit into %s is %s, after %i accepted jobs', async (fault, outcome, accepted) => {
  const error = await upstreamError(submit({ prompt: `a boat [sim:${fault}]` }));
  expect([error.outcome, simulator.control.tasks('a boat').length]).toEqual([outcome, accepted]);
});

it('a submit into silence ends with its time and is ambiguous', async () => {
  const signal = AbortSignal.timeout(300);
  for (const fault of ['slow=2', 'timeout=2', 'slow-loris=5']) {
    const error = await upstreamError(submit({ prompt: `a [sim:${fault}]` }, { signal }));
    expect(['ambiguous', 'not_sent']).toContain(error.outcome);
  }
});

it('retry-after is read in seconds and as a date', async () => {
  const seconds = await upstreamError(submit({ prompt: 'a [sim:429=7]' }));
  expect(seconds.retryAfterMs).toBe(7_000);
  const before = Date.now();
  const date = await upstreamError(submit({ prompt: 'a [sim:429-date=30]' }));
  expect(date.retryAfterMs).toBeGreaterThanOrEqual(30_000 - (Date.now() - before));
  expect(date.retryAfterMs).toBeLessThanOrEqual(31_000);
});

it('a wrong key is the channel that is unavailable', async () => {
  const error = await upstreamError(submit({}, { credential: { id: 'b', apiKey: 'wrong' } }));
  expect([error.outcome, error.status]).toEqual(['unavailable', 401]);
});

describe('cancel', () => {
  it('ends a queued job, and only that', async () => {
    const { operation } = await submit({});
    expect(await arkVideo.cancel?.(operation, context())).toBe('cancelled');
    expect(await arkVideo.status(operation, context())).toMatchObject({ code: 'upstream_cancelled' });
    expect(await arkVideo.cancel?.(operation, context())).toBe('cancelled');
  });

  it('understands an empty answer', async () => {
    const { operation } = await submit({ prompt: 'a [sim:delete:no-content]' });
    expect(await arkVideo.cancel?.(operation, context())).toBe('cancelled');
  });

  it('leaves running and finished jobs alone', async () => {
    const { operation } = await submit({});
    simulator.control.advance(20);
    expect(await arkVideo.cancel?.(operation, context())).toBe('refused');
    simulator.control.advance(80);
    expect(await arkVideo.cancel?.(operation, context())).toBe('refused');
    expect(await arkVideo.status(operation, context())).toMatchObject({ state: 'succeeded' });
    expect(simulator.control.stats()).toMatchObject({ deletes: 0 });
  });
});

describe('list', () => {
  it('reports many jobs in one request', async () => {
    const submitted = await Promise.all(Array.from({ length: 50 }, () => submit({})));
    simulator.control.advance(100);
    const operations = submitted.map(({ operation }) => operation);
    const before = simulator.control.stats();
    const found = await arkVideo.list?.(operations, context());
    expect(found?.size).toBe(50);
    expect([...(found?.values() ?? [])].every(({ state }) => state === 'succeeded')).toBe(true);
    const after = simulator.control.stats();
    expect([after.lists - before.lists, after.gets - before.gets]).toEqual([1, 0]);
  });

  it('leaves finished jobs to a single question where it lacks their facts', async () => {
    const running = await submit({ prompt: 'slow [sim:list:sdk-shape][sim:render=1000]' });
    const ended = await submit({ prompt: 'quick [sim:list:sdk-shape]' });
    const failed = await submit({ prompt: 'bad [sim:list:sdk-shape][sim:failed]' });
    simulator.control.advance(150);
    const operations = [running, ended, failed].map(({ operation }) => operation);
    const found = await arkVideo.list?.(operations, context());
    expect(found?.get(running.operation.id)).toMatchObject({ state: 'pending' });
    expect(found?.get(failed.operation.id)).toMatchObject({
      state: 'failed',
      code: expect.stringMatching(/.+/),
    });
    expect(found?.has(ended.operation.id)).toBe(false);
    expect(await arkVideo.status(ended.operation, context())).toMatchObject({ state: 'succeeded' });
  });
});

describe('find', () => {
  // The tests above put the simulator's clock forward.
  const window = {
    request: videoRequest(),
    sentAfter: Date.now() - 60_000,
    sentBefore: Date.now() + 86_400_000,
  };

  it('recognises a job whose answer was lost', async () => {
    await Promise.all(
      Array.from({ length: 120 }, (_, index) => submit({}, { marker: `mediary-other-${index}` })),
    );
    await upstreamError(submit({ prompt: 'a [sim:accepted-then-silent]' }, { marker: 'mediary-lost-1' }));
    await Promise.all(
      Array.from({ length: 120 }, (_, index) => submit({}, { marker: `mediary-more-${index}` })),
    );
    const found = await arkVideo.find?.({ marker: 'mediary-lost-1', ...window }, context());
    expect(found).toHaveLength(1);
    const [job] = found ?? [];
    expect(job && (await arkVideo.status(job.operation, context()))).toMatchObject({ state: 'pending' });
  });

  it('finds nothing that was never accepted', async () => {
    await upstreamError(submit({ prompt: 'a [sim:reset]' }, { marker: 'mediary-lost-2' }));
    expect(await arkVideo.find?.({ marker: 'mediary-lost-2', ...window }, context())).toEqual([]);
  });
});

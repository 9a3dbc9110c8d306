import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createExchangeRecorder, jobOf } from '../../src/flight/exchange-recorder.ts';
import type { ExchangeRecorderDeps } from '../../src/flight/exchange-recorder.ts';
import { recordedCallSchema } from '../../src/flight/recorded-call.ts';
import { recordedChannels } from '../../src/flight/recorded-channels.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import type { OperationStatus, Provider, VideoProvider } from '../../src/providers/provider.ts';
import type { NewExchanges } from '../../src/store/exchanges.ts';
import type { Channels } from '../../src/routing/channels.ts';
import { providerContext, submitContext, videoRequest } from '../providers/support.ts';
import { testOrigin } from '../support/test-origin.ts';

const task = 'task_abcdefghijklmnopqrstuvwx';
const running: OperationStatus = { state: 'pending', phase: 'running', progress: 3 };
const succeeded: OperationStatus = {
  state: 'succeeded',
  items: [{ url: 'https://cdn.example/a' }],
  facts: {},
};

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] }));
afterEach(() => void vi.useRealTimers());

function world(over: Partial<ExchangeRecorderDeps> = {}) {
  const writes: (readonly NewExchanges[])[] = [];
  const warnings: unknown[] = [];
  const recorder = createExchangeRecorder({
    add: (news) => Promise.resolve(void writes.push(news)),
    findRequest: () => Promise.resolve({ request: videoRequest({ prompt: 'a secret garden in bloom' }) }),
    log: { warn: (fields: unknown) => void warnings.push(fields) },
    now: Date.now,
    ...over,
  });
  let answers: (OperationStatus | Error)[] = [];
  const response: { status?: number; text?: string; json?: unknown } = {};
  const ask = async (context: Parameters<VideoProvider['status']>[1]) => {
    await context.request({
      method: 'GET',
      url: 'https://upstream.example/jobs/1?key=k',
      signal: context.signal,
    });
    const answer = answers.shift() ?? running;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const video: VideoProvider = {
    cancelUntil: 'never',
    facts: { origin: testOrigin, models: [], others: {} },
    async submit(request, context) {
      await context.request({
        method: 'POST',
        url: 'https://upstream.example/jobs',
        json: { prompt: request.prompt, marker: context.marker, seconds: 5 },
        signal: context.signal,
      });
      return { operation: { id: 'job-1' } };
    },
    status: (_, context) => ask(context),
    async list(operations, context) {
      const status = await ask(context);
      return new Map(operations.slice(0, 1).map(({ id }) => [id, status]));
    },
  };
  const provider: Provider = { about: { vendor: 'v', inputs: '', unverified: [] }, video };
  const channels: Channels = (id) => ({
    config: { id, provider: 'some' } as never,
    provider,
    context: () => providerContext(),
  });
  const watched = recordedChannels(channels, recorder, Date.now)('one')?.provider.video;
  if (watched === undefined) throw new Error('The channel has an adapter.');
  const request = () =>
    Promise.resolve({ status: 200, headers: {}, text: '{"id":"job-1"}', json: { id: 'job-1' }, ...response });
  const context = () => ({
    ...submitContext({ request, credential: { id: 'a', apiKey: 'the-key-4711' } }),
    task,
  });
  const written = () => writes.flat().flatMap(({ submits, polls }) => [...submits, ...polls]);
  return {
    recorder, watched, writes, warnings, response, context, written,
    calls: () => written().map((text) => recordedCallSchema.parse(JSON.parse(text))),
    poll: (...next: (OperationStatus | Error)[]) => {
      answers = next;
      return watched.status({ id: 'job-1' }, context()).catch(() => undefined);
    },
  }; // prettier-ignore
}

const settle = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('a task without problems', () => {
  it('causes one write, however often it is polled', async () => {
    const { recorder, watched, context, poll, writes, calls } = world();
    await watched.submit(videoRequest(), context());
    for (let n = 0; n < 1000; n += 1) {
      vi.advanceTimersByTime(50);
      await poll({ ...running, progress: n / 10 });
    }
    await poll(succeeded);
    await settle();
    vi.advanceTimersByTime(2_000);
    await recorder.close();
    expect(writes).toHaveLength(1);
    expect(writes[0]).toMatchObject([{ task }]);
    expect(calls().map(({ step, outcome, skipped }) => [step, outcome.kind, skipped])).toEqual([
      ['submit', 'accepted', undefined],
      ['status', 'succeeded', 999],
      ['status', 'pending', undefined],
    ]);
    expect(calls()[0]).toMatchObject({
      channel: 'one',
      provider: 'some',
      base_url: 'https://upstream.example/api/v3',
      exchanges: [
        {
          method: 'POST',
          url: 'https://upstream.example/jobs',
          shape: '{"prompt":"[caller]","marker":"mediary-t1-1","seconds":5}',
          status: 200,
          body: '{"id":"job-1"}',
          bytes: 14,
        },
      ],
    });
  });

  it('has its request read only once, and only by a process that did not submit it', async () => {
    let reads = 0;
    const findRequest = () => Promise.resolve({ request: videoRequest({ prompt: `read ${(reads += 1)}` }) });
    for (const [isOwn, expected] of [
      [true, 0],
      [false, 1],
    ] as const) {
      reads = 0;
      const { recorder, watched, context, poll } = world({ findRequest });
      if (isOwn) await watched.submit(videoRequest(), context());
      await settle();
      await poll(running);
      await settle();
      await poll(succeeded);
      await settle();
      await recorder.close();
      expect([isOwn, reads]).toEqual([isOwn, expected]);
    }
  });

  it('is written while it renders, two minutes after its submission', async () => {
    const { watched, context, written } = world();
    await watched.submit(videoRequest(), context());
    await settle();
    vi.advanceTimersByTime(119_000);
    await settle();
    expect(written()).toEqual([]);
    vi.advanceTimersByTime(3_000);
    await settle();
    expect(written()).toHaveLength(1);
  });
});

it('polls that fail are written sooner, and one outage is recorded as two calls', async () => {
  const { poll, written, recorder, calls } = world();
  const refused = new UpstreamError('unavailable', 'no', { code: 'http_401', status: 401 });
  await poll(running);
  for (let n = 0; n < 50; n += 1) await poll(refused);
  await settle();
  vi.advanceTimersByTime(16_000);
  await settle();
  expect(written()).toHaveLength(2);
  await poll(running);
  await settle();
  await recorder.close();
  expect(calls().map(({ outcome, skipped }) => [outcome.kind, skipped])).toEqual([
    ['pending', undefined],
    ['error', undefined],
    ['pending', 49],
  ]);
});

it('each task keeps only its own job of a list', async () => {
  const { watched, recorder, context, response, writes, calls } = world();
  const { task: _, ...shared } = context();
  response.json = {
    items: [
      { id: 'job-1', state: 'r' },
      { id: 'job-2', note: 'theirs' },
    ],
    total: 2,
  };
  response.text = JSON.stringify(response.json);
  const disown = recorder.own(jobOf('one', { id: 'job-1' }), task);
  await watched.list?.([{ id: 'job-1' }, { id: 'job-2' }], shared);
  disown();
  await watched.list?.([{ id: 'job-1' }], shared);
  await settle();
  await recorder.close();
  expect(writes.flat().map((entry) => entry.task)).toEqual([task]);
  expect(calls()[0]?.exchanges[0]?.body).toBe('{"items":[{"id":"job-1","state":"r"}],"total":2}');
});

describe('an upstream’s response', () => {
  it('that repeats the prompt or the key is kept without them', async () => {
    const { poll, recorder, response, written } = world();
    response.json = {
      error: { message: 'a secret garden in bloom is not allowed' },
      trace: 'the-key-4711',
      log: 'for the-key-4711 only',
    };
    response.text = JSON.stringify(response.json);
    const failure = { class: 'moderation_input' } as const;
    await poll({ state: 'failed', code: 'moderated', message: '', failure });
    await settle();
    await recorder.close();
    expect(written().join('')).toContain('"kind":"failed"');
    expect(written().join('')).not.toMatch(/secret garden|4711/);
  });

  it('of ten megabytes is reduced to its size and hash', async () => {
    const { poll, recorder, response, calls } = world();
    response.json = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`f${n}`, 'ab '.repeat(60_000)]));
    response.json = {
      ...(response.json as object),
      ids: Array.from({ length: 40 }, (_, n) => `${n}`.padStart(150, 'z')),
    };
    response.text = JSON.stringify(response.json);
    await poll(running);
    await settle();
    await recorder.close();
    expect(calls()[0]?.exchanges[0]).toMatchObject({
      bytes: response.text.length,
      hash: expect.any(String),
      json: true,
    });
    expect(calls()[0]?.exchanges[0]?.body).toBeUndefined();
  });

  it('that is not JSON is kept as it is', async () => {
    const { watched, context, recorder, response, calls } = world();
    response.json = undefined;
    response.text = '<html>Bad Gateway</html>';
    response.status = 502;
    await watched.submit(videoRequest(), context());
    await settle();
    await recorder.close();
    expect(calls()[0]?.exchanges[0]).toMatchObject({
      status: 502,
      json: false,
      body: '<html>Bad Gateway</html>',
    });
  });

  it('a connection that breaks is kept with what may have been sent', async () => {
    const { watched, context, recorder, calls } = world();
    const broken = new UpstreamError('ambiguous', 'gone', { code: 'connection_lost' });
    const request = () => Promise.reject(broken);
    await expect(watched.submit(videoRequest(), { ...context(), request })).rejects.toBe(broken);
    await settle();
    await recorder.close();
    expect(calls()[0]).toMatchObject({
      outcome: { kind: 'error', outcome: 'ambiguous', code: 'connection_lost' },
      exchanges: [{ failure: { outcome: 'ambiguous', code: 'connection_lost' } }],
    });
  });
});

describe('a failure to record', () => {
  it('is logged and does not affect the task', async () => {
    const add = () => Promise.reject(new Error('MongoDB is away'));
    const { watched, context, recorder, warnings } = world({ add });
    await expect(watched.submit(videoRequest(), context())).resolves.toEqual({ operation: { id: 'job-1' } });
    await settle();
    await recorder.close();
    expect(warnings).toHaveLength(1);
  });

  it('a response that cannot be described does no harm', async () => {
    const { poll, recorder, response, warnings, written } = world();
    response.json = { toString: null, get broken(): string { throw new Error('broken'); } }; // prettier-ignore
    await poll(running);
    await settle();
    await recorder.close();
    expect([warnings.length, written().length]).toEqual([1, 0]);
  });
});

import { expect, it } from 'vitest';
import { createStatusPollers } from '../../src/polling/status-pollers.ts';
import { parseGatewayConfig, type GatewayConfig } from '../../src/config/gateway-file.ts';
import type { ExchangeRecorder } from '../../src/flight/exchange-recorder.ts';
import { taskKinds } from '../../src/base/task-kind.ts';
import { createRateLimiter } from '../../src/capacity/rate-limiter.ts';
import { adapters, providers } from '../../src/providers/index.ts';
import { createChannels } from '../../src/routing/channels.ts';
import type { VideoRequest } from '../../src/models/request.ts';
import type { HttpRequest, ProviderContext, TaskProvider } from '../../src/providers/provider.ts';
import { canned, providerContext } from '../providers/support.ts';

const yaml = `
currency: USD
channels:
  - id: fal
    provider: fal
    base_url: https://upstream.example
    credentials: [{ id: a, api_key: k }]
    models:
      one:
        upstream: owner/one
        mapping: { fields: {}, result: clip.address, cost: { unit: USD, price: "0.5", units: billed } }
      other:
        upstream: owner/other
        mapping: { fields: {}, result: film.link }
models:
  - { id: one, kind: video, price: { lines: [{ measure: call, price: "1" }] } }
  - { id: other, kind: video, price: { lines: [{ measure: call, price: "1" }] } }
results: { storage: directory }
`;

const readConfig = (text: string) =>
  parseGatewayConfig(text, 'gateway.yaml', { environment: {}, ...adapters });

function openPollers(
  current: () => GatewayConfig,
  {
    request,
    ...options
  }: { readonly request: HttpRequest } & Partial<Parameters<typeof createStatusPollers>[0]>,
) {
  return createStatusPollers({
    channels: createChannels({
      current,
      providers,
      requestOf: () => request,
      links: { check: () => undefined, onWithheld: () => undefined },
    }),
    recorder: { own: () => () => undefined },
    monotonic: Date.now,
    limiter: (perSecond) =>
      createRateLimiter({ perSecond, monotonic: Date.now, sleep: async () => undefined }),
    ...options,
  });
}

it('reads the response about a job by the mapping of its own model, and names the task of the job', async () => {
  const completed = { json: { status: 'COMPLETED' } };
  const { request } = canned(
    completed,
    { json: { clip: { address: 'https://files.example/1.mp4' }, billed: 3 } },
    completed,
    { json: { film: { link: 'https://files.example/2.mp4' } } },
  );
  const owned: string[] = [];
  const config = readConfig(yaml);
  const recorder: Pick<ExchangeRecorder, 'own'> = {
    own: (job, of) => {
      owned.push(`${job} is ${of}'s`);
      return () => void owned.push(`${job} is nobody's`);
    },
  };
  const pollers = openPollers(() => config, { request, recorder });
  const poller = pollers({ channel: 'fal', credential: 'a' }, 'video');
  const { signal } = new AbortController();
  const task = 'task_1';
  const operation = { id: 'r1', endpoint: 'owner/one', app: 'owner/one' };
  expect(await poller.status({ task, account: 'a', operation, model: 'one' }, signal)).toMatchObject({
    state: 'succeeded',
    items: [{ url: 'https://files.example/1.mp4' }],
    cost: { amount: '1.5', unit: 'USD' },
  });
  expect(await poller.status({ task, account: 'a', operation, model: 'other' }, signal)).toMatchObject({
    state: 'succeeded',
    items: [{ url: 'https://files.example/2.mp4' }],
  });
  const once = ["fal/r1 is task_1's", "fal/r1 is nobody's"];
  expect(owned).toEqual([...once, ...once]);
});

it('asks through the adapter of the running configuration, also about jobs of an earlier one', async () => {
  const config = readConfig(yaml);
  const [channel] = config.channels;
  if (channel === undefined) throw new Error('no channel');
  const context = (): ProviderContext => providerContext({});
  const parts: Record<string, Partial<TaskProvider<VideoRequest>>> = {
    single: { status: async () => ({ state: 'failed', code: 'single', message: '' }) as never },
    lists: {
      listMax: 10,
      list: async (operations) =>
        new Map(operations.map(({ id }) => [id, { state: 'failed', code: 'lists', message: '' } as never])),
    },
  };
  let current = 'single';
  const pollers = openPollers(() => config, {
    request: canned().request,
    channels: () => ({ config: channel, context, provider: { video: parts[current] } as never }),
  });
  const poller = pollers({ channel: 'fal', credential: 'a' }, 'video');
  const ask = (id: string) =>
    poller.status({ task: id, account: 'a', operation: { id }, model: 'one' }, AbortSignal.timeout(60_000));
  expect(await ask('r1')).toMatchObject({ code: 'single' });
  expect(poller.lists()).toBe(false);
  current = 'lists';
  expect(poller.lists()).toBe(true);
  expect(await Promise.all([ask('r1'), ask('r2')])).toMatchObject([{ code: 'lists' }, { code: 'lists' }]);
});

it('uses the rate, the timeout and the callbacks of the running configuration, not the initial one', async () => {
  const channel = '    credentials: [{ id: a, api_key: k }]\n';
  const limits = (perSecond: number, pollMs: number, callbacks: boolean) =>
    `${channel}    limits: { polls_per_second: ${perSecond} }\n    timeouts: { poll_ms: ${pollMs} }\n    callbacks: ${callbacks}\n`;
  const configs = [limits(1, 60_000, true), limits(500, 20, false)].map((text) =>
    readConfig(yaml.replace(channel, text)),
  );
  let [current] = configs;
  const rates: number[] = [];
  const { request } = canned({ json: { status: 'IN_QUEUE' } });
  let isSilent = false;
  const poller = openPollers(() => current ?? readConfig(yaml), {
    request: (options) =>
      isSilent
        ? new Promise((_, reject) =>
            options.signal.addEventListener('abort', () => reject(options.signal.reason)),
          )
        : request(options),
    limiter: (perSecond) => ({ take: async () => void rates.push(perSecond()), pause: () => undefined }),
    publicUrl: 'https://gateway.example',
  })({ channel: 'fal', credential: 'a' }, 'video');
  const job = {
    task: 'task_1',
    account: 'a',
    operation: { id: 'r1', endpoint: 'owner/one', app: 'owner/one' },
    model: 'one',
  };
  expect(await poller.status(job, AbortSignal.timeout(60_000))).toMatchObject({ state: 'pending' });
  expect(poller.callsBack()).toBe(true);
  [, current] = configs;
  isSilent = true;
  // This is much shorter than the minute in the first configuration.
  const unanswered = poller.status(job, AbortSignal.timeout(30_000));
  await expect(unanswered).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(poller.callsBack()).toBe(false);
  expect(rates).toEqual([1, 500]);
});

it('the videos and images of a credential share its limit, and other credentials have their own', () => {
  const text = yaml
    .replace(
      'credentials: [{ id: a, api_key: k }]',
      'credentials: [{ id: a, api_key: k }, { id: b, api_key: l }]',
    )
    .replace('provider: fal', 'provider: fal\n    limits: { polls_per_second: 3 }');
  const config = readConfig(text);
  const rates: number[] = [];
  const pollers = openPollers(() => config, {
    request: canned().request,
    limiter: (perSecond) => {
      rates.push(perSecond());
      return createRateLimiter({ perSecond, monotonic: Date.now, sleep: async () => undefined });
    },
  });
  for (const credential of ['a', 'b'])
    for (const kind of taskKinds) pollers({ channel: 'fal', credential }, kind);
  expect(rates).toEqual([3, 3]);
});

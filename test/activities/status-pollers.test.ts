import { expect, it } from 'vitest';
import { createStatusPollers } from '../../activities/status-pollers.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { createRateLimiter } from '../../src/capacity/rate-limiter.ts';
import { adapters, providers } from '../../src/providers/index.ts';
import { createChannels } from '../../src/routing/channels.ts';
import { canned } from '../providers/support.ts';

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
  - { id: one, kind: video, price: { unit: call, rules: [{ price: "1" }] } }
  - { id: other, kind: video, price: { unit: call, rules: [{ price: "1" }] } }
results: { storage: directory }
`;

it('reads the answer about a job by the mapping of its own model, and says whose job it asks about', async () => {
  const completed = { json: { status: 'COMPLETED' } };
  const { request } = canned(
    completed,
    { json: { clip: { address: 'https://files.example/1.mp4' }, billed: 3 } },
    completed,
    { json: { film: { link: 'https://files.example/2.mp4' } } },
  );
  const owned: string[] = [];
  const config = parseGatewayConfig(yaml, 'gateway.yaml', { environment: {}, ...adapters });
  const poller = createStatusPollers({
    channels: createChannels({
      current: () => config,
      providers,
      request,
      links: { check: () => undefined, onWithheld: () => undefined },
    }),
    recorder: {
      own: (job, of) => {
        owned.push(`${job} is ${of}'s`);
        return () => void owned.push(`${job} is nobody's`);
      },
    },
    now: Date.now,
    limiter: (perSecond) => createRateLimiter({ perSecond, now: Date.now, sleep: async () => undefined }),
  })({ channel: 'fal', credential: 'a' }, 'video');
  const signal = AbortSignal.timeout(5_000);
  const task = 'task_1';
  const operation = { id: 'r1', endpoint: 'owner/one', app: 'owner/one' };
  expect(await poller.status({ task, operation, model: 'one' }, signal)).toMatchObject({
    state: 'succeeded',
    items: [{ url: 'https://files.example/1.mp4' }],
    cost: { amount: '1.5', unit: 'USD' },
  });
  expect(await poller.status({ task, operation, model: 'other' }, signal)).toMatchObject({
    state: 'succeeded',
    items: [{ url: 'https://files.example/2.mp4' }],
  });
  const once = ["fal/r1 is task_1's", "fal/r1 is nobody's"];
  expect(owned).toEqual([...once, ...once]);
});

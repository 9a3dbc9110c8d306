import { expect, it } from 'vitest';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { retentionOf } from '../../src/base/retention.ts';

const parse = (retention: string) =>
  parseGatewayConfig(
    `
currency: USD
channels: [{ id: a, provider: brief, base_url: "http://x.example", credentials: [{ id: c, api_key: k }], models: {} }]
models: [{ id: m, kind: video, price: { lines: [{ measure: call, price: "1" }] } }]
retention: ${retention}`,
    'x.yaml',
    { environment: {}, providerNames: ['brief'] },
  ).retention;
const dayMs = 86_400_000;

it('by default requests and exchanges expire, and records of tasks stay', () => {
  expect(retentionOf(parse('{}'))).toEqual({ requestsMs: 30 * dayMs, exchangesMs: 90 * dayMs });
});

it.each([
  ['{ requests_days: 7, exchanges_days: 1, tasks_days: 7 }', [7, 1, 7]],
  ['{ requests_days: 3650, exchanges_days: 3650, tasks_days: 3650 }', [3650, 3650, 3650]],
])('%s', (text, days) => {
  const { requestsMs, exchangesMs, tasksMs = 0 } = retentionOf(parse(text));
  expect([requestsMs, exchangesMs, tasksMs]).toEqual(days.map((day) => day * dayMs));
});

it.each(['{ requests_days: 6 }', '{ exchanges_days: 0 }', '{ tasks_days: 6 }', '{ tasks_days: 3651 }'])(
  '%s is refused: callbacks are repeated for days after the end of a task',
  (text) => {
    expect(() => parse(text)).toThrow(/retention\.\w+_days/);
  },
);

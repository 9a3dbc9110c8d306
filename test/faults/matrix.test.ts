import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptState } from '../../src/task/attempt.ts';
import { waitMessages } from '../../src/task/wait.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import { persevere, type TestAccount } from '../support/client.ts';
import { startGateway, videoBody, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { startFaultUpstream, type Fault, type FaultUpstream, type RowFaults } from './fault-upstream.ts';

/**
 * Tries every kind of response to a submission, and some responses to a poll. Each row has its own channel, so that
 * circuits do not affect other rows. All tasks run concurrently.
 */

/**
 * - `retried`: nothing was accepted, and the task is resubmitted until it succeeds.
 * - `waits`: nothing was accepted, and the task waits until the fault is over.
 * - `failed`: the task fails immediately.
 * - `found`: the response was useless, but the upstream has the job.
 * - `parked`: the outcome is unknown, and the task waits for an operator.
 */
type Course = 'succeeded' | 'retried' | 'waits' | 'failed' | 'found' | 'parked';

interface Row extends RowFaults {
  readonly name: string;
  readonly course: Course;
  readonly submits: number;
  readonly state: AttemptState;
  readonly code?: string;
  readonly class?: string;
  readonly baseUrl?: 'tls' | 'dns' | 'refused';
  readonly provider?: 'gateway';
}

const worded = (code: string) =>
  JSON.stringify({ error: { code, message: 'The words of the upstream.', param: '', type: 'x' } });
const page = '<html><body>A page of a proxy.</body></html>';

const refuse =
  (status: number, text = worded('SomeCode'), headers: Readonly<Record<string, string>> = {}): Fault =>
  ({ answer }) =>
    answer(status, text, headers);

const accepted =
  (spoil: (exchange: Parameters<Fault>[0], text: string) => void): Fault =>
  async (exchange) => {
    const { text } = await exchange.forward();
    spoil(exchange, text);
  };

const ok = 'HTTP/1.1 200 OK';
const json = 'content-type: application/json';

const retried = { course: 'retried', submits: 2, times: 1, state: 'accepted' } as const;
const waits = { course: 'waits', submits: 0, state: 'not_accepted' } as const;
const failed = { course: 'failed', submits: 1, state: 'rejected' } as const;
const found = { course: 'found', submits: 1, state: 'accepted' } as const;
const parked = { course: 'parked', submits: 1, state: 'lost' } as const;

const rows: readonly Row[] = [
  { name: '400', create: refuse(400), ...failed, code: 'http_400' },
  { name: '401', create: refuse(401), ...retried },
  { name: '402', create: refuse(402), ...retried },
  { name: '403', create: refuse(403), ...retried },
  { name: '408', create: refuse(408), ...parked, code: 'http_408' },
  { name: '409', create: refuse(409), ...failed, code: 'http_409' },
  { name: '413', create: refuse(413), ...failed, code: 'http_413' },
  { name: '422', create: refuse(422), ...failed, code: 'http_422' },
  { name: '429', create: refuse(429), ...retried },
  { name: '500', create: refuse(500), ...parked, code: 'http_500' },
  { name: '502', create: refuse(502), ...parked, code: 'http_502' },
  { name: '503', create: refuse(503), ...retried },
  { name: '504', create: refuse(504), ...parked, code: 'http_504' },
  { name: 'moderation', create: refuse(400, worded('InputTextSensitiveContentDetected')), ...failed, code: 'InputTextSensitiveContentDetected', class: 'moderation_input' },
  { name: 'page-404', create: refuse(404, page), ...retried },
  { name: 'page-409', create: refuse(409, page), ...retried },
  { name: 'page-422', create: refuse(422, page), ...retried },
  { name: 'page-503', create: refuse(503, page), ...parked, code: 'http_503' },
  { name: 'redirect', create: refuse(302, '', { location: '/elsewhere' }), ...retried },
  { name: 'redirect-307', create: refuse(307, '', { location: '/elsewhere' }), ...retried },
  ...['-5', '1e12', 'soon', 'banana 7', '0', ''].map((value, n) => ({
    name: `retry-after-${n}`,
    create: refuse(429, worded('SomeCode'), { 'retry-after': value }),
    ...retried,
  })),
  ...['1000000000000', 'Thu, 01 Jan 2099 00:00:00 GMT'].map((value, n) => ({
    name: `retry-after-far-${n}`,
    create: refuse(429, worded('SomeCode'), { 'retry-after': value }),
    ...waits,
    submits: 1,
  })),
  { name: 'tls', baseUrl: 'tls', ...waits, code: 'tls_failed' },
  { name: 'dns', baseUrl: 'dns', ...waits, code: 'dns_failed' },
  { name: 'refused', baseUrl: 'refused', ...waits, code: 'connect_failed' },
  // In these rows, the request was sent and the response is useless, but the upstream has not accepted the job.
  { name: 'reset', create: ({ reset }) => reset(), ...parked, code: 'connection_lost' },
  { name: 'unreadable', create: refuse(200, '{"id": '), ...parked, code: 'unreadable_answer' },
  { name: 'no-id', create: refuse(200, '{}'), ...parked, code: 'unreadable_answer' },
  { name: 'empty', create: refuse(204, ''), ...parked, code: 'unreadable_answer' },
  { name: 'silence', create: () => undefined, ...parked, code: 'timeout' },
  // In these rows, the upstream has accepted the job.
  { name: 'accepted-reset', create: accepted(({ reset }) => reset()), ...found },
  { name: 'accepted-500', create: accepted(({ answer }) => answer(500, worded('InternalServiceError'))), ...found },
  { name: 'accepted-page', create: accepted(({ answer }) => answer(502, page)), ...found },
  { name: 'accepted-unreadable', create: accepted(({ answer }, text) => answer(200, text.slice(0, 5))), ...found },
  { name: 'length-too-long', create: accepted(({ raw }, text) => raw(ok, json, `content-length: ${text.length + 10}`, '', text)), ...found },
  { name: 'length-too-short', create: accepted(({ raw }, text) => raw(ok, json, `content-length: ${text.length - 3}`, '', text)), ...found },
  { name: 'length-no-number', create: accepted(({ raw }, text) => raw(ok, json, 'content-length: many', '', text)), ...found },
  { name: 'encoded', create: accepted(({ answer }, text) => answer(200, text, { 'content-encoding': 'gzip' })), ...found },
  { name: 'huge', create: accepted(({ answer }, text) => answer(200, `${text.slice(0, -1)},"x":"${'x'.repeat(72_000_000)}"}`)), ...found },
  { name: 'no-http', create: accepted(({ raw }) => raw('SSH-2.0-OpenSSH_9.6', '')), ...found },
  { name: 'two-answers', create: accepted(({ raw }, text) => {
      const one = [ok, json, `content-length: ${text.length}`, '', text];
      raw(...one, ok, json, 'content-length: 2', '', '{}');
    }), course: 'succeeded', submits: 1, state: 'accepted' },
  { name: 'two-jobs', create: async ({ forward, reset }) => {
      await forward();
      await forward();
      reset();
    }, ...parked, code: 'connection_lost' },
  { name: 'progress-120', provider: 'gateway', poll: async ({ forward, answer }) => {
      const { status, text } = await forward();
      answer(status, text.replace(/"progress":"\d+%"/, '"progress":"120%"'));
    }, course: 'succeeded', submits: 1, state: 'accepted' },
]; // prettier-ignore

const ledgerOf: Readonly<Record<Course, readonly string[]>> = {
  succeeded: ['hold', 'settle'],
  retried: ['hold', 'settle'],
  found: ['hold', 'settle'],
  failed: ['hold', 'release'],
  waits: ['hold'],
  parked: ['hold'],
};

function yamlOf(port: number, closedPort: number): string {
  const urls = {
    tls: `https://127.0.0.1:${port}/tls/ark/api/v3`,
    dns: 'http://no-such-host.invalid/api/v3',
    refused: `http://127.0.0.1:${closedPort}/api/v3`,
  };
  const channels = rows.map(({ name, baseUrl, provider, code }) => {
    // Unless the row is meant to time out, the response must arrive in time even on a busy machine.
    const submitMs = code === 'timeout' ? 3_000 : 20_000;
    const path = provider === 'gateway' ? 'new-api/v1' : 'ark/api/v3';
    const url = baseUrl === undefined ? `http://127.0.0.1:${port}/${name}/${path}` : urls[baseUrl];
    return `  - { id: "${name}", provider: ${provider ?? 'ark'}, base_url: "${url}", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], timeouts: { submit_ms: ${submitMs}, poll_ms: 20000 }, models: { "m-${name}": { upstream: dreamina-seedance-2-0-260128 } } }`;
  });
  const models = rows.map(
    ({ name }) =>
      `  - { id: "m-${name}", kind: video, resolutions: [720p], ratios: ["16:9"], durations: { min: 4, max: 15, default: 5 }, expected_seconds: 1, price: { lines: [{ measure: second, price: "0.1" }] } }`,
  );
  return `currency: USD\nchannels:\n${channels.join('\n')}\nmodels:\n${models.join('\n')}\n`;
}

let upstream: FaultUpstream;
let gateway: TestGateway;
let account: TestAccount;
const ids = new Map<string, string>();

beforeAll(async () => {
  upstream = await startFaultUpstream(
    new Map(rows.map((row) => [row.name, row])),
    () => gateway.simulatorUrl,
  );
  gateway = await startGateway({ yaml: yamlOf(upstream.port, await choosePort('any', 'nobody')) });
  account = await gateway.account({ credit: '1000' });
  await Promise.all(
    rows.map(async ({ name }) => {
      const body = { ...videoBody, model: `m-${name}`, prompt: `row ${name}` };
      const created = await persevere(() => account.create(body, { 'idempotency-key': name }));
      ids.set(name, created.body.id);
    }),
  );
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const shown = async (row: Row) => (await gateway.admin('GET', `/admin/v1/tasks/${ids.get(row.name)}`)).body;

type Shown = Awaited<ReturnType<typeof shown>>;

async function arrived(row: Row): Promise<Shown> {
  if (row.course === 'parked' || row.course === 'waits') {
    let task: Shown;
    const hasArrived = async () => {
      task = await shown(row);
      return row.course === 'parked'
        ? task.needs_attention === 'submit_ambiguous'
        : isRefused(task.message) && task.attempts[0]?.state === row.state;
    };
    await waitUntil(`${row.name} ${row.course}`, hasArrived, 240_000);
    return task;
  }
  await account.finished(ids.get(row.name) ?? '');
  return shown(row);
}

describe('the fault matrix', () => {
  it.each(rows)('$name: $course', async (row) => {
    const task = await arrived(row);
    const status = { failed: 'failed', waits: 'pending', parked: 'pending' } as const;
    const expected = row.course in status ? status[row.course as keyof typeof status] : 'succeeded';
    expect(task.status).toBe(expected);
    expect(upstream.creates(row.name)).toBe(row.submits);
    const entries: { kind: string }[] = task.ledger;
    expect(entries.map(({ kind }) => kind)).toEqual(ledgerOf[row.course]);
    const attempt = task.attempts[0];
    expect(attempt).toMatchObject({ n: 1, state: row.state });
    if (row.code !== undefined) expect(attempt.code).toBe(row.code);
    if (row.course === 'failed') {
      const failure = { code: 'provider_error', class: row.class ?? 'invalid_input' };
      expect(task.error).toMatchObject(failure);
      expect(task.error.message).toContain('The words of the upstream.');
    }
    // The error contains the upstream's message, but neither its URL nor the gateway's key.
    expect(JSON.stringify(task.error ?? '')).not.toMatch(/127\.0\.0\.1|simulated/);
  });

  it('an absurd wait is limited to a day', async () => {
    const row = rows.find(({ name }) => name === 'retry-after-far-0');
    if (row === undefined) throw new Error('no such row');
    const { waiting } = await shown(row);
    const seconds = waiting.next_at - Date.now() / 1000;
    expect(seconds).toBeGreaterThan(3600);
    expect(seconds).toBeLessThan(1.25 * 24 * 3600);
  });

  it('no redirect was followed', () => {
    expect(upstream.strays()).toBe(0);
  });
});

/** Some messages end with the time of the next attempt, so compare only the beginning. */
function isRefused(message: string): boolean {
  return [waitMessages.upstream, waitMessages.backoff].some((words) => message.startsWith(words));
}

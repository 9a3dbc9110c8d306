import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';
import { createLogger } from '../../src/observability/log.ts';
import { openTracing, type Tracing } from '../../src/observability/tracing.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const caller = `00-${trace}-00f067aa0ba902b7`;
const request = { name: 'request', kind: 'server' } as const;
const spansOfABatch = 512;

let otlp: Awaited<ReturnType<typeof startOtlpReceiver>>;
let logged: string[];
const opened: Tracing[] = [];

beforeAll(async () => {
  otlp = await startOtlpReceiver();
});
beforeEach(() => {
  logged = [];
  otlp.spans.splice(0);
  Object.assign(otlp.answer, { status: 200, body: '', requests: 0 });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(opened.splice(0).map(({ tracer }) => tracer.close()));
});
afterAll(() => void otlp.close());

function open(environment: Readonly<Record<string, string>>): Promise<Tracing | undefined> {
  // OpenTelemetry's exporter reads these variables directly from the environment.
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const write = (line: string): void => void logged.push(line);
  const log = createLogger({ level: 'info', format: 'json', destination: { write } });
  return openTracing(readEnvironment(environment), { node: 'host/1', log });
}

async function openTraced(environment: Readonly<Record<string, string>> = {}): Promise<Tracing> {
  const tracing = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, ...environment });
  if (tracing === undefined) throw new Error('traces are off');
  opened.push(tracing);
  return tracing;
}

describe('whether there are traces', () => {
  it.each<[string, boolean, Record<string, string>]>([
    ['nothing is set', false, {}],
    ['an endpoint is set', true, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }],
    ['one of traces is set', true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1/x' }],
    ['the exporter is named', true, { OTEL_TRACES_EXPORTER: 'otlp' }],
    ['only the sampler is', false, { OTEL_TRACES_SAMPLER: 'always_on' }],
    [
      'none is the exporter',
      false,
      { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
    ],
    [
      'all is switched off',
      false,
      { OTEL_SDK_DISABLED: 'TRUE', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
    ],
  ])('%s: %s', async (_, isOn, environment) => {
    const tracing = await open(environment);
    expect(tracing !== undefined).toBe(isOn);
    await tracing?.tracer.close();
  });

  const script = fileURLToPath(new URL('traced-process.ts', import.meta.url));
  const run = async (environment: Readonly<Record<string, string>>): Promise<Record<string, any>> => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', new URL('../../src/typescript.js', import.meta.url).href, script],
      { env: { PATH: process.env['PATH'], ...environment } },
    );
    return JSON.parse(stdout);
  };

  it('if it is off, no process loads more than the metrics need', async () => {
    expect(await run({})).toEqual({ hooked: false, packages: ['@opentelemetry/api'] });
  });

  it('if it is on, promises are not hooked', async () => {
    const { hooked, packages, traceparent } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url });
    expect(hooked).toBe(false);
    expect(packages).toContain('@opentelemetry/sdk-trace');
    expect(otlp.spans.map(({ name }) => name)).toEqual(['step', 'request'].slice(0, otlp.spans.length));
    expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });
});

describe('a caller’s traceparent', () => {
  it('is continued', async () => {
    const { tracer } = await openTraced();
    const span = tracer.enter(`${caller}-01`, request);
    expect(span?.traceparent).toMatch(new RegExp(`^00-${trace}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`));
    span?.end();
    await tracer.close();
    expect(otlp.spans).toMatchObject([
      { trace, parent: '00f067aa0ba902b7', resource: { 'service.instance.id': 'host/1' } },
    ]);
  });

  it.each([
    '', 'x', caller, `${caller}-`, `${caller}-1`, `${caller}-01-more`, `ff${caller.slice(2)}-01`, `${caller}-01, ${caller}-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `00-${trace}-${'0'.repeat(16)}-01`, `${caller.toUpperCase()}-01`,
    `00-${trace}'"\n-00f067aa0ba902b7-01`, `00-${'a'.repeat(2_000)}`,
  ])('that is not valid is ignored: %j', async (header) => {
    const { tracer } = await openTraced();
    expect(tracer.enter(header, request)?.traceparent).not.toContain(trace);
  }); // prettier-ignore

  it('neither forces nor prevents the recording of its trace', async () => {
    const none = await openTraced({
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
    });
    const span = none.tracer.enter(`${caller}-01`, request);
    expect(span?.traceparent).toBe(`${caller}-00`);
    span?.end();
    expect(none.tracer.start(span?.traceparent, { name: 'below' })).toBeUndefined();
    expect(none.tracer.enter(undefined, request)).toBeUndefined();
    await none.tracer.close();
    expect(otlp.spans).toEqual([]);
    const all = await openTraced();
    expect(all.tracer.enter(`${caller}-00`, request)?.traceparent).toMatch(/-01$/);
  });

  it('cannot influence which traces are recorded', async () => {
    const { tracer } = await openTraced({
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.5',
    });
    // Any sampler that decides by the id would accept this one.
    const header = `00-${'0'.repeat(31)}1-00f067aa0ba902b7-01`;
    const flags = Array.from({ length: 200 }, () => tracer.enter(header, request)?.traceparent.slice(-2));
    expect(new Set(flags)).toEqual(new Set(['00', '01']));
  });
});

describe('the spans of a task', () => {
  it('are children of the process’s current step, or of none', async () => {
    const { tracer, tasks } = await openTraced();
    const parent = tracer.enter(undefined, request);
    const at = Date.now() - 60_000;
    const note = (task: string, name: string) =>
      tasks.note(task, { name, startedAt: at, endedAt: at + 2_000, attributes: {}, failed: 'lost' });
    await tasks.run('task_1', { name: 'outer', parent: parent?.traceparent }, async () => {
      await tasks.run('task_1', { name: 'inner' }, async () => note('task_1', 'call'));
      note('task_2', 'of another');
    });
    note('task_1', 'too late');
    await tracer.close();
    const [call, inner, outer, ...others] = otlp.spans;
    expect([call, inner, outer].map((span) => span?.name)).toEqual(['call', 'inner', 'outer']);
    expect([call?.parent, inner?.parent]).toEqual([inner?.id, outer?.id]);
    expect(call).toMatchObject({
      startedAt: at,
      endedAt: at + 2_000,
      isError: true,
      attributes: { 'error.type': 'lost' },
    });
    expect(others).toEqual([]);
  });

  it('contain the code of a failed step, not its message; a wait is not a failure', async () => {
    const { tracer, tasks } = await openTraced();
    const step = { name: 'step', parent: tracer.enter(undefined, request)?.traceparent };
    const fails = (error: Error) =>
      expect(tasks.run('task_1', step, () => Promise.reject(error))).rejects.toBe(error);
    await fails(Object.assign(new Error('a paper boat'), { code: 'ECONNRESET' }));
    await fails(Object.assign(new Error('later'), { type: 'WaitsForItsTurn', category: 'BENIGN' }));
    await tracer.close();
    expect(otlp.spans).toMatchObject([
      { isError: true, attributes: { 'error.type': 'ECONNRESET' } },
      { isError: false, attributes: { 'mediary.again': 'WaitsForItsTurn' } },
    ]);
    expect(JSON.stringify(otlp.spans)).not.toContain('a paper boat');
  });
});

describe('a receiver of traces', () => {
  const patiently = { timeout: 180_000 };

  async function emptyBatch({ tracer }: Tracing): Promise<void> {
    const before = otlp.answer.requests;
    for (let span = 0; span < spansOfABatch; span += 1) tracer.enter(undefined, request)?.end();
    await vi.waitFor(() => expect(otlp.answer.requests).toBeGreaterThan(before), patiently);
    // Leave some time for a response to take effect, if it does.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }

  it('that refuses is reported once, and once more when it recovers', async () => {
    const tracing = await openTraced();
    Object.assign(otlp.answer, { status: 400, body: 'the prompt was: a paper boat' });
    for (let batch = 0; batch < 3; batch += 1) await emptyBatch(tracing);
    await vi.waitFor(() => expect(logged).toHaveLength(1), patiently);
    expect(logged[0]).toContain('traces could not be sent');
    expect(logged[0]).not.toContain('a paper boat');
    Object.assign(otlp.answer, { status: 200, body: '' });
    for (let batch = 0; batch < 2; batch += 1) await emptyBatch(tracing);
    await vi.waitFor(() => expect(logged).toHaveLength(2), patiently);
    expect(logged[1]).toContain('traces are received again');
  });

  it('may return any response', async () => {
    const tracing = await openTraced();
    Object.assign(otlp.answer, { body: '\u0000\u00ff not a message' });
    await emptyBatch(tracing);
    expect(logged).toEqual([]);
  });

  it.each([
    ['never answers', async () => void (otlp.answer.status = 0), {}],
    ['is down', async () => undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }],
  ])('that %s delays neither spans nor the end', async (_, prepare, environment) => {
    await prepare();
    const { tracer } = await openTraced(environment);
    for (let span = 0; span < 10 * spansOfABatch; span += 1) tracer.enter(undefined, request)?.end();
    let isClosed = false;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const closing = tracer.close().then(() => (isClosed = true));
      await vi.advanceTimersByTimeAsync(3_000);
      expect(isClosed).toBe(true);
      await closing;
    } finally {
      vi.useRealTimers();
    }
  });
});

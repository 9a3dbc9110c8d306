import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { createGuardedClient } from '../../src/http-client/guarded-client.ts';
import type { GuardedClient } from '../../src/http-client/index.ts';
import type { FailureClass } from '../../src/errors/failure.ts';
import { isUnbilled } from '../../src/task/rescue.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import { noMediaUrl } from '../../src/models/stored-media.ts';
import { presentTask, taskSchemas } from '../../src/http/presenters/video-task.ts';
import { providers } from '../../src/providers/index.ts';
import type { ResultItem } from '../../src/task/task.ts';
import { UpstreamError, type Operation, type ProviderContext } from '../../src/providers/provider.ts';
import { firstRecord } from '../support/task-records.ts';
import { taskFaults } from '../../workshop/simulator/fault.ts';
import { startSimulator } from '../../workshop/simulator/simulator.ts';
import { isFinal } from '../../workshop/simulator/task.ts';
import { describeProviders } from './describe-providers.ts';
import { callback, imageIssue, providerContext, realMarker, submitContext } from './support.ts';
import { upstreamError } from './support.ts';
import { useSimulator } from './use-simulator.ts';
import { imageVendors, jobVendors, type JobVendor } from './vendors.ts';

/** Requirements for every adapter, tested on its simulator dialect through the real HTTP client. */

const renderSeconds = 80;
const simulator = useSimulator({ renderSeconds });
let guarded: GuardedClient;

beforeAll(() => {
  guarded = createGuardedClient({ networks: ['127.0.0.0/8'] });
});
afterAll(() => guarded.close());

const pngHead = Buffer.from('89504e470d0a1a0a', 'hex');

type Headers = Readonly<Record<string, string>>;

const media = (url: string | undefined, headers: Headers = {}) =>
  guarded.openMedia({ url: url ?? '', headers, maxBytes: 10_000_000, timeoutMs: 30_000 });

async function readAll(items: readonly ResultItem[], headersOf?: (url: string) => Headers): Promise<number> {
  let bytes = 0;
  for (const { url = '' } of items)
    for await (const chunk of (await media(url, headersOf?.(url))).body) bytes += chunk.byteLength;
  return bytes;
}

describe.each(jobVendors)('$name', (vendor) => {
  const { model, part } = vendor;
  const context = (): ProviderContext =>
    providerContext({ request: simulator.request, baseUrl: simulator.url + vendor.path, model });
  const submit = (prompt: string, marker = realMarker()) =>
    vendor.submit(prompt, submitContext({ ...context(), marker }));
  const jobsOf = (prompt: string) => simulator.control.tasks(prompt).length;

  async function end(fault: string) {
    const { operation } = await submit(`a boat ${fault}`);
    simulator.control.advance(100);
    return vendor.status(operation, context());
  }

  it('renders a job from submit to a link that works, and reports its usage', async () => {
    const { operation } = await submit('a boat');
    expect(JSON.stringify(operation).length).toBeLessThanOrEqual(1024);
    expect(JSON.stringify(operation)).not.toContain('test-key');
    expect(await vendor.status(operation, context())).toMatchObject({ state: 'pending' });
    simulator.control.advance(20);
    expect(await vendor.status(operation, context())).toMatchObject({ state: 'pending', phase: 'running' });
    simulator.control.advance(80);
    const status = await vendor.status(operation, context());
    if (status.state !== 'succeeded') throw new Error(`it is ${status.state}`);
    const reported = Object.keys({ ...status.facts, ...status.cost });
    expect(reported.length > 0).toBe(vendor.reportsNothing !== true);
    const headersOf = (url: string) => vendor.linkHeaders(url, context());
    expect(await readAll(status.items, headersOf)).toBeGreaterThan(100);
  });

  it.each(['[sim:content-redirect]', '[sim:proxy-link]'])(
    'reads a file that its vendor serves %s',
    async (fault) => {
      const status = await end(fault);
      if (status.state !== 'succeeded') throw new Error(`it is ${status.state}`);
      expect(await readAll(status.items, (url) => vendor.linkHeaders(url, context()))).toBeGreaterThan(100);
    },
  );

  it.each(['', '[sim:missing-usage]'])('a success is complete %s', async (fault) => {
    const ended = await end(fault);
    if (ended.state !== 'succeeded') throw new Error(`it is ${ended.state}`);
    const { items, facts } = ended;
    const outcome = { kind: 'succeeded', items, facts } as const;
    const record = { status: 'succeeded', outcome, charge: 7n, seconds: 5, progress: 76 } as const;
    const { kind } = vendor;
    const presented = presentTask(firstRecord('task_1', { kind, ...record }), noMediaUrl);
    expect(taskSchemas[kind].parse(presented)).toEqual(presented);
    expect(presented).toMatchObject({ progress: 100, charge: '0.000007', data: [expect.any(Object)] });
    if (kind === 'image') return;
    expect(presented).toMatchObject({ video_url: presented.data[0]?.url, duration: expect.any(Number) });
    expect('duration' in presented ? presented.duration : 0).toBeGreaterThan(0);
  });

  it('reads the other form of a response that the documentation leaves open', async () => {
    expect(await end('[sim:docs-shape]')).toMatchObject({
      state: 'succeeded',
      items: [{ url: expect.any(String) }],
    });
  });

  it('omits what a response without usage does not report', async () => {
    const status = await end('[sim:missing-usage]');
    if (status.state !== 'succeeded') throw new Error(`it is ${status.state}`);
    expect(status.facts.usage).toBeUndefined();
    expect(Object.values(status.facts)).not.toContain(0);
  });

  it('distinguishes moderation before and after the submit from other failures', async () => {
    if (vendor.inspectsInJob === true) {
      expect(await end('[sim:moderation]')).toMatchObject({
        state: 'failed',
        failure: { class: vendor.moderatedBefore ?? 'moderation_input' },
      });
    } else {
      const before = await upstreamError(submit('a boat [sim:moderation]'));
      expect([before.outcome, before.failure.class]).toEqual(['rejected', 'moderation_input']);
      expect(jobsOf('a boat')).toBe(0);
    }
    expect(await end('[sim:moderation-in-task]')).toMatchObject({
      state: 'failed',
      failure: { class: vendor.moderatedLater },
    });
    expect(await end('[sim:failed]')).toMatchObject({ state: 'failed', failure: { class: 'internal' } });
  });

  if (vendor.inspectsInJob !== true)
    it('takes a query that is rejected for its content as the end of the job', async () => {
      const { operation } = await submit('a boat [sim:poll:moderation]');
      const ended = await vendor.status(operation, context()).catch((error: unknown) => error);
      // A 403 may be about the key.
      if (ended instanceof UpstreamError) expect([ended.status, ended.gone]).toEqual([403, false]);
      else expect(ended).toMatchObject({ state: 'failed', failure: { class: 'moderation_input' } });
    });

  it.each(['failed', 'moderation-in-task'] as const)(
    'knows whether a job is billed after %s',
    async (fault) => {
      const status = await end(`[sim:${fault}]`);
      if (status.state !== 'failed') throw new Error(`it is ${status.state}`);
      expect(isUnbilled(status)).toBe(vendor.unbilled?.includes(fault) ?? false);
      expect(status.unbilled === true).toBe(isPromised(vendor, status.failure.class));
    },
  );

  it('distinguishes rejections that call for waiting from those that call for another channel', async () => {
    const throttled = await upstreamError(submit('a boat [sim:429=7]'));
    expect([throttled.outcome, throttled.failure.class]).toEqual(['throttled', 'capacity']);
    expect(throttled.retryAfterMs).toBe(7_000);
    const wrongKey = { ...submitContext(context()), credential: { id: 'b', apiKey: 'wrong' } };
    const unknown = await upstreamError(vendor.submit('a boat', wrongKey));
    expect([unknown.outcome, unknown.failure.class]).toEqual(['unavailable', 'quota']);
    expect(jobsOf('a boat')).toBe(0);
  });

  it.each(['401', '403', '404', 'quota', 'redirect'])(
    'concludes from the rejection %s that there is no job',
    async (fault) => {
      const { outcome } = await upstreamError(submit(`a boat [sim:${fault}]`));
      expect(['rejected', 'unavailable', 'throttled']).toContain(outcome);
      expect(jobsOf('a boat')).toBe(0);
    },
  );

  it.each([
    ['500', 0],
    ['502', 0],
    ['504', 0],
    ['reset', 0],
    ['accepted-then-silent', 1],
    ['accepted-500', 1],
    ['accepted-502', 1],
    ['malformed', 1],
    ['empty', 1],
    ['html', 1],
    ['gzip', 1],
    ['accepted-504', 1],
  ])('never takes %s for a rejection', async (fault, accepted) => {
    const error = await upstreamError(submit(`a boat [sim:${fault}]`));
    expect([error.outcome, jobsOf('a boat')]).toEqual(['ambiguous', accepted]);
  });

  it('reads a job with any fault of a task as one of its states, or reports that it cannot', async () => {
    for (const fault of taskFaults) {
      const status = await end(`[sim:${fault}]`).catch((error: unknown) => error);
      if (status instanceof UpstreamError) continue;
      expect([fault, status]).toEqual([fault, expect.objectContaining({ state: expect.any(String) })]);
    }
  });

  const { parseCallback, verifyCallback } = part.callbacks;
  if (parseCallback !== undefined && vendor.uncalled !== true)
    it('gets a callback when the job ends, and accepts the genuine signature', async () => {
      const callbackSecret = vendor.callbackSecret ?? 'secret';
      const credential = { id: 'a', apiKey: 'test-key', callbackSecret };
      let aheadMs = 0;
      const ends: Promise<boolean | undefined>[] = [];
      const receiver = await startCallbackReceiver((response, index) => {
        const { body, headers } = receiver.received[index] ?? {};
        const came = {
          ...callback(body),
          url: receiver.url,
          header: (name: string) => headers?.[name]?.toString(),
        };
        const said = parseCallback?.(came);
        const at = { ...context(), credential, now: Date.now() + aheadMs };
        if (said?.ended === true) ends.push(verifyCallback?.(came, at) ?? Promise.resolve(undefined));
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(said?.reply ?? {}));
      });
      onTestFinished(() => receiver.close());
      await vendor.submit('a boat', submitContext({ ...context(), credential, callbackUrl: receiver.url }));
      await expect
        .poll(() => {
          // Stop the clock once the job has finished. Otherwise, the signature of its callback would become too old.
          if (!simulator.control.tasks('a boat').some(({ phase }) => isFinal(phase))) {
            simulator.control.advance(10);
            aheadMs += 10_000;
          }
          return ends.length;
        })
        .toBeGreaterThan(0);
      expect(await ends[0]).toBe(verifyCallback === undefined ? undefined : true);
    });

  it('is continued by a simulator that restarts', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mediary-simulator-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const options = {
      host: '127.0.0.1',
      // URLs in the operation contain the port, so no other process may take the port during the restart.
      port: await choosePort('any', 'the simulator'),
      apiKeys: ['test-key'],
      stateFile: join(directory, 'state.jsonl'),
    };
    const first = await startSimulator({ ...options, renderSeconds });
    const at = (url: string) => ({ ...context(), baseUrl: url + vendor.path });
    const { operation } = await vendor.submit(
      'a boat',
      submitContext({ ...at(first.url), marker: realMarker() }),
    );
    await first.close();
    const next = await startSimulator({ ...options, renderSeconds });
    onTestFinished(() => next.close());
    next.control.advance(100);
    expect(await vendor.status(operation, at(next.url))).toMatchObject({ state: 'succeeded' });
  });

  it('finds the job of a lost response, or leaves it to an operator', async () => {
    const prompt = 'a lost boat [sim:accepted-then-silent]';
    const marker = realMarker();
    await upstreamError(submit(prompt, marker));
    const [job] = simulator.control.tasks('a lost boat');
    const found = await vendor.find(prompt, marker, context());
    if (!part.finds) expect(found).toBeUndefined();
    else
      expect(found?.map(({ operation }) => operation.id)).toEqual(vendor.unmarked === true ? [] : [job?.id]);
  });

  it('never mistakes another task’s lost job of the same model and time for its own', async () => {
    const prompt = 'a lost boat [sim:accepted-then-silent]';
    const markers = [realMarker(), realMarker()];
    for (const marker of markers) await upstreamError(submit(prompt, marker));
    const jobs = simulator.control.tasks('a lost boat').map(({ id }) => id);
    expect(jobs).toHaveLength(2);
    for (const [index, marker] of markers.entries()) {
      const found = (await vendor.find(prompt, marker, context())) ?? [];
      const expected = part.finds && vendor.unmarked !== true ? [jobs[index]] : [];
      expect(found.map(({ operation }) => operation.id)).toEqual(expected);
    }
  });

  it('keeps waiting after an unknown status', async () => {
    const { operation } = await submit('a boat [sim:unknown-status]');
    simulator.control.advance(20);
    expect(await vendor.status(operation, context())).toMatchObject({ state: 'pending', phase: 'running' });
  });

  /** A DELETE would remove a finished job's result, so an adapter that refuses to cancel must not have sent one. */
  async function cancelled(operation: Operation): Promise<'cancelled' | 'refused' | undefined> {
    const methods: string[] = [];
    const request: ProviderContext['request'] = (asked) => {
      methods.push(asked.method);
      return simulator.request(asked);
    };
    const answer = await vendor.cancel(operation, { ...context(), request });
    if (answer === 'refused') expect(methods).not.toContain('DELETE');
    return answer;
  }

  it('cancels up to the state that it declares, and distinguishes a refusal from a success', async () => {
    const until = vendor.cancelUntil ?? part.cancelUntil;
    const expected = (allowed: boolean) =>
      part.cancelUntil === 'never' ? undefined : allowed ? 'cancelled' : 'refused';
    const queued = await submit('a boat');
    expect(await vendor.cancel(queued.operation, context())).toBe(expected(until !== 'never'));
    if (vendor.forgetsCancelled === true) {
      expect((await upstreamError(vendor.status(queued.operation, context()))).gone).toBe(true);
    } else if (until !== 'never') {
      expect(await vendor.status(queued.operation, context())).toMatchObject({
        state: 'failed',
        failure: { class: 'cancelled' },
      });
    }
    const running = await submit('a boat');
    simulator.control.advance(20);
    expect(await cancelled(running.operation)).toBe(expected(until === 'running'));
    const ended = await submit('a boat');
    simulator.control.advance(100);
    expect(await cancelled(ended.operation)).toBe(expected(false));
    expect(await vendor.status(ended.operation, context())).toMatchObject({ state: 'succeeded' });
  });

  if (part.cancelUntil !== 'never')
    it.each(['', '[sim:docs-shape]'])(
      'never reports a job as cancelled that is charged, even if it starts meanwhile %s',
      async (fault) => {
        const { operation } = await submit(`a boat ${fault}`);
        const request: ProviderContext['request'] = (asked) => {
          if (asked.method !== 'GET') simulator.control.advance(20);
          return simulator.request(asked);
        };
        const answer = await vendor.cancel(operation, { ...context(), request });
        const after = await vendor.status(operation, context()).catch((error: unknown) => {
          if (error instanceof UpstreamError && error.gone) return undefined;
          throw error;
        });
        const paid = Number(after !== undefined && 'cost' in after ? (after.cost?.amount ?? 0) : 0);
        expect([answer, paid > 0]).not.toEqual(['cancelled', true]);
      },
    );

  it('charges by the response, not by the request', async () => {
    const measured = async (fault: string) => {
      const status = await end(fault);
      if (status.state !== 'succeeded') throw new Error(`it is ${status.state}`);
      const { usage, durationSeconds, images } = status.facts;
      const seconds = durationSeconds ?? images ?? 0;
      return [usage?.completionTokens ?? usage?.totalTokens ?? seconds, Number(status.cost?.amount ?? 0)];
    };
    const [usual = 0, paid = 0] = await measured('');
    const [more = 0, dearer = 0] = await measured('[sim:usage-above=2]');
    expect([more > usual, dearer > paid]).toContain(vendor.billsUntold !== true);
    expect([more < usual, dearer < paid]).not.toContain(true);
  });

  it('reports many jobs in one response exactly as it reports each of them', async () => {
    const jobs = [await submit('a boat'), await submit('a boat')];
    const operations = jobs.map(({ operation }) => operation);
    const ask = () => vendor.list([...operations, { id: 'unknown' }], context());
    for (const seconds of [0, 20, 80]) {
      simulator.control.advance(seconds);
      const found = await ask();
      expect(found === undefined).toBe(!part.lists);
      expect(found?.has('unknown') ?? false).toBe(false);
      // If a list does not report how a job ended, the adapter must leave that job out of its result.
      for (const [index, operation] of operations.entries()) {
        const listed = found?.get(operation.id);
        const alone = await vendor.status(operation, context());
        expect([index, listed?.state ?? alone.state]).toEqual([index, alone.state]);
      }
    }
  });

  it('knows when a link expires, and the link works until then', async () => {
    const status = await end('');
    const [item] = status.state === 'succeeded' ? status.items : [];
    const [job] = simulator.control.tasks('a boat');
    const now = (job?.created_at ?? 0) + 100;
    if (item?.expiresAt === undefined) {
      expect(item?.url).toMatch(/^http/);
      return;
    }
    expect(item.expiresAt).toBeGreaterThan(now);
    simulator.control.advance(item.expiresAt - now - 30);
    expect(await readAll([item])).toBeGreaterThan(100);
  });

  it('a job that never ends is pending, expired or unknown after three days, and nothing else', async () => {
    const { operation } = await submit('a boat [sim:never-finishes]');
    simulator.control.advance(73 * 3600);
    const status = await vendor.status(operation, context()).catch((error: unknown) => {
      if (error instanceof UpstreamError && error.gone) return undefined;
      throw error;
    });
    const ending = status?.state === 'failed' ? status.failure.class : (status?.state ?? 'gone');
    expect(['gone', 'pending', 'expired', 'internal']).toContain(ending);
  });

  it('returns a dead link unchanged, because the copy reports it', async () => {
    const status = await end('[sim:url-403]');
    const [item] = status.state === 'succeeded' ? status.items : [];
    const headers = vendor.linkHeaders(item?.url ?? '', context());
    await expect(media(item?.url, headers)).rejects.toMatchObject({ code: 'bad_status', status: 403 });
  });

  it('reports a job as gone only if the upstream does', async () => {
    const { operation } = await submit('a boat [sim:vanishes]');
    simulator.control.advance(20);
    expect((await upstreamError(vendor.status(operation, context()))).gone).toBe(true);
    const other = await submit('a boat [sim:poll:502*1]');
    expect((await upstreamError(vendor.status(other.operation, context()))).gone).toBe(false);
    expect(await vendor.status(other.operation, context())).toMatchObject({ state: 'pending' });
  });
});

function isPromised({ name, model }: JobVendor, failure: FailureClass): boolean {
  const unbilled = providers[name.split(/[ ,]/)[0] ?? '']?.about.unbilled;
  if (unbilled === undefined || !model.startsWith(unbilled.models ?? '')) return false;
  return unbilled.classes === 'all' || unbilled.classes.includes(failure);
}

describe.each(imageVendors)('$name images ($model)', (vendor) => {
  const context = (): ProviderContext =>
    providerContext({
      request: simulator.request,
      baseUrl: simulator.url + vendor.path,
      model: vendor.model,
    });
  beforeEach(() => simulator.control.setRenderSeconds(0));
  const generate = (fault: string) => vendor.image.generate(vendor.request(`a boat ${fault}`), context());

  it('delivers at least one image', async () => {
    const { images, facts } = await generate('');
    expect(images.length).toBe(1);
    expect(facts.images).toBe(1);
    const [first] = images;
    if (first?.base64 === undefined) expect(await readAll([{ url: first?.url ?? '' }])).toBeGreaterThan(100);
    else expect(first.base64.toString().length).toBeGreaterThan(100);
  });

  it('sends a reference image from data and from a file', async () => {
    const bytes = Buffer.concat([pngHead, Buffer.alloc(20_000)]);
    const path = join(await mkdtemp(join(tmpdir(), 'mediary-reference-')), 'image');
    await writeFile(path, bytes);
    const mediaType = 'image/png';
    for (const reference of [
      { form: 'data', mediaType, base64: bytes.toString('base64') } as const,
      { form: 'file', mediaType, path, name: 'a.png', bytes: bytes.length } as const,
    ]) {
      const asked = { ...vendor.request('a boat'), operation: 'edit', images: [reference] } as const;
      expect(imageIssue(vendor.image, asked, vendor.model)).toBeUndefined();
      expect((await vendor.image.generate(asked, context())).images).toHaveLength(1);
    }
    await rm(dirname(path), { recursive: true });
  });

  it('omits what a response without usage does not report', async () => {
    expect((await generate('[sim:missing-usage]')).facts.usage).toBeUndefined();
  });

  it.each([
    ['moderation', 'rejected', 'moderation_input'],
    ['429=7', 'throttled', 'capacity'],
    ['401', 'unavailable', 'quota'],
    ['500', 'ambiguous', 'internal'],
    ['accepted-then-silent', 'ambiguous', 'internal'],
  ])('takes %s for %s, of class %s', async (fault, outcome, failure) => {
    const error = await upstreamError(generate(`[sim:${fault}]`));
    expect([error.outcome, error.failure.class]).toEqual([outcome, failure]);
  });
});

describe('the table of adapters', () => {
  const parts = Object.entries(providers).flatMap(([name, { video, imageTask }]) =>
    [video, imageTask].flatMap((part) => (part === undefined ? [] : [[name, part] as const])),
  );

  it('has a row in this suite for every adapter', () => {
    const tested = [...jobVendors, ...imageVendors].map(({ name }) => name.split(/[ ,]/)[0]);
    expect(new Set(tested)).toEqual(new Set(Object.keys(providers)));
  });

  it.each(parts)('%s: its description agrees with its methods', (_, part) => {
    expect(part.cancelUntil === 'never').toBe(part.cancel === undefined);
    expect(part.listMax === undefined).toBe(part.list === undefined);
  });

  it('is what docs/providers.md says (UPDATE_DOCS=1 writes the page)', () => {
    const page = new URL('../../docs/providers.md', import.meta.url);
    const text = describeProviders(providers);
    // oxlint-disable-next-line node/no-process-env -- a switch of this test, not of the product
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, text);
    expect(readFileSync(page, 'utf8')).toBe(text);
  });
});

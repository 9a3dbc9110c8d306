import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runLine } from '../cli/support.ts';
import { actOn, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';

const apiKey = 'Sesame-Open-4711';
const user = 'alice.liddell';
const words = {
  prompt: 'a confidential turquoise walrus',
  link: 'https://files.example/holiday/walrus.png?signature=topsecret',
  user,
};
/** None of the caller's input may appear, in upper or lower case. Links are recognised by their file names. */
const callers = ['turquoise', 'holiday', 'topsecret', user];
/** The ledger's `end_user` may appear. Operators search by that name, and it does not come from an upstream. */
const ownUser = new RegExp(`"end_user":\\s*"${user}"`, 'g');
const callersIn = (text: string) =>
  callers.filter((part) => text.replaceAll(ownUser, '').toLowerCase().includes(part));
const keysIn = (text: string) => (text.includes(apiKey) ? [apiKey] : []);

const said = `No: "${words.prompt}" by ${user} with ${words.link} and ${apiKey}`;
const refusal = { code: 'InvalidParameter', message: said, param: user, type: said };
const misdeeds = {
  refuses: { create: 400 },
  fails: { create: 200, poll: 200 },
  names: { create: 200, poll: 200 },
  throttles: { create: 429 },
  'cannot say': { create: 200, poll: 500 },
  loses: { create: 500 },
} as const satisfies Record<string, { readonly create: number; readonly poll?: number }>;
type Misdeed = keyof typeof misdeeds;
const names = Object.keys(misdeeds) as Misdeed[];

async function startRepeatingUpstream() {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, {
        'content-type': 'application/json',
        'x-request-id': user,
        'x-said': said,
      });
      response.end(JSON.stringify(body));
    };
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const id = request.url?.split('/').at(-1) ?? '';
      const seed = request.method === 'POST' ? JSON.parse(Buffer.concat(chunks).toString()).seed : undefined;
      const name = seed === undefined ? names[Number(/^job-(\d)$/.exec(id)?.[1])] : names[seed];
      if (name === undefined) return answer(400, { error: refusal });
      const misdeed: { create: number; poll?: number } = misdeeds[name];
      const failure = { ...refusal, code: name === 'names' ? user : refusal.code };
      if (seed !== undefined) {
        return answer(misdeed.create, misdeed.create === 200 ? { id: `job-${seed}` } : { error: failure });
      }
      return answer(misdeed.poll ?? 404, { id, status: 'failed', error: failure, content: { prompt: said } });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const imageModel = `  - id: pictures
    kind: image
    price: { lines: [{ measure: image, price: "0.10" }] }
`;

describe('text that an upstream repeats', () => {
  let upstream: Awaited<ReturnType<typeof startRepeatingUpstream>>;
  let otlp: Awaited<ReturnType<typeof startOtlpReceiver>>;
  let gateway: TestGateway;
  let account: TestAccount;
  const tasks = new Map<Misdeed, string>();

  beforeAll(async () => {
    [upstream, otlp] = await Promise.all([startRepeatingUpstream(), startOtlpReceiver()]);
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = otlp.url;
    gateway = await startGateway({
      yaml: testYaml
        .replace('${SIMULATOR_URL}', upstream.url)
        .replace('api_key: simulated', `api_key: ${apiKey}`)
        .replace('models: { ', 'models: { pictures: { upstream: doubao-seedream-4-0-250828 }, ')
        .concat(imageModel),
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url },
      watchesLog: true,
    });
    account = await gateway.account();
    for (const [seed, name] of names.entries()) {
      const { status, body } = await account.create({
        prompt: words.prompt,
        image: words.link,
        user,
        seed,
      });
      expect([name, status, body]).toEqual([name, 200, body]);
      tasks.set(name, body.id);
    }
  });
  afterAll(async () => {
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
    await gateway.stop();
    await otlp.close();
    upstream.close();
  });

  const idOf = (name: Misdeed) => tasks.get(name) ?? '';
  const recordOf = async (name: Misdeed) => gateway.core.stores.tasks.find(idOf(name));

  it('has happened to each task', async () => {
    for (const name of ['refuses', 'fails', 'names'] as const) {
      expect(await account.finished(idOf(name))).toMatchObject({ status: 'failed' });
    }
    await expect.poll(async () => (await recordOf('throttles'))?.attempts.length).toBe(1);
    await expect.poll(async () => (await recordOf('loses'))?.state.at).toMatch(/^(?:searching|asking)$/);
    const waiting = async () => (await gateway.admin('GET', `/tasks/${idOf('cannot say')}`)).body.waiting;
    await expect.poll(async () => (await waiting())?.failed_polls).toBeGreaterThan(0);
  });

  it('is visible to the caller, except the key', async () => {
    for (const name of ['refuses', 'fails', 'names'] as const) {
      const { text, body } = await account.call('GET', `/v1/videos/generations/${idOf(name)}`);
      expect([name, body.error.message]).toEqual([name, expect.stringContaining('walrus')]);
      expect(keysIn(text)).toEqual([]);
    }
    const image = await account.call('POST', '/v1/images/generations', {
      body: { model: 'pictures', prompt: words.prompt, user },
    });
    expect([image.status, image.text]).toEqual([expect.any(Number), expect.stringContaining('walrus')]);
    expect(keysIn(image.text)).toEqual([]);
  });

  it('is in no response to an operator', async () => {
    const { body: document } = await gateway.call('GET', '/openapi.json');
    const paths = Object.entries<Record<string, unknown>>(document.paths)
      .filter(([path, operations]) => path.startsWith('/admin/') && 'get' in operations)
      .map(([path]) => path);
    expect(paths).toContain('/admin/v1/tasks/{task_id}/record');
    const showsCaller = /\/(?:request|export)$/;
    const asked: string[] = [];
    const answered = new Set<string>();
    for (const path of paths) {
      for (const task of tasks.values()) {
        const address = path
          .replace(/\{(?:task_id|task|id)\}/, task)
          .replace(/\{account(?:_id)?\}/, account.id)
          .replace(/\{key(?:_id)?\}/, account.keyId);
        const query = path.endsWith('/record')
          ? '?history=true'
          : path.endsWith('/find')
            ? `?id=${task}`
            : '';
        if (asked.includes(address + query)) continue;
        asked.push(address + query);
        const { status, text } = await gateway.admin('GET', address + query);
        if (status === 200) answered.add(path);
        const shown = showsCaller.test(path) ? [] : callersIn(text);
        expect([address, shown, keysIn(text)]).toEqual([address, [], []]);
      }
    }
    const exits = ['tasks', 'tasks/{task_id}', 'tasks/{task_id}/record', 'audit', 'notices', 'overview'];
    for (const exit of exits) expect([...answered]).toContain(`/admin/v1/${exit}`);
  });

  it('is not shown by the command line', async () => {
    const change = { token: gateway.adminToken };
    const lines = [...tasks.values()].flatMap((task) => [
      ['tasks', 'show', task],
      ['tasks', 'show', task, '-o', 'json'],
    ]);
    for (const line of [['tasks', 'list'], ['audit'], ['notices', 'list'], ...lines]) {
      const { text } = await runLine(gateway, line, change);
      expect(text).not.toBe('');
      expect([line, callersIn(text), keysIn(text)]).toEqual([line, [], []]);
    }
    const file = join(await mkdtemp(join(tmpdir(), 'exits-')), 'record.json');
    for (const task of tasks.values()) {
      await runLine(gateway, ['tasks', 'export', task, '--out', file], change);
      const text = await readFile(file, 'utf8');
      expect([task, callersIn(text), keysIn(text)]).toEqual([task, [], []]);
    }
    await rm(dirname(file), { recursive: true });
  });

  it('is in no history, log, metric or trace', async () => {
    for (const [name, task] of tasks) {
      const handle = gateway.core.client.workflow.getHandle(task);
      const kept = [
        await handle.fetchHistory(),
        await handle.describe(),
        await handle.query('__temporal_workflow_metadata'),
      ];
      const text = kept.map((one) => JSON.stringify(one, plain)).join('\n');
      expect([name, callersIn(text), keysIn(text)]).toEqual([name, [], []]);
    }
    await expect.poll(() => otlp.spans.length).toBeGreaterThan(0);
    const outside = {
      log: gateway.logLines.join('\n'),
      metrics: await gateway.core.metrics.render(),
      traces: JSON.stringify(otlp.spans),
    };
    for (const [exit, text] of Object.entries(outside)) {
      expect(text).not.toBe('');
      expect([exit, callersIn(text), keysIn(text)]).toEqual([exit, [], []]);
    }
  });

  it('is in no document of the database', async () => {
    const { db } = gateway.core.mongo;
    for (const { name } of await db.listCollections().toArray()) {
      const documents = await db.collection(name).find().toArray();
      const text = documents.map((document) => JSON.stringify(document, plain)).join('\n');
      expect([name, callersIn(text).filter((part) => part !== user), keysIn(text)]).toEqual([name, [], []]);
    }
  });

  it('is not in the response to an operator’s act', async () => {
    const { text } = await actOn(gateway.admin, idOf('cannot say'), { action: 'fail', reason: 'a test' });
    expect([callersIn(text), keysIn(text)]).toEqual([[], []]);
  });
});

function plain(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  const isBytes = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
  return isBytes && 'data' in value ? Buffer.from(value.data as number[]).toString('latin1') : value;
}

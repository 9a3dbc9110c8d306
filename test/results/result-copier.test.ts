import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ResultItem } from '../../src/task/task.ts';
import type { OpenLink } from '../../src/http-client/index.ts';
import { createGuardedClient } from '../../src/http-client/guarded-client.ts';
import { createLogger } from '../../src/observability/log.ts';
import { createDirectoryStorage } from '../../src/results/directory-storage.ts';
import { createResultCopier } from '../../src/results/result-copier.ts';
import type { ResultStorage } from '../../src/results/storage.ts';
import { isOutage } from '../../src/store/mongo.ts';
import { createResultCopyStore } from '../../src/store/result-copies.ts';
import { openDatabase } from '../capacity/support.ts';
import { mp4Head, png, serve, type TestServer } from './support.ts';

const mebibyte = 1024 * 1024;
const maxBytes = 300 * mebibyte;
const largeBytes = 200 * mebibyte;

const seenKeys: unknown[] = [];
let otherHost = '';

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { url = '' } = request;
  switch (url) {
    case '/page':
      response.setHeader('content-type', 'image/png').end('<html><script>alert(1)</script></html>');
      break;
    case '/svg':
      response.setHeader('content-type', 'image/svg+xml').end('<svg xmlns="http://www.w3.org/2000/svg"/>');
      break;
    case '/gone':
      response.writeHead(404).end();
      break;
    case '/busy':
      response.writeHead(503).end();
      break;
    case '/empty':
      response.end();
      break;
    case '/short':
      response.setHeader('content-length', '5000').write(png(1000), () => response.destroy());
      break;
    case '/huge':
      response.setHeader('content-length', String(maxBytes + 1)).write(png(1000));
      break;
    case '/endless':
      response.write(mp4Head);
      void pump(response, Number.POSITIVE_INFINITY);
      break;
    case '/large':
      response.write(mp4Head);
      void pump(response, largeBytes);
      break;
    case '/inside':
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
      break;
    case '/locked':
      if (request.headers['x-key'] === undefined) response.writeHead(403).end();
      else response.writeHead(302, { location: '/keyed' }).end();
      break;
    case '/elsewhere':
      response.writeHead(302, { location: `${otherHost}/keyed` }).end();
      break;
    case '/keyed':
      seenKeys.push(request.headers['x-key']);
      response.end(png(5000));
      break;
    case '/hangs':
      response.write(mp4Head);
      break;
    default:
      response.setHeader('content-type', 'application/octet-stream').end(png(5000));
  }
}

async function pump(response: ServerResponse, bytes: number): Promise<void> {
  response.setMaxListeners(0);
  const chunk = Buffer.alloc(mebibyte);
  for (let sent = 0; sent < bytes && !response.destroyed; sent += chunk.length) {
    if (!response.write(chunk)) {
      await new Promise((resolve) => void response.once('drain', resolve).once('close', resolve));
    }
  }
  response.end();
}

describe('the copy of a result', () => {
  let server: TestServer;
  let directory: string;
  let database: Awaited<ReturnType<typeof openDatabase>>;
  // This client has no time limit of its own, so only the copy's limit can end the copy.
  const client = createGuardedClient({ networks: ['127.0.0.0/8'], bodyTimeoutMs: 3_600_000 });
  beforeAll(async () => {
    [server, directory, database] = await Promise.all([
      serve(answer),
      mkdtemp(join(tmpdir(), 'mediary-copier-')),
      openDatabase(),
    ]);
  });
  afterAll(async () => {
    await client.close();
    await server.close();
    await rm(directory, { recursive: true, force: true });
    await database.drop();
  });

  const copyOf = async (
    task: string,
    path: string,
    {
      timeoutMs = 60_000,
      headers,
      storage = createDirectoryStorage(directory),
      openLink = (_channel, fetch) => client.openMedia(fetch),
      count = 1,
    }: {
      timeoutMs?: number;
      headers?: Record<string, string>;
      storage?: ResultStorage;
      openLink?: OpenLink;
      count?: number;
    } = {},
  ) => {
    const copies = createResultCopyStore(database.db);
    const copier = createResultCopier({
      storage,
      copies,
      tasks: {
        find: () => Promise.resolve(undefined),
        replaceItems: () => Promise.resolve(),
        setConcern: () => Promise.resolve(true),
        isOutage,
      },
      openLink,
      maxBytes,
      channels: () => undefined,
      retentionSeconds: 60,
      log: createLogger({ level: 'silent', format: 'json' }),
      now: Date.now,
    });
    const item = { url: path.startsWith('http') ? path : `${server.url}${path}` };
    const items = Array.from({ length: count }, (): ResultItem => item);
    const options = { timeoutMs, channel: 'c', headersFor: () => headers };
    const delivered = await copier.deliver(task, items, options);
    return {
      item: delivered.items[0],
      evidence: delivered.problem?.evidence,
      record: await copies.find(task),
    };
  };

  it('takes its type from the bytes, not from the upstream’s content type', async () => {
    const { item, record } = await copyOf('task_plain', '/plain');
    expect(item?.stored).toMatchObject({ name: '0.png' });
    expect(item?.url).toBe(`${server.url}/plain`);
    expect(record).toMatchObject({ state: 'stored', names: ['0.png'], tries: 1 });
  });

  it.each(['/page', '/svg'])('is not made of %s, whatever its content type', async (path) => {
    const { item, record } = await copyOf(`task_${path.slice(1)}`, path);
    expect(item?.stored).toBeUndefined();
    expect(record).toMatchObject({ state: 'gave_up', names: [] });
  });

  it.each(['http://10.0.0.1/x.mp4', 'http://169.254.169.254/x', 'file:///etc/passwd', '/inside'])(
    'never opens %s',
    async (url) => {
      const { item, evidence, record } = await copyOf(`task_${url.length}`, url);
      expect(item?.stored).toBeUndefined();
      expect(evidence).toBe('refused');
      expect(record?.error).toContain('address_refused');
    },
  );

  it('opens a link with the vendor’s key, which no other host receives', async () => {
    const headers = { 'x-key': 'secret' };
    const other = await serve(answer);
    otherHost = other.url;
    expect((await copyOf('task_without_key', '/locked')).item?.stored).toBeUndefined();
    expect((await copyOf('task_with_key', '/locked', { headers })).item?.stored?.name).toBe('0.png');
    expect(seenKeys).toEqual(['secret']);
    expect((await copyOf('task_elsewhere', '/elsewhere', { headers })).item?.stored?.name).toBe('0.png');
    expect(seenKeys).toEqual(['secret', undefined]);
    await other.close();
  });

  it('is not made of a file over the limit', async () => {
    const { record } = await copyOf('task_huge', '/huge');
    expect(record?.error).toContain('answer_too_large');
  });

  it('is recorded before its bytes are written, so that the files of a killed worker are deleted', async () => {
    const copies = createResultCopyStore(database.db);
    const storage = createDirectoryStorage(directory);
    const found: unknown[] = [];
    await copyOf('task_recorded', '/plain', {
      storage: {
        ...storage,
        write: async (...file) => {
          found.push(await copies.find('task_recorded'));
          await storage.write(...file);
        },
      },
    });
    expect(found).toMatchObject([{ state: 'retry', names: ['0.png'], tries: 0 }]);
  });

  it('that there is no time for is not made, and all links are opened at the same time', async () => {
    let opened = 0;
    let openAll = (): void => undefined;
    const allOpened = new Promise<void>((resolve) => (openAll = resolve));
    const openLink: OpenLink = async (_channel, { signal, url, maxBytes: most, timeoutMs }) => {
      if (signal === undefined) {
        if ((opened += 1) === 3) openAll();
        await allOpened;
        return client.openMedia({ url, maxBytes: most, timeoutMs });
      }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw new Error('the copy took too long');
    };
    const { evidence } = await copyOf('task_late', '/gone', { timeoutMs: 1, openLink, count: 4 });
    expect([opened, evidence]).toEqual([3, 'refused']);
  });

  it('is retried if the file broke off, or did not arrive in time', async () => {
    expect(await copyOf('task_short', '/short')).toMatchObject({
      evidence: 'silent',
      record: { state: 'retry', names: ['0.png'] },
    });
    // On a busy machine, even the head of the response may take longer, so the limit is doubled until it suffices.
    let timeoutMs = 100;
    const late = () => copyOf(`task_hangs_${(timeoutMs *= 2)}`, '/hangs', { timeoutMs });
    await expect.poll(late).toMatchObject({ evidence: undefined, record: { state: 'retry', tries: 1 } });
  });

  it.each([
    ['/gone', 'refused'],
    ['/busy', 'silent'],
    ['/empty', 'refused'],
    ['/page', undefined],
    ['/huge', undefined],
  ])('reports for %s that its link is %s', async (path, evidence) => {
    const { evidence: seen, record } = await copyOf(`task_evidence_${path.slice(1)}`, path);
    expect(seen).toBe(evidence);
    expect(record?.tries).toBe(evidence === undefined ? 1 : 0);
  });

  it('streams: a large video is never in memory as a whole, and an endless one ends at the limit', async () => {
    let peak = 0;
    const before = process.memoryUsage().rss;
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss - before)), 20);
    // The time limit is an hour, because a busy machine needs minutes for so many bytes.
    const { item } = await copyOf('task_large', '/large', { timeoutMs: 3_600_000 });
    const endless = await copyOf('task_endless', '/endless', { timeoutMs: 3_600_000 });
    clearInterval(timer);
    expect(item?.stored?.name).toBe('0.mp4');
    expect(endless.record?.error).toContain('answer_too_large');
    expect(peak).toBeLessThan(largeBytes / 2);
    // Poll, because copies that earlier tests aborted may remove their parts late.
    await expect.poll(() => readdir(join(directory, '.parts'))).toEqual([]);
  });
});

import { spawn } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { mkdir, mkdtemp, readdir, rm, statfs, symlink, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDirectoryStorage } from '../../src/results/directory-storage.ts';
import { createS3Storage } from '../../src/results/s3-storage.ts';
import type { ResultStorage } from '../../src/results/storage.ts';
import { loadsTypeScript } from '../support/typescript.ts';
import { png, readAll, serve, startS3 } from './support.ts';

const storageModule = new URL('../../src/results/directory-storage.ts', import.meta.url).href;

const mebibyte = 1024 * 1024;

async function* pieces(whole: Buffer, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < whole.length; start += size) yield whole.subarray(start, start + size);
}

async function* breaking(whole: Buffer): AsyncGenerator<Uint8Array> {
  yield* pieces(whole);
  throw new Error('the upstream broke off');
}

function storageTests(open: () => Promise<{ storage: ResultStorage; close(): Promise<void> }>) {
  let opened: Awaited<ReturnType<typeof open>>;
  let storage: ResultStorage;
  beforeAll(async () => {
    opened = await open();
    ({ storage } = opened);
  });
  afterAll(async () => {
    storage.close();
    await opened.close();
  });

  it('returns the written content, whole and in parts', async () => {
    const file = png(300_000);
    await storage.write('task_a/0.png', pieces(file), { mediaType: 'image/png' });
    const stat = await storage.stat('task_a/0.png');
    expect(stat?.bytes).toBe(file.length);
    expect(stat?.etag).toMatch(/^"[^"]+"$/);
    const whole = await storage.read('task_a/0.png', { start: 0, end: file.length - 1 });
    expect((await readAll(whole)).equals(file)).toBe(true);
    const part = await storage.read('task_a/0.png', { start: 1000, end: 1999 });
    expect((await readAll(part)).equals(file.subarray(1000, 2000))).toBe(true);
  });

  it('accepts files of several parts, and of unknown length', async () => {
    const file = png(20 * mebibyte);
    await storage.write('task_b/0.png', pieces(file), { mediaType: 'image/png' });
    const whole = await storage.read('task_b/0.png', { start: 0, end: file.length - 1 });
    expect((await readAll(whole)).equals(file)).toBe(true);
  });

  it('does not show an incomplete file', async () => {
    await expect(
      storage.write('task_c/0.png', breaking(png(12 * mebibyte)), { mediaType: 'image/png' }),
    ).rejects.toThrow();
    expect(await storage.stat('task_c/0.png')).toBeUndefined();
  });

  it('accepts, finds and deletes files while callers read many others slowly or not at all', async () => {
    const file = png(4 * mebibyte);
    await storage.write('task_u/0.png', pieces(file), { mediaType: 'image/png' });
    const range = { start: 0, end: file.length - 1 };
    const unread = await Promise.all(Array.from({ length: 80 }, () => storage.read('task_u/0.png', range)));
    try {
      await storage.write('task_v/0.png', pieces(png(1000)), { mediaType: 'image/png' });
      expect((await storage.stat('task_v/0.png'))?.bytes).toBe(1000);
      await storage.remove('task_v/0.png');
      const whole = await storage.read('task_u/0.png', range);
      expect((await readAll(whole)).equals(file)).toBe(true);
    } finally {
      for (const each of unread) each.on('error', () => undefined).destroy();
    }
  });

  it('accepts the same file twice, and deletes it on request', async () => {
    await storage.write('task_d/0.png', pieces(png(1000)), { mediaType: 'image/png' });
    await storage.write('task_d/0.png', pieces(png(2000)), { mediaType: 'image/png' });
    expect((await storage.stat('task_d/0.png'))?.bytes).toBe(2000);
    await storage.remove('task_d/0.png');
    await storage.remove('task_d/0.png');
    expect(await storage.stat('task_d/0.png')).toBeUndefined();
  });
}

describe('a directory', () => {
  storageTests(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mediary-results-'));
    return {
      storage: createDirectoryStorage(directory),
      async close() {
        const left = await readdir(join(directory, '.parts'));
        await rm(directory, { recursive: true });
        expect(left).toEqual([]);
      },
    };
  });

  it('removes the parts of a killed process, but none that are being written', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mediary-results-'));
    const program = `
      const { createDirectoryStorage } = await import(${JSON.stringify(storageModule)});
      async function* body() {
        yield Buffer.alloc(1000);
        process.stdout.write('begun');
        await new Promise((resolve) => setTimeout(resolve, 600_000));
      }
      await createDirectoryStorage(${JSON.stringify(directory)}).write('task_e/0.png', body(), { mediaType: 'image/png' });`;
    const child = spawn(process.execPath, [...loadsTypeScript, '--input-type=module', '--eval', program]);
    await once(child.stdout, 'data');
    const parts = join(directory, '.parts');
    await expect.poll(() => readdir(parts)).toHaveLength(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const [killed = ''] = await readdir(parts);
    expect(killed).not.toBe('');
    const storage = createDirectoryStorage(directory);
    expect(await storage.sweep?.(() => undefined)).toEqual({ done: 0, failed: 0 });
    await utimes(join(parts, killed), 0, 0);
    expect(await storage.sweep?.(() => undefined)).toEqual({ done: 1, failed: 0 });
    expect(await readdir(parts)).toEqual([]);
    await rm(directory, { recursive: true });
  });

  it('does not treat a part as a failure if its writer has renamed it since it was listed', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mediary-results-'));
    const parts = join(directory, '.parts');
    await mkdir(parts);
    await symlink(join(directory, 'renamed'), join(parts, 'part'));
    const failed: string[] = [];
    const swept = await createDirectoryStorage(directory).sweep?.((path) => failed.push(path));
    expect([swept, failed]).toEqual([{ done: 0, failed: 0 }, []]);
    await rm(directory, { recursive: true });
  });

  it('writes nothing while the disk has too little space, and warns at twice that', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mediary-results-'));
    const { bavail, bsize } = await statfs(directory);
    const free = bavail * bsize;
    const full = createDirectoryStorage(directory, { freeBytesMin: 100 * free });
    await expect(
      full.write('task_f/0.png', pieces(png(1000)), { mediaType: 'image/png' }),
    ).rejects.toMatchObject({
      code: 'service_unavailable',
      detail: expect.stringContaining('results.free_bytes'),
    });
    expect(await full.stat('task_f/0.png')).toBeUndefined();
    expect(await full.refusal()).toMatchObject({ detail: expect.stringContaining('results.free_bytes') });
    expect(await full.problem()).toMatch(
      /^The disk that holds .* bytes free\. Results and files are no longer stored/,
    );
    const scarce = createDirectoryStorage(directory, { freeBytesMin: 0.75 * free });
    await scarce.write('task_f/0.png', pieces(png(1000)), { mediaType: 'image/png' });
    expect(await scarce.refusal()).toBeUndefined();
    expect(await scarce.problem()).toContain('results.free_bytes');
    expect(await createDirectoryStorage(directory, { freeBytesMin: 1 }).problem()).toBeUndefined();
    await rm(directory, { recursive: true });
  });
});

describe('an S3 server', () => {
  storageTests(async () => {
    const server = await startS3();
    return { storage: createS3Storage(server.settings), close: () => server.close() };
  });
});

const s3Settings = {
  endpoint: 'https://s3.example',
  region: 'r',
  bucket: 'b',
  prefix: 'of/',
  path_style: true,
  links: 'gateway' as const,
  access_key_id: 'id',
  secret_access_key: 'secret',
};

describe('a bucket', () => {
  const rule = (status: string, more: string) =>
    `<LifecycleConfiguration><Rule><ID>x</ID><Status>${status}</Status>${more}</Rule></LifecycleConfiguration>`;
  const abort =
    '<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>';
  const prefix = (text: string) => `<Filter><Prefix>${text}</Prefix></Filter>`;
  const error = (code: string) => `<Error><Code>${code}</Code><Message>x</Message></Error>`;

  it.each([
    ['with the rule', 200, rule('Enabled', prefix('') + abort), true],
    ['with the rule for our prefix', 200, rule('Enabled', prefix('of/') + abort), true],
    ['with the rule for another prefix', 200, rule('Enabled', prefix('other/') + abort), false],
    ['with the rule switched off', 200, rule('Disabled', prefix('') + abort), false],
    ['with another rule', 200, rule('Enabled', prefix('')), false],
    ['without rules', 404, error('NoSuchLifecycleConfiguration'), false],
    ['whose key may not read them', 403, error('AccessDenied'), true],
    ['of a server that has none', 501, error('NotImplemented'), true],
  ])('%s', async (_name, status, xml, isFine) => {
    const server = await serve((_request, response) => void response.writeHead(status).end(xml));
    const storage = createS3Storage({ ...s3Settings, endpoint: server.url });
    const problem = await storage.problem();
    storage.close();
    await server.close();
    expect([problem === undefined, problem?.includes('AbortIncompleteMultipartUpload') ?? true]).toEqual([
      isFine,
      true,
    ]);
  });
});

// The S3 server of these tests does not verify presigned URLs, so verify them here.
describe('the address at which an S3 server serves a file', () => {
  it.each(['GET', 'HEAD'] as const)('carries a valid signature by the secret: %s', async (method) => {
    const storage = createS3Storage({ ...s3Settings, links: 'presigned' });
    const ask = { method, seconds: 90, mediaType: 'image/png' };
    const address = new URL((await storage.directAddress?.('task_a/0.png', ask)) ?? '');
    storage.close();
    const { searchParams: query } = address;
    expect([address.origin, address.pathname]).toEqual(['https://s3.example', '/b/of/task_a/0.png']);
    expect([query.get('X-Amz-Expires'), query.get('response-content-type')]).toEqual(['90', 'image/png']);
    expect(query.get('X-Amz-SignedHeaders')).toBe('host');
    const { search, pathname: path } = address;
    const unsigned = search.slice(1).replace(/&?X-Amz-Signature=\w+/, '');
    const parts = [method, path, unsigned.split('&').sort().join('&'), `host:${address.host}`, ''];
    const canonical = [...parts, 'host', 'UNSIGNED-PAYLOAD'].join('\n');
    expect(query.get('X-Amz-Signature')).toBe(
      sign(canonical, query.get('X-Amz-Date') ?? '', s3Settings.secret_access_key, s3Settings.region),
    );
  });

  it('is not used unless the operator wants it', async () => {
    const storage = createS3Storage(s3Settings);
    expect(storage.directAddress).toBeUndefined();
    storage.close();
  });
});

describe('a request to an S3 server', () => {
  it('carries a signature that matches the secret', async () => {
    let seen: IncomingMessage | undefined;
    const server = await serve((request, response) => {
      seen ??= request;
      request.resume().on('end', () => response.setHeader('etag', '"x"').end());
    });
    const settings = { ...s3Settings, endpoint: server.url };
    const storage = createS3Storage(settings);
    await storage.write('task_a/0.png', pieces(png(100)), { mediaType: 'image/png' });
    storage.close();
    await server.close();
    const authorization = seen?.headers.authorization ?? '';
    expect(authorization).toContain('AWS4-HMAC-SHA256 Credential=id/');
    expect(/Signature=([0-9a-f]+)/.exec(authorization)?.[1]).toBe(signatureOf(seen, 'secret', 'r'));
    expect(seen?.headers['content-type']).toBe('image/png');
    expect(seen?.url).toMatch(/^\/b\/of\/task_a\/0\.png/);
  });
});

function signatureOf(request: IncomingMessage | undefined, secret: string, region: string): string {
  const headers = request?.headers ?? {};
  const names = (/SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? '').split(';');
  const [path = '', query = ''] = (request?.url ?? '').split('?');
  const canonical = [
    request?.method,
    path,
    query.split('&').sort().join('&'),
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names.join(';'),
    headers['x-amz-content-sha256'],
  ].join('\n');
  return sign(canonical, String(headers['x-amz-date']), secret, region);
}

function sign(canonical: string, date: string, secret: string, region: string): string {
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const hash = createHash('sha256').update(canonical).digest('hex');
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const key = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, date.slice(0, 8)));
  return hmac(key, ['AWS4-HMAC-SHA256', date, scope, hash].join('\n')).toString('hex');
}

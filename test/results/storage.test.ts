import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDirectoryStorage } from '../../src/results/directory-storage.ts';
import { createS3Storage } from '../../src/results/s3-storage.ts';
import type { ResultStorage } from '../../src/results/storage.ts';
import { png, readAll, serve, startS3 } from './support.ts';

const mebibyte = 1024 * 1024;

async function* pieces(whole: Buffer, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < whole.length; start += size) yield whole.subarray(start, start + size);
}

async function* breaking(whole: Buffer): AsyncGenerator<Uint8Array> {
  yield* pieces(whole);
  throw new Error('the upstream broke off');
}

/** What the gateway relies on, the same for every storage. */
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

  it('gives back what was written, whole and in parts', async () => {
    const file = png(300_000);
    await storage.write('task_a/0.png', pieces(file), 'image/png');
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
    await storage.write('task_b/0.png', pieces(file), 'image/png');
    const whole = await storage.read('task_b/0.png', { start: 0, end: file.length - 1 });
    expect((await readAll(whole)).equals(file)).toBe(true);
  });

  it('shows nothing of a file that broke off', async () => {
    // The test's S3 server does not know AbortMultipartUpload: the error may be about that.
    await expect(storage.write('task_c/0.png', breaking(png(12 * mebibyte)), 'image/png')).rejects.toThrow();
    expect(await storage.stat('task_c/0.png')).toBeUndefined();
  });

  it('accepts the same file twice, and deletes it on demand', async () => {
    await storage.write('task_d/0.png', pieces(png(1000)), 'image/png');
    await storage.write('task_d/0.png', pieces(png(2000)), 'image/png');
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
        const left = await readdir(directory, { recursive: true });
        await rm(directory, { recursive: true });
        expect(left.filter((path) => path.endsWith('.part'))).toEqual([]);
      },
    };
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

// The test's S3 server does not verify the signatures of addresses.
describe('an address at which an S3 server shows a file', () => {
  it.each(['GET', 'HEAD'] as const)('carries a signature that the secret explains: %s', async (method) => {
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

  it('is nowhere, unless the operator wants it', async () => {
    const storage = createS3Storage(s3Settings);
    expect(storage.directAddress).toBeUndefined();
    storage.close();
  });
});

describe('what is sent to an S3 server', () => {
  it('carries a signature that the secret explains', async () => {
    let seen: IncomingMessage | undefined;
    const server = await serve((request, response) => {
      seen ??= request;
      request.resume().on('end', () => response.setHeader('etag', '"x"').end());
    });
    const settings = { ...s3Settings, endpoint: server.url };
    const storage = createS3Storage(settings);
    await storage.write('task_a/0.png', pieces(png(100)), 'image/png');
    storage.close();
    await server.close();
    const authorization = seen?.headers.authorization ?? '';
    expect(authorization).toContain('AWS4-HMAC-SHA256 Credential=id/');
    expect(/Signature=([0-9a-f]+)/.exec(authorization)?.[1]).toBe(signatureOf(seen, 'secret', 'r'));
    expect(seen?.headers['content-type']).toBe('image/png');
    expect(seen?.url).toMatch(/^\/b\/of\/task_a\/0\.png/);
  });
});

/** Signature Version 4, from its documentation, like `sign`. */
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

import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { deleteExpiredFiles } from '../../../src/results/expired-files.ts';
import { makeAac, makeMp3, makeOgg, makeRecordedWebm } from '../../media/long-media.ts';
import { clip, useFileWorld } from './file-world.ts';

const world = useFileWorld('route_create_file');
const file = (bytes: Uint8Array<ArrayBuffer> = Buffer.from(clip), name = 'boat.mp4') =>
  new File([bytes], name);
const now = () => Date.now() + world.world.clock.aheadMs;
const deleteExpired = () =>
  deleteExpiredFiles({
    store: world.world.stores.files,
    storage: world.storage,
    log: { error: () => undefined },
    now,
  });

describe('a form', () => {
  it('stores the file, and reports what its bytes are', async () => {
    const account = await world.world.newAccount();
    const answer = await world.upload(account, { purpose: 'user_data', file: file() });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^file_[0-9A-Za-z]{24}$/),
      object: 'file',
      bytes: clip.length,
      created_at: expect.closeTo(Date.now() / 1000, -2),
      expires_at: answer.body.created_at + 86_400,
      filename: 'boat.mp4',
      purpose: 'user_data',
      media: { type: 'video/mp4', width: 640, height: 360, seconds: 5 },
    });
    const key = `${String(answer.body.id)}/0.mp4`;
    const stored = await world.storage.read(key, { start: 0, end: clip.length - 1 });
    expect(Buffer.concat(await stored.toArray())).toEqual(clip);
  });

  it('needs a media file', async () => {
    const account = await world.world.newAccount();
    const page = Buffer.from('<!doctype html><title>no video</title>');
    const answers = await Promise.all([
      world.upload(account, { file: file(page) }),
      world.upload(account, { file: file(Buffer.alloc(0)) }),
      world.upload(account, { purpose: 'user_data' }),
      world.upload(account, { file: file(), purpose: 'a purpose' }),
    ]);
    expect(answers.map(({ status, body }) => [status, body.error.code, body.error.param])).toEqual([
      [400, 'invalid_parameter', 'file'],
      [400, 'invalid_parameter', 'file'],
      [400, 'missing_parameter', 'file'],
      [400, 'invalid_parameter', 'purpose'],
    ]);
    expect(await world.world.stores.files.bytesOf(account.id, 0)).toBe(0);
  });

  it('may have the form that clients of predictions send, which use the address in the response', async () => {
    const account = await world.world.newAccount();
    const metadata = new File(['{}'], 'blob', { type: 'application/json' });
    const { status, body } = await world.upload(account, { content: file(), metadata });
    expect([status, body.filename, body.urls]).toEqual([200, 'boat.mp4', { get: `asset://${body.id}` }]);
    const page = new File(['<!doctype html>'], 'blob');
    const refused = await world.upload(account, { content: page, metadata });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'content']);
  });

  it.each([
    ['OGG', 'audio/ogg', () => makeOgg(5_000)],
    ['AAC', 'audio/aac', () => makeAac(20_000)],
    ['MP3', 'audio/mpeg', () => makeMp3(20_000)],
    ['WebM', 'video/webm', () => makeRecordedWebm(40_000)],
  ])('may be %s', async (_, type, make) => {
    const account = await world.world.newAccount();
    const answer = await world.upload(account, { file: file(Uint8Array.from(await make())) });
    expect([answer.status, answer.body.media.type]).toEqual([200, type]);
  });

  it('may not exceed the limit of one file', async () => {
    const account = await world.world.newAccount();
    const answer = await world.upload(account, { file: file(Buffer.concat([clip, Buffer.alloc(65_536)])) });
    expect([answer.status, answer.body.error.code]).toEqual([413, 'request_too_large']);
  });

  it('is listed under a name of one line, whatever was sent', async () => {
    const account = await world.world.newAccount();
    const { body } = await world.upload(account, { file: file(undefined, 'a\u202e\tb.mp4') });
    expect(body.filename).toBe('a b.mp4');
  });
});

it('cannot exceed the limit of the account together with simultaneous ones', async () => {
  const account = await world.world.newAccount();
  const most = Math.floor(100_000 / clip.length);
  const answers = await Promise.all(
    Array.from({ length: most + 3 }, () => world.upload(account, { file: file() })),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThanOrEqual(3);
  for (const { status, body } of refused)
    expect([status, body.error.code]).toEqual([429, 'storage_quota_exceeded']);
  const { files } = await world.files.list({ account: account.id }, { limit: 100 });
  expect(files).toHaveLength(answers.length - refused.length);
  expect(await world.world.stores.files.bytesOf(account.id, 0)).toBe(files.length * clip.length);
});

describe('an upload that fails', () => {
  afterEach(() => vi.restoreAllMocks());
  const full = () => Math.floor(100_000 / clip.length);

  it('is no longer counted, even while nothing can be deleted', async () => {
    const account = await world.world.newAccount();
    const failsToWrite = vi.spyOn(world.storage, 'write').mockRejectedValue(new Error('no space'));
    const failsToRemove = vi.spyOn(world.storage, 'remove').mockRejectedValue(new Error('away'));
    const failed = await Promise.all(
      Array.from({ length: full() }, () => world.upload(account, { file: file() })),
    );
    for (const { status } of failed) expect(status).toBe(500);
    expect(failsToRemove).toHaveBeenCalledTimes(full());
    failsToWrite.mockRestore();
    for (let n = 0; n < full(); n += 1) await world.store(account);
    const over = await world.upload(account, { file: file() });
    expect([over.status, over.body.error.code]).toEqual([429, 'storage_quota_exceeded']);
    failsToRemove.mockRestore();
    expect(await world.world.stores.files.bytesOf(account.id, 0)).toBe(full() * clip.length);
    world.world.clock.aheadMs += 3_600_000;
    expect((await deleteExpired()).done).toBe(full());
    world.world.clock.aheadMs -= 3_600_000;
    expect(await world.world.stores.files.bytesOf(account.id, 0)).toBe(full() * clip.length);
  });

  it('is counted for minutes if its process died', async () => {
    const account = await world.world.newAccount();
    vi.spyOn(world.storage, 'write').mockReturnValue(new Promise(() => undefined));
    for (let n = 0; n < full(); n += 1) void world.upload(account, { file: file() }).catch(() => undefined);
    const counted = () => world.world.stores.files.bytesOf(account.id, 0);
    await expect.poll(counted).toBe(full() * clip.length);
    vi.restoreAllMocks();
    expect((await world.upload(account, { file: file() })).status).toBe(429);
    world.world.clock.aheadMs += 3 * 60_000;
    expect((await world.upload(account, { file: file() })).status).toBe(200);
    await deleteExpired();
    world.world.clock.aheadMs -= 3 * 60_000;
  });
});

it('a closed account stores nothing', async () => {
  const account = await world.world.newAccount();
  await world.node.admin('POST', `/accounts/${account.id}/close`, { reason: 'a test' });
  const answer = await world.upload(account, { file: file() });
  expect([answer.status, answer.body.error.code]).toEqual([403, 'account_closed']);
});

describe('an address', () => {
  const server = createServer((request, response) => {
    if (request.url === '/videos/clip.mp4?token=1') response.end(clip);
    else if (request.url === '/private') response.writeHead(302, { location: 'http://10.0.0.1/a' }).end();
    else if (request.url === '/page') response.end('<!doctype html>');
    else if (request.url === '/large') response.end(Buffer.alloc(70_000));
    else response.writeHead(404).end();
  });
  let url = '';
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  const add = async (body: Record<string, unknown>) => {
    const { key } = await world.world.newAccount();
    return world.node.call('POST', '/v1/files', { key, body });
  };

  it('is fetched, and gives the file its name', async () => {
    const { status, body } = await add({ url: `${url}/videos/clip.mp4?token=1` });
    expect(status).toBe(200);
    expect(body).toMatchObject({ filename: 'clip.mp4', purpose: 'user_data', bytes: clip.length });
    expect(body.media.seconds).toBe(5);
  });

  it.each([
    ['/gone', 400, 'invalid_parameter'],
    ['/private', 400, 'media_url_not_allowed'],
    ['/large', 413, 'request_too_large'],
    ['/page', 400, 'invalid_parameter'],
  ])('%s: %i %s', async (path, status, code) => {
    const { status: answered, body } = await add({ url: url + path });
    expect([answered, body.error.code, body.error.param]).toEqual([status, code, 'url']);
  });

  it('that is forbidden is not called', async () => {
    const answer = await add({ url: 'http://forbidden.example/a.mp4' });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'media_url_not_allowed']);
  });
});

describe('a process that dies while it stores a file', () => {
  it('leaves nothing behind after the cleanup', async () => {
    const { stores, clock } = world.world;
    const account = await world.world.newAccount();
    const id = `file_${'0'.repeat(24)}`;
    const facts = { filename: 'a', purpose: 'b', bytes: 4, media: { mediaType: 'video/mp4' } };
    const times = { createdAt: now(), expiresAt: now() + 3_600_000 };
    await stores.files.begin({
      id,
      account: account.id,
      key: account.keyId,
      name: '0.mp4',
      ...facts,
      ...times,
    });
    await world.storage.write(`${id}/0.mp4`, [Buffer.from('abcd')] as never, { mediaType: 'video/mp4' });
    expect((await world.node.call('GET', `/v1/files/${id}`, { key: account.key })).status).toBe(404);
    const { storage } = world;
    expect((await deleteExpired()).done).toBe(0);
    clock.aheadMs += 3_600_000;
    expect((await deleteExpired()).done).toBe(1);
    expect([await storage.stat(`${id}/0.mp4`), await stores.files.bytesOf(account.id, 0)]).toEqual([
      undefined,
      0,
    ]);
    expect(await stores.files.complete(id, now() + 86_400_000)).toBe(false);
    clock.aheadMs -= 3_600_000;
  });
});

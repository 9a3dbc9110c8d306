import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDirectoryStorage } from '../../../src/results/directory-storage.ts';
import { createMediaLinks } from '../../../src/results/media-links.ts';
import { useHttpWorld, type Server } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_media');
const task = 'task_0000000000000000000000';
const bytes = Buffer.from('0123456789abcdef');
const clock = { aheadMs: 0 };
const now = () => Date.now() + clock.aheadMs;
const links = createMediaLinks({
  key: randomBytes(32),
  publicUrl: '',
  ttlSeconds: 3_600,
  retentionSeconds: 86_400,
  now,
});
let directory: string;
let node: Server;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'route-get-media-'));
  const storage = createDirectoryStorage(directory);
  await storage.write(`${task}/0.mp4`, Readable.from([bytes]), { mediaType: 'video/mp4' });
  node = await world.startNode({ keptResults: { storage, links, now } });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function linkTo(name = '0.mp4'): string {
  const link = links.url(task, name, Math.floor(now() / 1000));
  if (link === undefined) throw new Error('the link has expired');
  return link.url;
}

const get = (path: string, headers = {}) => node.call('GET', path, { headers });

it('the file, in a form that browsers can show, without a key', async () => {
  const answer = await get(linkTo());
  expect([answer.status, answer.text]).toEqual([200, bytes.toString()]);
  expect(answer.headers).toMatchObject({
    'content-type': 'video/mp4',
    'content-length': '16',
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': expect.stringContaining('content-range'),
    'cache-control': expect.stringMatching(/^private, max-age=\d+, immutable$/),
  });
});

it.each([
  ['bytes=2-4', 206, '234', 'bytes 2-4/16'],
  ['bytes=-3', 206, 'def', 'bytes 13-15/16'],
  ['bytes=14-', 206, 'ef', 'bytes 14-15/16'],
  ['bytes=16-', 416, '', 'bytes */16'],
  ['bytes=0-1,5-6', 200, bytes.toString(), undefined],
  ['lines=1-2', 200, bytes.toString(), undefined],
])('range: %s', async (range, status, text, contentRange) => {
  const answer = await get(linkTo(), { range });
  expect([answer.status, answer.text, answer.headers['content-range']]).toEqual([status, text, contentRange]);
});

it('304 to a client that has it', async () => {
  const etag = String((await get(linkTo())).headers.etag);
  const answer = await get(linkTo(), { 'if-none-match': etag });
  expect([answer.status, answer.text]).toEqual([304, '']);
});

describe('404, in one message', () => {
  it.each<[string, () => string]>([
    ['no signature', () => `/media/${task}/0.mp4`],
    ['a changed signature', () => linkTo().replace(/sig=./, (sig) => (sig === 'sig=A' ? 'sig=B' : 'sig=A'))],
    ['a later end', () => linkTo().replace(/expires=(\d)/, 'expires=9$1')],
    ['another file with the signature of this one', () => linkTo().replace('0.mp4', '1.mp4')],
    ['a file that is gone', () => linkTo('1.mp4')],
    ['a type that is not kept', () => linkTo('0.html')],
    ['no task of ours', () => linkTo().replace(task, 'task_1')],
  ])('%s', async (_, path) => {
    const answer = await get(path());
    expect([answer.status, answer.body.error]).toEqual([
      404,
      expect.objectContaining({ code: 'result_not_found', message: expect.stringContaining('expired') }),
    ]);
  });

  it('a link that has expired', async () => {
    const link = linkTo();
    clock.aheadMs = 3 * 3_600_000;
    const answer = await get(link);
    clock.aheadMs = 0;
    expect(answer.status).toBe(404);
    expect((await get(link)).status).toBe(200);
  });
});

it('a gateway that stores no results has no such route', async () => {
  expect((await world.call('GET', linkTo())).body.error.code).toBe('route_not_found');
});

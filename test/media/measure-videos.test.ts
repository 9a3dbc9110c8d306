import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodePng } from '../../workshop/simulator/media/images.ts';
import { createGuardedClient } from '../../src/http-client/guarded-client.ts';
import { createMeasureVideos } from '../../src/media/measure-videos.ts';
import { createMediaProbe, type MediaProbe } from '../../src/media/media-probe.ts';
import { clip, hostileFilms } from './hostile-films.ts';

const probe = createMediaProbe();
const client = createGuardedClient({ networks: ['127.0.0.0/8'] });
const openMedia: typeof client.openMedia = (fetch) => client.openMedia(fetch);
const caller = { account: 'a', key: 'k' };
const longEnough = createMeasureVideos({ probe, openMedia, timeoutMs: 60_000 });

const tail = Buffer.concat([Buffer.alloc(1024 * 1024), Buffer.alloc(0)]);
tail.writeUInt32BE(tail.length, 0);
tail.write('free', 4, 'latin1');
const fileTypeBytes = clip.readUInt32BE(0);
/**
 * A clip with zeros in front of its frame table. The table's offsets are therefore wrong, but its frame count and
 * duration are still right.
 */
const late = Buffer.concat([clip.subarray(0, fileTypeBytes), tail, clip.subarray(fileTypeBytes)]);

const ranges: string[] = [];

function sendRange(request: IncomingMessage, response: ServerResponse, file: Buffer): void {
  const [, from = '0', to = ''] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  ranges.push(request.headers.range ?? '');
  const end = Math.min(Number(to), file.length - 1);
  const head = { 'content-range': `bytes ${from}-${end}/${file.length}` };
  response.writeHead(206, head).end(file.subarray(Number(from), end + 1));
}

const answers: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  '/ranges.mp4': (request, response) => sendRange(request, response, late),
  '/whole.mp4': (_, response) => response.end(clip),
  '/page.mp4': (_, response) => response.end(hostileFilms['HTML with the name of an MP4']),
  '/moved.mp4': (_, response) => response.writeHead(302, { location: '/whole.mp4' }).end(),
  '/private.mp4': (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/a.mp4' }).end(),
  '/other-range.mp4': (_, response) =>
    response.writeHead(206, { 'content-range': 'bytes 100-200/300' }).end(Buffer.alloc(101)),
  '/endless.mp4': (_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.writeHead(200).on('drain', more);
    more();
  },
  '/picture': (_, response) => response.end(encodePng({ width: 30, height: 20, tint: 0, marked: false })),
  '/gone.mp4': (_, response) => response.writeHead(404).end(),
  '/in-circles.mp4': (_, response) => response.writeHead(302, { location: '/in-circles.mp4' }).end(),
  '/in-a-minute.mp4': (_, response) => response.writeHead(429).end(),
  '/ill.mp4': (_, response) => response.writeHead(503).end(),
  '/breaks-off.mp4': (request, response) =>
    request.headers.range === 'bytes=0-65535'
      ? sendRange(request, response, late)
      : response.writeHead(503).end(),
  '/silent.mp4': () => undefined,
};

const server = createServer((request, response) => answers[request.url ?? '']?.(request, response));
let url = '';

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await Promise.all([probe.close(), client.close()]);
  server.closeAllConnections();
  server.close();
});

it('are read by ranges, and only as far as needed', async () => {
  expect(await longEnough([`${url}/ranges.mp4`], caller)).toEqual([5]);
  expect(ranges.length).toBeGreaterThan(1);
  expect(ranges[0]).toBe('bytes=0-65535');
});

it.each(['/whole.mp4', '/moved.mp4'])('are read whole if %s supports no ranges', async (path) => {
  expect(await longEnough([url + path], caller)).toEqual([5]);
});

it.each(['/page.mp4', '/picture', '/endless.mp4', '/gone.mp4', '/in-circles.mp4'])(
  'are unreadable if their server returned no video, as at %s',
  async (path) => {
    expect(await longEnough([url + path], caller)).toEqual(['unreadable']);
  },
);

it.each([
  '/private.mp4',
  '/other-range.mp4',
  '/in-a-minute.mp4',
  '/ill.mp4',
  '/breaks-off.mp4',
  '/gone-with-the-port',
])('have an unknown length at %s, which may become known later', async (path) => {
  const address = path === '/gone-with-the-port' ? 'http://127.0.0.1:1/a.mp4' : url + path;
  expect(await longEnough([address], caller)).toEqual([undefined]);
});

it('have an unknown length while no thread is free for them', async () => {
  const busy: Pick<MediaProbe, 'probe'> = {
    probe: (_source, _account, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
  };
  const measure = createMeasureVideos({ probe: busy, openMedia, timeoutMs: 10 });
  const data = `data:video/mp4;base64,${clip.toString('base64')}`;
  expect(await measure([data], caller)).toEqual([undefined]);
});

it('are measured in parallel, independently, within one time limit', async () => {
  const silent = Array.from({ length: 9 }, () => `${url}/silent.mp4`);
  const data = `data:video/mp4;base64,${clip.toString('base64')}`;
  const measuredWithin = (timeoutMs: number) =>
    createMeasureVideos({ probe, openMedia, timeoutMs })([...silent, data], caller);
  // On a busy machine, the video itself may take longer, so the limit is doubled until it suffices.
  let timeoutMs = 4_000;
  await expect.poll(() => measuredWithin((timeoutMs *= 2))).toEqual([...silent.map(() => undefined), 5]);
});

it('are not read if measuring is disabled', async () => {
  const before = ranges.length;
  const measure = createMeasureVideos({ probe, openMedia, timeoutMs: 0 });
  expect(await measure([`${url}/ranges.mp4`], caller)).toEqual([undefined]);
  expect(ranges.length).toBe(before);
});

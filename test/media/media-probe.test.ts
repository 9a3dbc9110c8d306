import { afterAll, describe, expect, it } from 'vitest';
import { encodePng } from '../../workshop/simulator/media/images.ts';
import { checkedClaims } from '../../src/media/checked-claims.ts';
import { createMediaProbe } from '../../src/media/media-probe.ts';
import { dataUrlSource, type MediaSource } from '../../src/media/media-source.ts';
import { clip, hostileFilms } from './hostile-films.ts';
import { makeAac, makeMp3, makeOgg, makeRecordedWebm } from './long-media.ts';

const probe = createMediaProbe();
afterAll(() => probe.close());

const inMemory = (file: Uint8Array): MediaSource => ({
  bytes: file.length,
  read: (start, end) => Promise.resolve(file.slice(start, end)),
});
const facts = (file: Uint8Array, timeoutMs = 60_000) =>
  probe.probe(inMemory(file), 'a', AbortSignal.timeout(timeoutMs));
const clipFacts = { mediaType: 'video/mp4', width: 640, height: 360, seconds: 5 };

it('reads the type, the size and the length of a video', async () => {
  expect(await facts(clip)).toEqual(clipFacts);
});

it('reads an image', async () => {
  const picture = encodePng({ width: 30, height: 20, tint: 0, marked: false });
  expect(await facts(picture)).toEqual({ mediaType: 'image/png', width: 30, height: 20 });
});

it('takes the length from the frames, and not from the header', async () => {
  expect(await facts(hostileFilms['a duration that only its header claims'] ?? clip)).toEqual(clipFacts);
});

it('ignores an implausible length', async () => {
  const found = await facts(hostileFilms['frames that last for ages'] ?? clip);
  expect(found).toMatchObject({ mediaType: 'video/mp4' });
  expect(found).not.toHaveProperty('seconds');
});

it('reads a data URL from any position', async () => {
  const source = dataUrlSource(`data:video/mp4;base64,${clip.toString('base64')}`);
  expect(source?.bytes).toBe(clip.length);
  expect(Buffer.from((await source?.read(10, 77)) ?? [])).toEqual(clip.subarray(10, 77));
  expect(source && (await probe.probe(source, 'a', AbortSignal.timeout(60_000)))).toEqual(clipFacts);
  expect(dataUrlSource('data:video/mp4,abc')).toBeUndefined();
});

describe('a file that is larger than what is read', () => {
  const bytes = 9 * 1024 * 1024;
  const frames = Math.ceil(bytes / 417);
  const webm = { mediaType: 'video/webm', width: 640, height: 360 };

  it('is recognised by its beginning', async () => {
    const seconds = expect.closeTo((frames * 1_152) / 44_100, -1);
    expect(await facts(makeMp3(bytes))).toEqual({ mediaType: 'audio/mpeg', seconds });
    const ogg = { mediaType: 'audio/ogg', seconds: expect.closeTo(Math.ceil(bytes / 1_000) * 0.02, 1) };
    expect(await facts(await makeOgg(bytes))).toEqual(ogg);
  });

  it('has no length if the length is only in the last frame', async () => {
    expect(await facts(makeAac(bytes))).toEqual({ mediaType: 'audio/aac' });
    expect(await facts(await makeRecordedWebm(bytes))).toEqual(webm);
    expect(await facts(await makeRecordedWebm(1_000_000))).toEqual({ ...webm, seconds: 1.96 });
  });
});

describe('a hostile file', () => {
  it.each(Object.entries(hostileFilms))('%s gives no impossible facts', async (_, file) => {
    const { seconds = 1, mediaType = 'video/mp4' } = (await facts(file, 2_000)) ?? {};
    expect(mediaType).toMatch(/^(?:video|audio)\/(?:mp4|quicktime)$/);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(86_400);
  });

  it('does not affect the next one', async () => {
    expect(await facts(clip)).toEqual(clipFacts);
  });
});

it('reads no more of a file than is allowed, wherever it claims that its parts are', async () => {
  let bytes = 0;
  const padding = Buffer.alloc(16 * 1024 * 1024);
  const head = Buffer.from(clip);
  head.writeUInt32BE(padding.length, head.indexOf('moov') - 4);
  const file = Buffer.concat([head, padding]);
  const counted: MediaSource = {
    bytes: file.length,
    read(start, end) {
      bytes += end - start;
      return Promise.resolve(file.slice(start, end));
    },
  };
  await probe.probe(counted, 'a', AbortSignal.timeout(60_000));
  expect(bytes).toBeLessThanOrEqual(8 * 1024 * 1024);
});

it('a file whose bytes never arrive times out without affecting others', async () => {
  const stuck: MediaSource = { bytes: 1000, read: () => new Promise(() => undefined) };
  const given = Array.from({ length: 12 }, () => probe.probe(stuck, 'a', AbortSignal.timeout(100)));
  expect(await Promise.all(given)).toEqual(given.map(() => undefined));
  expect(await facts(clip)).toEqual(clipFacts);
});

it('an account whose media hang leaves a thread for others', async () => {
  const gone = new AbortController();
  const stuck: MediaSource = { bytes: 1000, read: () => new Promise(() => undefined) };
  const hostile = Array.from({ length: 6 }, () => probe.probe(stuck, 'hostile', gone.signal));
  expect(await facts(clip)).toEqual(clipFacts);
  gone.abort();
  expect(await Promise.all(hostile)).toEqual(hostile.map(() => undefined));
});

it('samples without bytes are rejected before they are counted', async () => {
  const film = hostileFilms['a fragment of a billion frames'] ?? clip;
  await expect(checkedClaims(inMemory(film)).read(0, film.length)).rejects.toThrow('more samples');
  await expect(checkedClaims(inMemory(clip)).read(0, clip.length)).resolves.toHaveLength(clip.length);
});

it('unreadable bytes are a result, not an error', async () => {
  const broken: MediaSource = { bytes: 1000, read: () => Promise.reject(new Error('gone')) };
  expect(await probe.probe(broken, 'a', AbortSignal.timeout(60_000))).toBeUndefined();
});

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { clipNames, nearestClip, readClip } from '../../../workshop/simulator/media/clips.ts';
import { renderMedium, type MediaFormat, type Medium } from '../../../workshop/simulator/media/medium.ts';
import { factsOfFile } from './support.ts';

const medium = (format: MediaFormat, more: Partial<Medium> = {}): Medium => ({
  format,
  width: 1000,
  height: 777,
  frames: format === 'mp4' ? 24 : 0,
  tint: 1,
  marked: false,
  bytes: 0,
  ...more,
});

const formats = ['png', 'jpeg', 'webp'] as const;

describe('images', () => {
  it.each(formats)('%s: is small, and has the pixel size asked for', async (format) => {
    for (const [width, height] of [
      [1000, 777],
      [4096, 4096],
      [1, 40],
    ] as const) {
      const file = renderMedium(medium(format, { width, height }));
      expect(await factsOfFile(file)).toEqual({ mediaType: `image/${format}`, width, height });
      expect(file.length).toBeLessThan(256 * 1024);
    }
  });

  it.each(formats)('%s: differs by tint and mark', (format) => {
    const files = [{}, { tint: 2 }, { marked: true }].map((look) => renderMedium(medium(format, look)));
    expect(new Set(files.map((file) => file.toString('hex'))).size).toBe(3);
  });

  it.for(formats)(
    '%s: is decoded by ffmpeg, where that is installed, to the colour that was meant',
    async (format, { annotate }) => {
      const run = spawnSync(
        'ffmpeg',
        ['-v', 'error', '-i', 'pipe:0', '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1'],
        { input: renderMedium(medium(format)), maxBuffer: 64 * 1024 * 1024 },
      );
      if (run.error !== undefined) return void (await annotate('ffmpeg is not installed: not checked'));
      expect([run.stderr.toString(), run.stdout.length]).toEqual(['', 1000 * 777 * 3]);
      for (const [channel, value] of [0x30, 0x70, 0x50].entries())
        expect(Math.abs((run.stdout[channel] ?? 0) - value)).toBeLessThanOrEqual(4);
      await annotate('checked with ffmpeg');
    },
  );
});

describe('the sample clips', () => {
  it.each(clipNames)('%s is small, and five seconds long', async (name) => {
    const file = readClip(name);
    expect(await factsOfFile(file)).toMatchObject({ mediaType: 'video/mp4', seconds: 5 });
    expect(file.length).toBeLessThan(5 * 1024);
  });

  it.each([
    [1280, 720, '16x9'],
    [864, 496, '16x9'],
    [1470, 630, '16x9'],
    [960, 960, '1x1'],
    [720, 1280, '9x16'],
    [100, 5000, '9x16'],
  ] as const)('a video of %i x %i is shown by %s', (width, height, name) => {
    expect(nearestClip(width, height)).toBe(name);
  });

  it('have the pixels and the length of their task', async () => {
    const file = renderMedium(medium('mp4', { width: 834, height: 1112, frames: 144 }));
    expect(await factsOfFile(file)).toMatchObject({
      width: 834,
      height: 1112,
      seconds: expect.closeTo(6, 1),
    });
  });
});

describe('padding', () => {
  it.each(['png', 'jpeg', 'mp4'] as const)(
    '%s: makes the bytes asked for, and the same media',
    async (format) => {
      const [file, padded] = [0, 300_000].map((bytes) => renderMedium(medium(format, { bytes })));
      expect(Math.abs((padded?.length ?? 0) - 300_000)).toBeLessThan(16);
      expect(await factsOfFile(padded)).toEqual(await factsOfFile(file));
    },
  );

  it.each(['png', 'jpeg', 'mp4'] as const)('%s: is none where the file is larger already', (format) => {
    expect(renderMedium(medium(format, { bytes: 100 }))).toEqual(renderMedium(medium(format)));
  });
});

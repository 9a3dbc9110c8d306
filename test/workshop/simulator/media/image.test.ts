import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { renderMedium } from '../../../../workshop/simulator/media/medium.ts';
import type { MediaFormat, Medium } from '../../../../workshop/simulator/media/medium.ts';
import { readImage } from './image-reader.ts';
import { readMp4 } from './mp4-reader.ts';

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
  it.each(formats)('%s: has the pixel size asked for', (format) => {
    expect(readImage(renderMedium(medium(format)))).toEqual({ format, width: 1000, height: 777 });
    expect(readImage(renderMedium(medium(format, { width: 4096, height: 4096 })))).toMatchObject({
      width: 4096,
      height: 4096,
    });
  });

  it('are small', () => {
    for (const format of formats) {
      expect(renderMedium(medium(format, { width: 2048, height: 2048 })).length).toBeLessThan(64 * 1024);
    }
  });

  it('differ by tint and mark', () => {
    for (const format of formats) {
      const files = [{}, { tint: 2 }, { marked: true }].map((look) => renderMedium(medium(format, look)));
      expect(new Set(files.map((file) => file.toString('hex'))).size).toBe(3);
    }
  });

  it('are well-formed at every size and tint, where a byte of the scan has to be escaped, too', () => {
    for (let side = 1; side < 40; side += 1) {
      const [size, tint, marked] = [{ width: side, height: 41 - side }, side % 6, side % 4 > 1];
      expect(readImage(renderMedium(medium('jpeg', { ...size, tint, marked })))).toMatchObject(size);
    }
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

describe('padding', () => {
  const padded = (format: MediaFormat): Buffer => renderMedium(medium(format, { bytes: 300_000 }));

  it.each(['png', 'jpeg', 'mp4'] as const)('%s: makes the bytes asked for', (format) => {
    expect(Math.abs(padded(format).length - 300_000)).toBeLessThan(16);
  });

  it('leaves the file well-formed', () => {
    expect(readMp4(padded('mp4')).topLevel).toEqual(['ftyp', 'moov', 'mdat', 'free']);
    expect(readImage(padded('jpeg'))).toMatchObject({ format: 'jpeg', width: 1000 });
    expect(readImage(padded('png'))).toMatchObject({ format: 'png', width: 1000 });
  });

  it('is none where the file is larger already', () => {
    for (const format of ['png', 'jpeg', 'mp4'] as const) {
      expect(renderMedium(medium(format, { bytes: 100 }))).toEqual(renderMedium(medium(format)));
    }
  });
});

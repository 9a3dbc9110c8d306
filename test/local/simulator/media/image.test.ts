import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { MediaCache } from '../../../../src/local/simulator/media/media-cache.ts';
import { renderMedium } from '../../../../src/local/simulator/media/medium.ts';
import type { MediaFormat, Medium } from '../../../../src/local/simulator/media/medium.ts';
import { readImage } from './image-reader.ts';
import { readMp4 } from './mp4-reader.ts';
import { readPng } from './png-reader.ts';

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

  it('show the bar where they are marked', () => {
    const plain = readPng(renderMedium(medium('png')));
    const marked = readPng(renderMedium(medium('png', { marked: true })));
    const row = Math.floor(49 * 0.8) * 16 + 3;
    expect(marked.pixel(0, row)).not.toEqual(plain.pixel(0, row));
    expect(marked.pixel(0, 0)).toEqual(plain.pixel(0, 0));
    expect(renderMedium(medium('jpeg', { marked: true }))).not.toEqual(renderMedium(medium('jpeg')));
  });

  it('differ by tint', () => {
    for (const format of formats)
      expect(renderMedium(medium(format, { tint: 2 }))).not.toEqual(renderMedium(medium(format)));
  });

  it.for(formats)(
    '%s: is decoded by ffmpeg, where that is installed, to the colours that were meant',
    async (format, { annotate }) => {
      const run = spawnSync(
        'ffmpeg',
        ['-v', 'error', '-i', 'pipe:0', '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1'],
        {
          input: renderMedium(medium(format)),
          maxBuffer: 64 * 1024 * 1024,
        },
      );
      if (run.error !== undefined) return void (await annotate('ffmpeg is not installed: not checked'));
      expect(run.stderr.toString()).toBe('');
      expect(run.stdout.length).toBe(1000 * 777 * 3);
      const meant = readPng(renderMedium(medium('png'))).pixel(0, 0);
      for (const [channel, value] of meant.entries()) {
        expect(Math.abs((run.stdout[channel] ?? 0) - value), `channel ${channel}`).toBeLessThanOrEqual(4);
      }
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
    expect(readPng(padded('png'))).toMatchObject({ width: 1000 });
  });

  it('is none where the file is larger already', () => {
    for (const format of ['png', 'jpeg', 'mp4'] as const) {
      expect(renderMedium(medium(format, { bytes: 100 }))).toEqual(renderMedium(medium(format)));
    }
  });
});

describe('the cache', () => {
  it('renders once, and forgets the oldest beyond its bytes', () => {
    const cache = new MediaCache(100);
    let rendered = 0;
    const get = (key: string): Buffer =>
      cache.get(key, () => {
        rendered += 1;
        return Buffer.alloc(40);
      });
    get('a');
    get('b');
    get('a');
    expect(rendered).toBe(2);
    get('c');
    get('a');
    expect(rendered).toBe(3);
    get('b');
    expect(rendered).toBe(4);
  });

  it('serves what is larger than itself', () => {
    expect(new MediaCache(10).get('a', () => Buffer.alloc(40)).length).toBe(40);
  });
});

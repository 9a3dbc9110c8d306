import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { H264Decoder } from 'h264decoder';
import { describe, expect, it } from 'vitest';
import { levelFor } from '../../../../src/local/simulator/media/h264.ts';
import { encodeMp4 } from '../../../../src/local/simulator/media/mp4.ts';
import { createPicture, filledColumns, toRgb } from '../../../../src/local/simulator/media/picture.ts';
import { encodePng } from '../../../../src/local/simulator/media/png.ts';
import { readMp4 } from './mp4-reader.ts';
import { readPng } from './png-reader.ts';

/** Sizes with and without cropping in each direction; the largest and the longest that a dialect renders. */
const cases = [
  { width: 864, height: 496, frames: 48 },
  { width: 834, height: 1112, frames: 25 },
  { width: 1470, height: 630, frames: 29 },
  { width: 1920, height: 1080, frames: 24 },
] as const;

describe('video', () => {
  it.each(cases)(
    'decodes to exactly the picture that was meant: $width x $height',
    ({ width, height, frames }) => {
      const picture = createPicture(width, height, 3);
      const file = readMp4(encodeMp4(picture, frames));
      const decoder = new H264Decoder();
      expect(decoder.decode(file.sps)).not.toBe(H264Decoder.PARAM_SET_ERROR);
      expect(decoder.decode(file.pps)).not.toBe(H264Decoder.PARAM_SET_ERROR);
      for (const [frame, nals] of file.samples.entries()) {
        expect(nals).toHaveLength(1);
        const [nal = Buffer.alloc(0)] = nals;
        // The decoder swallows the first slice after new headers and asks for it again.
        let outcome = decoder.decode(nal);
        if (outcome === H264Decoder.HDRS_RDY) outcome = decoder.decode(nal);
        expect(outcome, `frame ${frame}`).toBe(H264Decoder.PIC_RDY);
        const filled = filledColumns(picture, frame, frames);
        expect(firstDifference(decoder, picture, filled), `frame ${frame}`).toBeUndefined();
      }
    },
  );

  it.each(cases)('has boxes that agree with each other: $width x $height', ({ width, height, frames }) => {
    const bytes = encodeMp4(createPicture(width, height, 0), frames);
    const file = readMp4(bytes);
    expect(file).toMatchObject({
      width,
      height,
      profile: 66,
      syncSamples: [1],
      topLevel: ['ftyp', 'moov', 'mdat'],
    });
    expect(file.movieSeconds).toBe(frames / 24);
    expect(file.mediaSeconds).toBe(frames / 24);
    expect(file.samples).toHaveLength(frames);
    expect(file.level).toBe(levelFor(Math.ceil(width / 16) * Math.ceil(height / 16)));
    expect(bytes.length).toBeLessThan(60 * 1024);
  });

  it('stays under 60 KB at the largest size and at the longest duration', () => {
    expect(encodeMp4(createPicture(3840, 3840, 0), 15 * 24).length).toBeLessThan(60 * 1024);
    expect(encodeMp4(createPicture(2206, 946, 0), 30 * 24).length).toBeLessThan(60 * 1024);
  });

  it('shows that it plays: the bar is empty in the first frame and full in the last', () => {
    const picture = createPicture(1280, 720, 0);
    expect(filledColumns(picture, 0, 120)).toBe(0);
    expect(filledColumns(picture, 119, 120)).toBe(picture.columns);
  });

  it('is understood by ffprobe, where that is installed', ({ annotate }) => {
    const probe = spawnSync('ffprobe', ['-version']);
    if (probe.error !== undefined) return annotate('ffprobe is not installed: not checked');
    const directory = mkdtempSync(join(tmpdir(), 'simulator-video-'));
    const path = join(directory, 'video.mp4');
    writeFileSync(path, encodeMp4(createPicture(1470, 630, 1), 168));
    const fields = 'stream=codec_name,profile,width,height,duration,nb_read_frames,avg_frame_rate';
    const shown = spawnSync('ffprobe', [
      '-v',
      'warning',
      '-count_frames',
      '-show_entries',
      fields,
      '-of',
      'csv=p=0',
      path,
    ]);
    rmSync(directory, { recursive: true });
    expect(shown.stderr.toString()).toBe('');
    expect(shown.stdout.toString().trim()).toBe('h264,Constrained Baseline,1470,630,24/1,7.000000,168');
    return annotate('checked with ffprobe');
  });
});

describe('last frame', () => {
  it.each(cases)('is a PNG of the same picture: $width x $height', ({ width, height }) => {
    const picture = createPicture(width, height, 4);
    const image = readPng(encodePng(picture, picture.columns));
    expect([image.width, image.height]).toEqual([width, height]);
    for (const [x, y] of [
      [0, 0],
      [width - 1, 0],
      [0, height - 1],
      [width - 1, height - 1],
      [width >> 1, picture.barTop * 16],
    ] as const) {
      expect(image.pixel(x, y)).toEqual(toRgb(picture.colour(x >> 4, y >> 4, picture.columns)));
    }
  });
});

/** Compares every sample of the decoded frame, in all three planes. */
function firstDifference(
  decoder: H264Decoder,
  picture: ReturnType<typeof createPicture>,
  filled: number,
): string | undefined {
  const { width, height, pic } = decoder;
  if (width !== picture.columns * 16 || height !== picture.rows * 16) return `decoded as ${width}x${height}`;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const expected = picture.colour(x >> 4, y >> 4, filled);
      if (pic[y * width + x] !== expected.y) return `luma at ${x},${y}`;
      if (((x | y) & 1) !== 0) continue;
      const chroma = width * height + ((y >> 1) * width) / 2 + (x >> 1);
      if (pic[chroma] !== expected.cb) return `cb at ${x},${y}`;
      if (pic[chroma + (width * height) / 4] !== expected.cr) return `cr at ${x},${y}`;
    }
  }
  return undefined;
}

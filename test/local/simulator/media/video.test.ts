import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { H264Decoder } from 'h264decoder';
import { describe, expect, it } from 'vitest';
import { clipNames, nearestClip, readClip } from '../../../../src/local/simulator/media/clips.ts';
import type { ClipName } from '../../../../src/local/simulator/media/clips.ts';
import { createPicture, toRgb } from '../../../../src/local/simulator/media/picture.ts';
import type { Picture } from '../../../../src/local/simulator/media/picture.ts';
import { encodePng } from '../../../../src/local/simulator/media/png.ts';
import { readMp4 } from './mp4-reader.ts';
import { readPng } from './png-reader.ts';

/** What the clips were rendered from: each has its own tint. */
const rendered: Readonly<Record<ClipName, { width: number; height: number; tint: number }>> = {
  '16x9': { width: 640, height: 360, tint: 0 },
  '4x3': { width: 640, height: 480, tint: 1 },
  '1x1': { width: 480, height: 480, tint: 2 },
  '3x4': { width: 480, height: 640, tint: 3 },
  '9x16': { width: 360, height: 640, tint: 4 },
  '21x9': { width: 672, height: 288, tint: 5 },
};
const frames = 120;

describe('the sample clips', () => {
  it.each(clipNames)('%s decodes to exactly the pictures that were meant', (name) => {
    const file = readMp4(readClip(name));
    const plain = createPicture({ ...rendered[name], marked: false });
    const barred = createPicture({ ...rendered[name], marked: true });
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
      // The bar is empty in the first frame and full in the last.
      const filled = Math.round((frame * plain.columns) / (frames - 1));
      expect(firstDifference(decoder, { plain, barred }, filled), `frame ${frame}`).toBeUndefined();
    }
  });

  it.each(clipNames)('%s has boxes that agree with each other, and is small', (name) => {
    const bytes = readClip(name);
    const file = readMp4(bytes);
    const { width, height } = rendered[name];
    expect(file).toMatchObject({
      width,
      height,
      profile: 66,
      syncSamples: [1],
      topLevel: ['ftyp', 'moov', 'mdat'],
      movieSeconds: frames / 24,
      mediaSeconds: frames / 24,
    });
    expect(file.samples).toHaveLength(frames);
    expect(bytes.length).toBeLessThan(5 * 1024);
  });

  it.for(clipNames)('%s is understood by ffprobe, where that is installed', async (name, { annotate }) => {
    const path = fileURLToPath(
      new URL(`../../../../src/local/simulator/media/clips/${name}.mp4`, import.meta.url),
    );
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
    if (shown.error !== undefined) return void (await annotate('ffprobe is not installed: not checked'));
    const { width, height } = rendered[name];
    expect(shown.stderr.toString()).toBe('');
    expect(shown.stdout.toString().trim()).toBe(
      `h264,Constrained Baseline,${width},${height},24/1,5.000000,120`,
    );
    await annotate('checked with ffprobe');
  });

  it.each([
    [1280, 720, '16x9'],
    [854, 480, '16x9'],
    [864, 496, '16x9'],
    [1112, 834, '4x3'],
    [832, 480, '16x9'],
    [960, 960, '1x1'],
    [834, 1112, '3x4'],
    [720, 1280, '9x16'],
    [1470, 630, '21x9'],
    [3840, 1646, '21x9'],
    [5000, 100, '21x9'],
    [100, 5000, '9x16'],
  ] as const)('a video of %i x %i is shown by %s', (width, height, name) => {
    expect(nearestClip(width, height)).toBe(name);
  });
});

describe('last frame', () => {
  it.each([
    { width: 864, height: 496 },
    { width: 834, height: 1112 },
    { width: 1470, height: 630 },
    { width: 1920, height: 1080 },
  ])('is a PNG of the size asked for, with the bar: $width x $height', ({ width, height }) => {
    const picture = createPicture({ width, height, tint: 4, marked: true });
    const image = readPng(encodePng(picture));
    expect([image.width, image.height]).toEqual([width, height]);
    for (const [x, y] of [
      [0, 0],
      [width - 1, 0],
      [0, height - 1],
      [width - 1, height - 1],
      [width >> 1, picture.barTop * 16],
    ] as const) {
      expect(image.pixel(x, y)).toEqual(toRgb(picture.colour(x >> 4, y >> 4)));
    }
  });
});

/** Compares every sample of the decoded frame, in all three planes. */
function firstDifference(
  decoder: H264Decoder,
  { plain, barred }: { plain: Picture; barred: Picture },
  filled: number,
): string | undefined {
  const { width, height, pic } = decoder;
  if (width !== plain.columns * 16 || height !== plain.rows * 16) return `decoded as ${width}x${height}`;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const expected = (x >> 4 < filled ? barred : plain).colour(x >> 4, y >> 4);
      if (pic[y * width + x] !== expected.y) return `luma at ${x},${y}`;
      if (((x | y) & 1) !== 0) continue;
      const chroma = width * height + ((y >> 1) * width) / 2 + (x >> 1);
      if (pic[chroma] !== expected.cb) return `cb at ${x},${y}`;
      if (pic[chroma + (width * height) / 4] !== expected.cr) return `cr at ${x},${y}`;
    }
  }
  return undefined;
}

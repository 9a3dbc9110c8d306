import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { H264Decoder } from 'h264decoder';
import { describe, expect, it } from 'vitest';
import { clipNames, nearestClip, readClip } from '../../../../workshop/simulator/media/clips.ts';
import type { ClipName } from '../../../../workshop/simulator/media/clips.ts';
import { readMp4 } from './mp4-reader.ts';

const rendered: Readonly<Record<ClipName, { width: number; height: number }>> = {
  '16x9': { width: 640, height: 360 },
  '4x3': { width: 640, height: 480 },
  '1x1': { width: 480, height: 480 },
  '3x4': { width: 480, height: 640 },
  '9x16': { width: 360, height: 640 },
  '21x9': { width: 672, height: 288 },
};
const frames = 120;

describe('the sample clips', () => {
  it.each(clipNames)('%s decodes, picture by picture, to a bar that grows', (name) => {
    const file = readMp4(readClip(name));
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
      // A sample in the row of the bar is white up to where the bar has grown.
      const row = Math.floor((decoder.height / 16) * 0.8) * 16 + 3;
      const white = decoder.pic
        .subarray(row * decoder.width, (row + 1) * decoder.width)
        .filter((y) => y === 220);
      expect(white.length / decoder.width, `frame ${frame}`).toBeCloseTo(frame / (frames - 1), 1);
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
      new URL(`../../../../workshop/simulator/media/clips/${name}.mp4`, import.meta.url),
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

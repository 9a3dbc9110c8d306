import { readFileSync } from 'node:fs';

/**
 * These sample clips stand in for every video: five seconds of H.264 at 24 frames per second, a few kilobytes each.
 * They were rendered for this project and are under the same licence. They show a tinted gradient and a growing white
 * bar that indicates the progress. `clipOf` adapts a clip to the size and length of its task.
 */
const clips = [
  { name: '16x9', ratio: 16 / 9 },
  { name: '1x1', ratio: 1 },
  { name: '9x16', ratio: 9 / 16 },
] as const;
export const clipNames = clips.map(({ name }) => name);
export type ClipName = (typeof clipNames)[number];

export function nearestClip(width: number, height: number): ClipName {
  const distance = (ratio: number): number => Math.abs(Math.log(width / height / ratio));
  return clips.reduce((best, clip) => (distance(clip.ratio) < distance(best.ratio) ? clip : best)).name;
}

export function readClip(name: ClipName): Buffer {
  return readFileSync(new URL(`clips/${name}.mp4`, import.meta.url));
}

export const framesPerSecond = 24;

export interface ClipShape {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
}

export function clipOf({ width, height, seconds }: ClipShape): Buffer {
  const clip = readClip(nearestClip(width, height));
  const boxAt = (type: string): number => clip.indexOf(type, clip.indexOf('moov'), 'latin1');
  for (const type of ['mvhd', 'mdhd']) {
    const timescaleAt = boxAt(type) + 16;
    clip.writeUInt32BE(Math.max(1, Math.round(clip.readUInt32BE(timescaleAt + 4) / seconds)), timescaleAt);
  }
  const pixelsAt = boxAt('tkhd') + 80;
  clip.writeUInt32BE(width << 16, pixelsAt);
  clip.writeUInt32BE(height << 16, pixelsAt + 4);
  const sampleAt = boxAt('avc1') + 28;
  clip.writeUInt16BE(width, sampleAt);
  clip.writeUInt16BE(height, sampleAt + 2);
  return clip;
}

export function paddingBox(length: number): Buffer {
  if (length < 8) return Buffer.alloc(0);
  const box = Buffer.alloc(length);
  box.writeUInt32BE(length, 0);
  box.write('free', 4, 'latin1');
  return box;
}

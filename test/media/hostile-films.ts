import { readClip } from '../../workshop/simulator/media/clips.ts';

/** Five seconds, 640 x 360. */
export const clip = readClip('16x9');

type Edit = (film: Buffer) => void;

function changed(edit: Edit): Buffer {
  const film = Buffer.from(clip);
  edit(film);
  return film;
}

function inside(type: string, film: Buffer = clip): number {
  const at = film.indexOf(type, 0, 'latin1');
  if (at < 0) throw new RangeError(`the clip has no ${type}`);
  return at + 4;
}

function box(type: string, contents: Buffer = Buffer.alloc(0), size = contents.length + 8): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, contents]);
}

function nested(levels: number): Buffer {
  return Array.from({ length: levels }).reduce<Buffer>((inner) => box('moov', inner), Buffer.alloc(0));
}

const fileType = box('ftyp', Buffer.from('isom\0\0\0\0isom', 'latin1'));
const moov = inside('moov') - 8;

const setUint32 = (type: string, offset: number, value: number): Buffer =>
  changed((film) => film.writeUInt32BE(value, inside(type, film) + offset));

const run = box('trun', Buffer.from('00000000000186a0', 'hex'));
const track = Buffer.concat([
  box('tfhd', Buffer.from('0000000000000001', 'hex')),
  ...Array.from({ length: 11_000 }, () => run),
]);
const manyFrames = Buffer.concat([clip, box('moof', box('traf', track))]);

export const hostileFilms: Readonly<Record<string, Buffer>> = {
  'nothing at all': Buffer.alloc(0),
  'HTML with the name of an MP4': Buffer.from('<!doctype html><script>while (true) {}</script>'.repeat(500)),
  'a file type and no more': fileType,
  'cut in its first box': clip.subarray(0, 10),
  'cut in its table of boxes': clip.subarray(0, moov + 40),
  'cut in its middle': clip.subarray(0, Math.floor(clip.length / 2)),
  'a box of four gigabytes': changed((film) => film.writeUInt32BE(0xffffffff, moov)),
  'a box of 2^62 bytes': Buffer.concat([fileType, box('moov', Buffer.from('4000000000000000', 'hex'), 1)]),
  'a box of less than its own head': Buffer.concat([fileType, box('moov', Buffer.alloc(64), 3)]),
  'a box that goes to the end of the file, in itself': Buffer.concat([fileType, box('moov', fileType, 0)]),
  'endless boxes': Buffer.concat([fileType, ...Array.from({ length: 200_000 }, () => box('free'))]),
  'boxes in boxes': Buffer.concat([fileType, nested(5_000)]),
  'no ticks in a second, of its track': setUint32('mdhd', 12, 0),
  'no ticks in a second, of the film': setUint32('mvhd', 12, 0),
  'a duration that only its header claims': setUint32('mvhd', 16, 0xffffffff),
  'frames that last for ages': setUint32('stts', 12, 0xffffffff),
  'four billion times of frames': setUint32('stts', 4, 0xffffffff),
  'four billion frames': setUint32('stsz', 8, 0xffffffff),
  'four billion places of frames': setUint32('stco', 4, 0xffffffff),
  'four billion descriptions': setUint32('stsd', 4, 0xffffffff),
  'a fragment of a billion frames': manyFrames,
  'no pixels': changed((film) => film.fill(0, inside('avc1', film) + 24, inside('avc1', film) + 28)),
};

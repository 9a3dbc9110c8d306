import { expect, it } from 'vitest';
import { measuredImage, measuredLink } from '../../src/images/measure-image.ts';
import { encodeJpeg, segment } from '../../workshop/simulator/media/images.ts';
import { png } from './support.ts';

const picture = png(640, 480).toString('base64');
const sized = { size: '640x480', isMeasured: true };

function inPieces(text: string, length: number) {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / length) }, (_, n) =>
    bytes.subarray(n * length, (n + 1) * length),
  );
  return { chunks, bytes: bytes.length, verbatim: true, toString: () => text };
}

it.each([1, 3, 7, 1_000])('reads the pixels of data in pieces of %i bytes', async (length) => {
  expect(await measuredImage({ base64: inPieces(picture, length) })).toMatchObject(sized);
});

it('reads the pixels of data that is a single string', async () => {
  expect(await measuredImage({ base64: picture })).toMatchObject(sized);
});

it('finds the pixels of a photograph behind its profiles', async () => {
  const photo = encodeJpeg({ width: 640, height: 480, tint: 1, marked: false });
  const profile = segment(0xe2, Buffer.alloc(60_000));
  const long = Buffer.concat([photo.subarray(0, 2), profile, profile, photo.subarray(2)]);
  expect(await measuredImage({ base64: inPieces(long.toString('base64'), 5_000) })).toMatchObject(sized);
});

it.each([
  ['a reported size', { base64: picture, size: '1x1' }],
  ['no data', { url: 'https://cdn.example/a.png' }],
  ['other data', { base64: Buffer.from('<html>').toString('base64') }],
])('%s is not changed', async (_, image) => {
  expect(await measuredImage(image)).toBe(image);
});

it('reads a link from its first bytes, and closes it', async () => {
  let pieces = 0;
  let isClosed = false;
  const open = async () =>
    (async function* endless() {
      try {
        yield png(640, 480).subarray(0, 20);
        yield png(640, 480).subarray(20);
        for (;;) {
          pieces += 1;
          yield Buffer.alloc(1024);
        }
      } finally {
        isClosed = true;
      }
    })();
  expect(await measuredLink({ url: 'https://cdn.example/a.png' }, open)).toMatchObject(sized);
  expect([pieces <= 64, isClosed]).toEqual([true, true]);
});

it('leaves the size of a link that does not open unknown', async () => {
  const image = { url: 'https://cdn.example/a.png' };
  expect(await measuredLink(image, () => Promise.reject(new Error('gone')))).toBe(image);
});

import { expect, it } from 'vitest';
import { NoRoomError } from '../../src/errors/not-stored.ts';
import { imageBytesMax } from '../../src/images/convert.ts';
import { createFetchedImages, fetchedBytesMax } from '../../src/images/fetched-images.ts';

it('the smallest setting has room for two of the largest images of an account', () => {
  const { reserve } = createFetchedImages(fetchedBytesMax({ UPLOADS_BYTES_MAX: 2_048 })).open('a');
  reserve(imageBytesMax);
  reserve(imageBytesMax);
  expect(() => reserve(imageBytesMax)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
});

it('a request that would fit alone is refused only for now', () => {
  const images = createFetchedImages(100);
  const other = images.open('a');
  other.reserve(75);
  const { reserve } = images.open('a');
  expect(() => reserve(1)).toThrow(NoRoomError);
  other.release();
  reserve(1);
});

import { expect, it } from 'vitest';
import { isAboutAsLarge, ratioOfPixels } from '../../src/base/image-sizes.ts';

const ratios = ['1:1', '16:9', '9:16', '19.5:9', '20:9'];

it('names the nearest ratio, if one is near enough', () => {
  const of = (width: number, height: number) => ratioOfPixels({ width, height }, ratios, 0.04);
  expect(of(1920, 1080)).toBe('16:9');
  expect(of(1080, 1920)).toBe('9:16');
  expect(of(1024, 1030)).toBe('1:1');
  expect(of(2200, 1000)).toBe('20:9');
  expect(of(1500, 1000)).toBeUndefined();
});

it('names none for an image without a side', () => {
  for (const [width, height] of [
    [0, 0],
    [0, 10],
    [10, 0],
  ] as const)
    expect(ratioOfPixels({ width, height }, ratios)).toBeUndefined();
});

it('assigns an image to the class with about as many pixels', () => {
  expect(isAboutAsLarge({ width: 1280, height: 720 }, 1024 ** 2)).toBe(true);
  expect(isAboutAsLarge({ width: 2048, height: 2048 }, 1024 ** 2)).toBe(false);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSize } from '../../src/http/output-size.ts';

describe('size', () => {
  it.each([
    ['1280x720', '720p', '16:9'],
    ['854x480', '480p', '16:9'],
    ['1920x1080', '1080p', '16:9'],
    ['1080x1920', '1080p', '9:16'],
    ['720x1280', '720p', '9:16'],
    ['1024x1024', '1080p', '1:1'],
    ['640x640', '720p', '1:1'],
    ['1112x834', '720p', '4:3'],
    ['834x1112', '720p', '3:4'],
    ['2560x1080', '1080p', '21:9'],
    ['3840x2160', '4k', '16:9'],
    ['3840x3840', '4k', '1:1'],
    ['832x480', '480p', '16:9'],
    ['1584x672', '720p', '21:9'],
    ['1792x1024', '1080p', '16:9'],
  ])('%s is %s at %s', (size, resolution, ratio) => {
    expect(parseSize(size)).toEqual({ resolution, ratio });
  });

  it.each(['123x456', '1280x768', '100x100', '16x9', '9999x9999', '1280', 'wide'])('%s is none', (size) => {
    expect(parseSize(size)).toBeUndefined();
  });

  it('turning a picture turns its ratio', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 9_999 }), fc.integer({ min: 100, max: 9_999 }), (a, b) => {
        const [wide, tall] = [parseSize(`${a}x${b}`), parseSize(`${b}x${a}`)];
        // The widest ratio has no name on its side.
        fc.pre(![wide?.ratio, tall?.ratio].includes('21:9'));
        expect(wide?.resolution).toBe(tall?.resolution);
      }),
    );
  });
});

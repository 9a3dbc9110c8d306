import { describe, expect, it } from 'vitest';
import { imagesOf, inputTypeOf, nameIn, resolveRoles } from '../../src/models/media-roles.ts';
import type { AskedVideo } from '../../src/models/request.ts';
import { videoRequest } from '../providers/support.ts';

const asked = (over: Partial<AskedVideo>): AskedVideo => {
  const { references: _references, ...rest } = videoRequest();
  return { ...rest, images: [], named: {}, ...over };
};

describe('the roles of images', () => {
  it.each<[images: AskedVideo['images'], takesReferences: boolean, parts: object]>([
    [[{ url: 'a' }], true, { references: ['a'] }],
    [[{ url: 'a' }], false, { firstFrame: 'a', references: [] }],
    [[{ url: 'a' }, { url: 'b' }], false, { references: ['a', 'b'] }],
    [
      [
        { url: 'a', role: 'last_frame' },
        { url: 'b', role: 'first_frame' },
        { url: 'c', role: 'reference' },
      ],
      false,
      { firstFrame: 'b', lastFrame: 'a', references: ['c'] },
    ],
  ])('%j, if references are accepted: %j', (images, takesReferences, parts) => {
    const { kind, model, prompt, videos, audios, extra } = videoRequest();
    const { request } = resolveRoles(asked({ images }), takesReferences);
    expect(request).toEqual({ kind, model, prompt, videos, audios, extra, ...parts });
  });

  it('are named as the caller wrote them', () => {
    const images = [
      { url: 'a', role: 'reference' as const },
      { url: 'b', role: 'first_frame' as const },
    ];
    const { named } = resolveRoles(asked({ images, named: { duration: 'seconds' } }), true);
    const names = ['references[0]', 'first_frame', 'last_frame', 'input_type', 'duration', 'ratio'];
    expect(names.map((name) => nameIn(named, name))).toEqual([
      'images[0]',
      'images[1]',
      'images',
      'images',
      'seconds',
      'ratio',
    ]);
    const single = resolveRoles(asked({ images: [{ url: 'a' }], named: { images: 'image' } }), true).named;
    expect(nameIn(single, 'references[0]')).toBe('image');
    expect(nameIn(single, 'references[3]')).toBe('image');
    expect(nameIn(resolveRoles(asked({}), true).named, 'references[3]')).toBe('images[3]');
  });

  it.each<[over: Partial<AskedVideo>, name: string]>([
    [{}, 'images'],
    [{ audios: ['a'] }, 'audios'],
    [{ audios: ['a'], videos: ['v'] }, 'videos'],
    [{ audios: ['a'], images: [{ url: 'i' }] }, 'images'],
    [{ named: { images: 'image' }, images: [{ url: 'i' }] }, 'image'],
    [{ named: { input_type: 'input_type' }, videos: ['v'] }, 'input_type'],
  ])('%j has its kind because of %s', (over, name) => {
    expect(resolveRoles(asked(over), true).named['input_type']).toBe(name);
  });

  it('determine the kind of request, frames before references', () => {
    const media = { references: [], videos: [], audios: [] };
    expect(inputTypeOf(media)).toBe('text_to_video');
    expect(inputTypeOf({ ...media, audios: ['a'] })).toBe('reference');
    expect(inputTypeOf({ ...media, videos: ['v'] })).toBe('reference');
    expect(inputTypeOf({ ...media, references: ['r'] })).toBe('reference');
    expect(inputTypeOf({ ...media, references: ['r'], firstFrame: 'f' })).toBe('first_last_frame');
    expect(imagesOf({ ...media, references: ['r'], firstFrame: 'f', lastFrame: 'l' })).toEqual([
      'f',
      'l',
      'r',
    ]);
  });
});

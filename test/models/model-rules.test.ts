import { describe, expect, it } from 'vitest';
import { fitVideoRequest, type VideoModelRules } from '../../src/models/model-rules.ts';
import type { VideoRequest } from '../../src/models/request.ts';
import { videoRequest } from '../providers/support.ts';

const rules: VideoModelRules = {
  id: 'clip',
  input_types: ['text_to_video', 'first_last_frame', 'reference'],
  resolutions: ['720p', '1080p'],
  ratios: ['16:9'],
  durations: { min: 4, max: 12, step: 1, default: 5, auto: false },
  inputs: { images: { max: 2 }, videos: { max: 1 }, audios: { max: 0 } },
  unsupported: {},
};

const fit = (asked: Partial<VideoRequest>, change: Partial<VideoModelRules> = {}) =>
  fitVideoRequest(videoRequest(asked), { ...rules, ...change });
const refusal = (asked: Partial<VideoRequest>, change: Partial<VideoModelRules> = {}) => {
  try {
    return fit(asked, change).warnings;
  } catch (error) {
    return error;
  }
};

describe('what the model supports', () => {
  it('is passed on as requested, without a warning', () => {
    const asked = { resolution: '1080p', ratio: '16:9', duration: 12, firstFrame: 'https://a.example/1.png' };
    const { request, warnings } = fit(asked);
    expect(request).toMatchObject(asked);
    expect(warnings).toEqual([]);
  });

  it('is any value if the entry lists none', () => {
    const { request, warnings } = fit({ resolution: '9000p', ratio: '7:5' }, { resolutions: [], ratios: [] });
    expect(request).toMatchObject({ resolution: '9000p', ratio: '7:5' });
    expect(warnings).toEqual([]);
  });

  it.each([4, 5, 12])('is a duration of %d seconds, its bounds included', (duration) => {
    expect(fit({ duration }).request.duration).toBe(duration);
  });

  it('is any duration if the entry has no rule, and none is filled in', () => {
    const { durations: _durations, ...open } = rules;
    expect(fitVideoRequest(videoRequest({ duration: 600 }), open).request.duration).toBe(600);
    expect(fitVideoRequest(videoRequest({}), open).request).not.toHaveProperty('duration');
  });
});

describe('an omitted field', () => {
  it('stays omitted, except for the usual duration', () => {
    const { request } = fit({});
    expect(request.duration).toBe(5);
    expect(request).not.toHaveProperty('resolution');
    expect(request).not.toHaveProperty('ratio');
  });

  it('has no usual duration if the entry names none', () => {
    expect(fit({}, { durations: { min: 4, max: 12, step: 1, auto: false } }).request).not.toHaveProperty(
      'duration',
    );
  });
});

describe('an unsupported field that changes the price or the meaning', () => {
  it.each<[string, Partial<VideoRequest>, string]>([
    ['resolution', { resolution: '4k' }, 'resolution must be one of 720p, 1080p, not 4k.'],
    ['duration', { duration: 3 }, 'duration must be 4-12 whole seconds, not 3.'],
    ['duration', { duration: 13 }, 'duration must be 4-12 whole seconds, not 13.'],
    ['duration', { duration: 5.5 }, 'duration must be 4-12 whole seconds, not 5.5.'],
    ['duration', { duration: 'auto' }, 'duration must not be -1 (the model’s own choice).'],
    [
      'videos',
      { videos: ['https://a.example/1.mp4', 'https://a.example/2.mp4'] },
      'videos accepts at most 1, not 2.',
    ],
  ])('is refused: %s of %j', (param, asked, words) => {
    expect(refusal(asked)).toMatchObject({
      code: 'unsupported_parameter',
      param,
      message: `${words} Model clip does not support it.`,
    });
  });

  it('is refused as an input type, whatever the entry says about fields', () => {
    const frames = { input_types: ['text_to_video', 'first_last_frame'], unsupported: 'ignore' } as const;
    expect(refusal({ videos: ['https://a.example/1.mp4'] }, frames)).toMatchObject({
      code: 'unsupported_parameter',
      param: 'input_type',
      message: 'Model clip accepts text_to_video, first_last_frame, not reference.',
    });
  });

  it('is dropped if the entry says so, and listed in the warnings', () => {
    const ignore = { unsupported: { resolution: 'ignore', duration: 'ignore' } } as const;
    const { request, warnings } = fit({ resolution: '4k', duration: 99 }, ignore);
    expect(request).not.toHaveProperty('resolution');
    expect(request.duration).toBe(5);
    expect(warnings.toSorted()).toEqual(['duration', 'resolution']);
  });

  it('media are never dropped, whatever the entry says', () => {
    const videos = ['https://a.example/1.mp4', 'https://a.example/2.mp4'];
    expect(refusal({ videos }, { unsupported: 'ignore' })).toMatchObject({
      code: 'unsupported_parameter',
      param: 'videos',
    });
  });

  it('a duration left to the model becomes the usual one if the model cannot choose', () => {
    expect(fit({ duration: 'auto' }, { unsupported: 'ignore' }).request.duration).toBe(5);
    const auto = { durations: { min: 4, max: 12, step: 1, default: 5, auto: true } };
    expect(fit({ duration: 'auto' }, auto).request.duration).toBe('auto');
  });
});

describe('an unsupported field that does not', () => {
  it('is dropped with a warning, if it is a ratio', () => {
    const { request, warnings } = fit({ ratio: '9:16' });
    expect(request).not.toHaveProperty('ratio');
    expect(warnings).toEqual(['ratio']);
  });

  it('is refused: images beyond the maximum, and audio that is not accepted', () => {
    const references = ['a', 'b', 'c'].map((name) => `https://a.example/${name}.png`);
    expect(refusal({ references })).toMatchObject({ param: 'images' });
    expect(refusal({ audios: ['https://a.example/1.mp3'] })).toMatchObject({ param: 'audios' });
  });

  it('is refused if the entry is strict, and the error lists the accepted values', () => {
    const strict = { unsupported: 'reject' } as const;
    const audios = ['https://a.example/1.mp3'];
    expect(refusal({ ratio: '9:16' }, strict)).toMatchObject({ param: 'ratio' });
    expect(refusal({ audios }, strict)).toMatchObject({
      param: 'audios',
      message: 'audios is not accepted. Model clip does not support it.',
    });
    expect(refusal({ ratio: '9:16' }, { unsupported: { ratio: 'reject' } })).toMatchObject({
      param: 'ratio',
    });
  });
});

it('the original request is not changed', () => {
  const asked = Object.freeze(videoRequest({ duration: 99, firstFrame: 'https://a.example/1.png' }));
  expect(fitVideoRequest(asked, { ...rules, unsupported: 'ignore' }).request).not.toBe(asked);
  expect(asked.duration).toBe(99);
});

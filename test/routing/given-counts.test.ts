import { describe, expect, it } from 'vitest';
import type { ImageRequest } from '../../src/models/request.ts';
import { isRendered, measures, type Measure } from '../../src/money/measures.ts';
import { givenCounts } from '../../src/routing/given-counts.ts';
import { videoRequest } from '../providers/support.ts';

const url = 'https://media.example/1';
const edit: ImageRequest = {
  kind: 'image',
  operation: 'edit',
  model: 'm',
  prompt: 'ä cube',
  n: 1,
  images: [
    { form: 'url', url },
    { form: 'url', url },
  ],
  mask: { form: 'url', url },
  extra: {},
};

it('bounds every measure of input', () => {
  const counts = givenCounts(edit, {}, { calls: 1, priced: measures });
  const bounded = measures.filter((measure) => counts[measure] !== undefined);
  expect(bounded).toEqual(measures.filter((measure) => !isRendered(measure) && measure !== 'call'));
});

describe('the input of a request', () => {
  it('is counted: images, and references without frames', () => {
    const { input_image: images, reference_image: references } = givenCounts(
      videoRequest({ firstFrame: url, lastFrame: url, references: [url] }),
      {},
      { calls: 1, priced: measures },
    );
    expect([images, references]).toEqual([
      { most: { numerator: 3n, denominator: 1n }, source: 'request' },
      { most: { numerator: 1n, denominator: 1n }, source: 'request' },
    ]);
  });

  it('is counted for each call', () => {
    expect(givenCounts(edit, {}, { calls: 3, priced: measures }).input_image?.most.numerator).toBe(6n);
  });

  it('is measured, or as long as the facts allow, or nothing', () => {
    const seconds = (videos: readonly string[], given = {}, facts = {}) =>
      givenCounts(videoRequest({ videos }), facts, { calls: 1, priced: measures, ...given }).input_second;
    expect(seconds([])).toEqual({ most: { numerator: 0n, denominator: 1000n }, source: 'request' });
    expect(seconds([url], { inputSeconds: 4.5 })).toEqual({
      most: { numerator: 4500n, denominator: 1000n },
      source: 'measured',
    });
    expect(seconds([url], {}, { input_seconds: 15 })).toEqual({
      most: { numerator: 15_000n, denominator: 1000n },
      source: 'assumed',
    });
  });

  it('has at most as many tokens as its text has bytes, plus those that the facts give for images', () => {
    const { million_input_text_tokens: text, million_input_image_tokens: images } = givenCounts(
      edit,
      { tokens: { image: 452 } },
      { calls: 1, priced: measures },
    );
    expect(text?.most.numerator).toBe(71n);
    expect(images?.most.numerator).toBe(1_356n);
    expect([text?.source, images?.source]).toEqual(['assumed', 'assumed']);
  });

  it('is counted as text if its own tokens have no price', () => {
    const request = videoRequest({ prompt: 'ä cube', references: [url], videos: [url], audios: [url] });
    const facts = { tokens: { image: 452, video_second: 100, audio_second: 10 } };
    const textAt = (...priced: Measure[]) =>
      Number(
        givenCounts(request, facts, { calls: 1, inputSeconds: 5, priced }).million_input_text_tokens?.most
          .numerator,
      );
    expect(textAt()).toBe(71 + 452 + 500 + 600);
    expect(textAt('million_input_image_tokens')).toBe(71 + 500 + 600);
    expect(textAt('million_input_video_tokens')).toBe(71 + 452 + 600);
    expect(textAt('million_input_audio_tokens')).toBe(71 + 452 + 500);
  });
});

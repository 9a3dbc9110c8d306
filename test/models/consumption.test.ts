import { expect, it } from 'vitest';
import { consumptionOf, someNames, unconsumed, unconsumedOfImage } from '../../src/models/consumption.ts';
import { everyField } from '../../src/models/model-facts.ts';
import type { VideoRequest } from '../../src/models/request.ts';
import { asAsked, imageRequest, videoRequest } from '../providers/support.ts';

const all = {
  mode: 'pro',
  resolution: '720p',
  ratio: '16:9',
  duration: 5,
  draft: false,
  generateAudio: true,
  watermark: false,
  returnLastFrame: true,
  seed: 7,
  safetyIdentifier: 'u',
  tools: [],
  extra: { theirs: 1, seed: 2 },
} satisfies Partial<VideoRequest>;

it('of a video: the requested fields that remain in the request but are not used', () => {
  const request = videoRequest(all);
  const asked = asAsked(request);
  expect(unconsumed(asked, request, consumptionOf({ fields: everyField, other_parameters: true }))).toEqual(
    [],
  );
  expect(unconsumed(asked, request, consumptionOf({}))).toEqual([
    'mode',
    'resolution',
    'ratio',
    'duration',
    'metadata.draft',
    'metadata.generate_audio',
    'metadata.watermark',
    'metadata.return_last_frame',
    'metadata.seed',
    'metadata.safety_identifier',
    'metadata.tools',
    'metadata.theirs',
    'metadata.seed',
  ]);
  const { ratio: _ratio, ...fitted } = request;
  const { resolution: _resolution, ...left } = asked;
  const names = unconsumed(
    left,
    fitted,
    consumptionOf({ fields: { ...everyField, ratio: false, resolution: false } }),
  );
  expect(names).toEqual(['metadata.theirs', 'metadata.seed']);
});

it('of images: a size, a quality, and every further field', () => {
  const request = imageRequest({ size: '1K', quality: 'low', extra: { seed: 1, style: 'film' } });
  expect(unconsumedOfImage(request, {})).toEqual(['size', 'quality', 'seed', 'style']);
  expect(unconsumedOfImage(imageRequest(), {})).toEqual([]);
  const facts = {
    fields: { size: true, quality: false },
    parameters: { seed: {}, style: { read: true as const } },
  };
  expect(unconsumedOfImage(request, facts)).toEqual(['quality']);
});

it('of names that callers choose: twenty, of 64 characters', () => {
  const names = Array.from({ length: 21 }, (_, index) => `${index}`.padStart(65, 'x'));
  expect(someNames(names)).toEqual(names.slice(0, 20).map((name) => name.slice(0, 64)));
});

import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { arkVideo } from '../../../src/providers/ark/ark-video.ts';
import { videoIssue, videoRequest } from '../support.ts';
import { videoTables } from '../vendor-tables.ts';

const pro1 = 'doubao-seedance-1-0-pro-250528';
const lite = 'seedance-1-0-lite-i2v-250428';
const pro15 = 'doubao-seedance-1-5-pro-251215';
const pro2 = 'dreamina-seedance-2-0-260128';
const fast2 = 'dreamina-seedance-2-0-fast-260128';
const pro25 = 'dreamina-seedance-2-5-260628';
const endpoint = 'ep-20260101-abcde';

const tables = videoTables(arkVideo);
const check = (request: Partial<VideoRequest>, model: string) =>
  videoIssue(arkVideo, videoRequest(request), model)?.param;
const images = (count: number) => Array.from({ length: count }, (_, index) => `https://ex.com/${index}.png`);
const oneFrame = { firstFrame: 'https://ex.com/0.png' };
const videos = (count: number) => Array.from({ length: count }, (_, index) => `https://ex.com/${index}.mp4`);
const audios = (count: number) => Array.from({ length: count }, (_, index) => `https://ex.com/${index}.wav`);

describe('parameters in the prompt that would change what is billed', () => {
  it.each([
    'a cat --rs 1080p',
    'a cat --rt 16:9',
    '--dur 10 a cat',
    'a cat --fps 60',
    'a cat --resolution 4k',
    'a cat --duration=12',
    'a cat --ratio 1:1',
    'a cat --frames 289',
    'a cat--DUR 10',
    'a cat\n--Rs 1080p',
    'a cat --dur10',
  ])('%j is refused', (prompt) => {
    expect(check({ prompt }, pro2)).toBe('prompt');
  });

  it.each([
    'a cat --seed 11',
    'a cat --wm true',
    'a cat -- running --',
    'rs 1080p',
    'the --ratios of it',
    'a–dur 5',
  ])('%j is accepted', (prompt) => {
    expect(check({ prompt }, pro2)).toBeUndefined();
  });
});

tables.checks([
  ['plain text', {}, pro2, undefined],
  ['longer than 1.0', { duration: 13 }, pro1, 'duration'],
  ['shorter than 2.0', { duration: 3 }, pro2, 'duration'],
  ['longer than 1.5', { duration: 13 }, pro15, 'duration'],
  ['1080p of fast', { resolution: '1080p' }, fast2, 'resolution'],
  ['4k of 1.5', { resolution: '4k' }, pro15, 'resolution'],
  ['an unknown resolution', { resolution: '540p' }, pro2, 'resolution'],
  ['a draft at 480p', { draft: true, resolution: '480p' }, pro15, undefined],
  ['a draft of 2.0', { draft: true }, pro2, 'metadata.draft'],
  ['a flex draft', { draft: true, extra: { service_tier: 'flex' } }, pro15, 'metadata.service_tier'],
  ['flex with 1.0', { extra: { service_tier: 'flex' } }, pro1, undefined],
  ['flex with 2.0', { extra: { service_tier: 'flex' } }, pro2, 'metadata.service_tier'],
  ['tools of 2.0', { tools: [{ type: 'web_search' }] }, pro2, undefined],
  ['tools of 1.5', { tools: [{ type: 'web_search' }] }, pro15, 'metadata.tools'],
  ['frames of 1.0', { extra: { frames: 29 } }, pro1, undefined],
  ['frames off the grid', { extra: { frames: 30 } }, pro1, 'metadata.frames'],
  ['frames of 2.0', { extra: { frames: 29 } }, pro2, 'metadata.frames'],
  ['lite references at 1080p', { references: images(1), resolution: '1080p' }, lite, 'resolution'],
  ['audio alone', { audios: audios(1) }, pro2, 'audios'],
  ['a video as data', { videos: ['data:video/mp4;base64,AA=='] }, pro2, 'videos[0]'],
  ['a video as asset', { videos: ['asset://a1'] }, pro2, undefined],
]); // prettier-ignore

const frame = oneFrame;
const clip = { videos: videos(1) } as const;
const edit = { extra: { video_task: 'edit' } };
const extend = { extra: { video_task: 'extend' } };

tables.checks([
  ['a frame in another shape', { ...frame, ratio: '1:1' }, pro25, 'ratio'],
  ['a clip of which the upstream guesses the use', { ...clip, ratio: '1:1', duration: 5 }, pro25, undefined],
  ['an edit in another shape', { ...clip, ...edit, ratio: '1:1' }, pro25, 'ratio'],
  ['an edit of another length', { ...clip, ...edit, ratio: 'adaptive', duration: 5 }, pro25, 'duration'],
  ['an edit', { ...clip, ...edit, ratio: 'adaptive', duration: 'auto' }, pro25, undefined],
  ['an extension', { ...clip, ...extend, ratio: 'adaptive', duration: 12 }, pro25, undefined],
  ['an extension in another shape', { ...clip, ...extend, ratio: '16:9' }, pro25, 'ratio'],
  ['a draft of 2.5', { draft: true }, pro25, undefined],
  ['4k of 2.5', { resolution: '4k' }, pro25, 'resolution'],
]);

tables.renders([
  ['no length', {}, pro2, { resolutions: ['720p', '1080p'], seconds: { min: 5, max: 5 } }],
  ['a length', { resolution: '480p', duration: 7 }, pro2, {}],
  ['a chosen length', { resolution: '480p', duration: 'auto' }, pro15, { seconds: { min: 4, max: 12 } }],
  ['a chosen length of any', { resolution: '480p', duration: 'auto' }, endpoint, { seconds: { min: 1, max: 30 } }],
  ['frames', { extra: { frames: 49 } }, pro1, { resolutions: ['720p', '1080p'], seconds: { min: 49 / 24, max: 49 / 24 } }],
  ['a draft', { draft: true, duration: 5 }, pro15, { resolutions: ['480p'] }],
  ['an edit', { ...clip, ...edit, resolution: '480p' }, pro25, { seconds: { min: 4, max: 30 } }],
]); // prettier-ignore

import { describe, expect, it } from 'vitest';
import { consumptionOf } from '../../src/models/consumption.ts';
import { factsIssue } from '../../src/models/model-facts-check.ts';
import { factsFor, passedOn } from '../../src/models/facts-of-request.ts';
import { videoFactsSchema, type VideoFacts } from '../../src/models/model-facts.ts';
import { possibleOutput } from '../../src/models/possible-output.ts';
import { servedFacts } from '../../src/models/facts-table.ts';
import type { VideoRequest } from '../../src/models/request.ts';
import { videoRequest } from '../providers/support.ts';
import { testOrigin } from '../support/test-origin.ts';

const facts: VideoFacts = {
  media: { frames: 1, references: 2, videos: 1, audios: 2, total: 3, accompanied: ['audios'] },
  prompt: { characters: 40, wordless: ['first_frame'] },
  addresses: { images: ['https', 'data'], characters: 30 },
  resolutions: ['720p', '1080p'],
  ratios: ['16:9'],
  seconds: { min: 2, max: 10, step: 0.5, auto: true },
  sound: 'choice',
  seed: { min: 0, max: 9 },
  fields: { resolution: true, ratio: true, duration: true, seed: true },
  parameters: {
    motion: { type: 'integer', min: 1, max: 3 },
    style: { type: 'text', values: ['film'], sent_as: 'style_preset' },
    task: { read: true },
    loop: { type: 'flag' },
    shots: { type: 'list' },
    camera: { type: 'object' },
    cfg: { type: 'number' },
  },
  reserved: ['callback_url', 'style'],
  unsaid: { resolutions: ['720p'], seconds: { min: 5, max: 5 } },
  cases: [
    { when: { resolution: ['1080p'] }, facts: { seconds: { only: [4] }, sound: 'never' } },
    { when: { brings: ['first_frame'] }, facts: { fields: { ratio: false } } },
    { when: { brings: ['references'], lacks: ['videos'] }, facts: { media: { needs: ['videos'] } } },
    { when: { metadata: { task: 'any' } }, facts: { sound: 'always' } },
    { when: { metadata: { task: 'edit' } }, facts: { sound: 'fixed' } },
    { when: { draft: true }, facts: { resolutions: ['720p'], fields: { draft: true } } },
    { when: { ratio: ['16:9'], draft: false }, facts: { unsaid: { resolutions: ['1080p'] } } },
    { when: { duration: [8, 9] }, facts: { required: ['ratio', 'style'] } },
  ],
};
const a = 'https://ex.com/a';
const issueOf = (over: Partial<VideoRequest>, table = facts) => {
  const request = videoRequest(over);
  return factsIssue(request, factsFor(request, table))?.param;
};

describe('the facts of a model', () => {
  it.each<[string, Partial<VideoRequest>, string | undefined]>([
    ['nothing', {}, undefined],
    ['a last frame', { firstFrame: a, lastFrame: a }, 'last_frame'],
    ['two videos', { videos: [a, a] }, 'videos'],
    ['too many together', { references: [a, a], videos: [a], audios: [a] }, 'references'],
    ['as many as fit', { references: [a], videos: [a], audios: [a] }, undefined],
    ['what must be brought', { references: [a] }, 'videos'],
    ['sound alone', { audios: [a] }, 'audios'],
    ['sound beside a video', { audios: [a], videos: [a] }, undefined],
    ['a long prompt', { prompt: 'x'.repeat(41) }, 'prompt'],
    ['no prompt', { prompt: ' ' }, 'prompt'],
    ['no prompt beside a frame', { prompt: '', firstFrame: a }, undefined],
    ['an address that nobody fetches', { firstFrame: 'asset://1' }, 'first_frame'],
    ['an address in capitals', { firstFrame: 'HTTPS://EX.COM/A' }, undefined],
    ['a long address', { videos: [a], references: [a, `${a}${'x'.repeat(20)}`] }, 'references[1]'],
    ['long data', { firstFrame: `data:image/png;base64,${'x'.repeat(40)}` }, undefined],
    ['a list of addresses that says nothing', { videos: ['ftp://ex.com/a'] }, undefined],
    ['a draft', { draft: true }, undefined],
    ['a draft at 1080p', { draft: true, resolution: '1080p' }, 'resolution'],
    ['tools', { tools: [] }, 'metadata.tools'],
    ['a watermark', { watermark: true }, 'metadata.watermark'],
    ['no watermark', { watermark: false }, undefined],
    ['a seed', { seed: 9 }, undefined],
    ['a large seed', { seed: 10 }, 'metadata.seed'],
    ['a small seed', { seed: -1 }, 'metadata.seed'],
    ['a resolution', { resolution: '4k' }, 'resolution'],
    ['a resolution in capitals', { resolution: '720P' }, undefined],
    ['a ratio', { ratio: '1:1' }, 'ratio'],
    ['a ratio that is not sent', { ratio: '1:1', firstFrame: a }, undefined],
    ['half a second', { duration: 2.5 }, undefined],
    ['a third of one', { duration: 2.3 }, 'duration'],
    ['a long one', { duration: 11 }, 'duration'],
    ['a length of its choice', { duration: 'auto' }, undefined],
    ['a length of its choice where there is one', { duration: 'auto', resolution: '1080p' }, 'duration'],
    ['another length at a resolution', { duration: 5, resolution: '1080P' }, 'duration'],
    ['the length of a resolution', { duration: 4, resolution: '1080p' }, undefined],
    ['a length that needs a ratio', { duration: 8 }, 'ratio'],
    ['a length that needs a style, too', { duration: 9, ratio: '16:9' }, 'metadata.style'],
    ['all that a length needs', { duration: 9, ratio: '16:9', extra: { style: 'film' } }, undefined],
    ['silence', { generateAudio: false }, undefined],
    ['sound at a resolution', { generateAudio: true, resolution: '1080p' }, 'metadata.generate_audio'],
    ['silence of a task', { generateAudio: false, extra: { task: 'x' } }, 'metadata.generate_audio'],
    ['sound of a task', { generateAudio: true, extra: { task: 'x' } }, undefined],
    ['sound that is not known', { generateAudio: true, extra: { task: 'edit' } }, 'metadata.generate_audio'],
    ['a parameter', { extra: { motion: 3, style: 'film', loop: true, shots: [], camera: {}, cfg: 0.5 } }, undefined],
    ['a large one', { extra: { motion: 4 } }, 'metadata.motion'],
    ['a small one', { extra: { motion: 0 } }, 'metadata.motion'],
    ['a broken one', { extra: { motion: 1.5 } }, 'metadata.motion'],
    ['a word that it lacks', { extra: { style: 'anime' } }, 'metadata.style'],
    ['a number for a text', { extra: { style: 1 } }, 'metadata.style'],
    ['a text for a flag', { extra: { loop: 'yes' } }, 'metadata.loop'],
    ['a text for a list', { extra: { shots: 'one' } }, 'metadata.shots'],
    ['a list for an object', { extra: { camera: [] } }, 'metadata.camera'],
    ['a text for a number', { extra: { cfg: '1' } }, 'metadata.cfg'],
    ['what is not listed', { extra: { other: {} } }, undefined],
  ])('contain %s', (_, over, param) => {
    expect(issueOf(over)).toBe(param);
  }); // prettier-ignore

  it.each<[VideoFacts, Partial<VideoRequest>, string]>([
    [{}, { draft: true }, 'metadata.draft'],
    [{}, { seed: 1 }, 'metadata.seed'],
    [{ addresses: { images: ['https'] } }, { firstFrame: a, lastFrame: 'asset://1' }, 'last_frame'],
    [{ addresses: { audios: ['https'] } }, { audios: [a, 'ftp://ex.com'] }, 'audios[1]'],
    [{ media: { frames: 0 } }, { firstFrame: a }, 'first_frame'],
    [{ media: { videos: 1 } }, { firstFrame: a, videos: [a] }, 'videos'],
    [{ sound: 'always' }, { generateAudio: false }, 'metadata.generate_audio'],
  ])('%j rejects %j for %s', (table, over, param) => {
    expect(issueOf(over, table)).toBe(param);
  });

  it.each<[VideoFacts, Partial<VideoRequest>]>([
    [
      { resolutions: ['720p'], ratios: ['1:1'] },
      { resolution: '4k', ratio: '7:1' },
    ],
    [{ seconds: { only: [5] } }, { duration: 7 }],
    [{ fields: { duration: true }, seconds: { min: 2, max: 4 } }, { duration: 2 }],
    [{ media: { videos: 1, beside_frames: ['videos'] } }, { firstFrame: a, videos: [a] }],
    [{ prompt: { characters: 3 } }, { prompt: 'abc' }],
    [{ parameters: Object.fromEntries([['constructor', { type: 'text' as const }]]) }, {}],
    [{ parameters: { least: { min: 1 }, most: { max: 2 } } }, { extra: { least: 1, most: 2 } }],
    [{ sound: 'never' }, { generateAudio: false }],
    [{ sound: 'always' }, { generateAudio: true }],
  ])('%j accepts %j', (table, over) => {
    expect(issueOf(over, table)).toBeUndefined();
  });

  it('leave everything that they do not name to the vendor', () => {
    const asked = {
      firstFrame: 'asset://1',
      prompt: '',
      resolution: '16k',
      ratio: '7:1',
      duration: 'auto',
      generateAudio: false,
      seed: -1,
    } as const;
    const fields = { resolution: true, ratio: true, duration: true, seed: true };
    expect(issueOf(asked, { fields })).toBeUndefined();
  });

  it('show what reaches the vendor, and under which name', () => {
    const extra = { motion: 2, style: 'film', task: 'edit', callback_url: 'x', other: 1 };
    const request = videoRequest({ extra });
    expect(passedOn(request, factsFor(request, facts))).toEqual({ motion: 2, style_preset: 'film' });
    const open = { ...facts, other_parameters: true };
    expect(passedOn(request, factsFor(request, open))).toEqual({ motion: 2, style_preset: 'film', other: 1 });
    const common = videoRequest({ extra: { fps: 24, negative_prompt: 'rain' } });
    const named = { ...open, parameters: { negative_prompt: { sent_as: 'without' } } };
    expect(passedOn(common, factsFor(common, named))).toEqual({ without: 'rain' });
    expect(Object.keys(common.extra).filter(consumptionOf(factsFor(common, named)).metadata)).toEqual([
      'negative_prompt',
    ]);
    const { metadata, fields } = consumptionOf(factsFor(request, facts));
    expect(Object.keys(extra).filter(metadata)).toEqual(['motion', 'style', 'task']);
    expect(fields).toEqual(['resolution', 'ratio', 'duration', 'seed']);
  });

  it.each<[string, Partial<VideoRequest>, object]>([
    ['nothing is said', {}, { resolutions: ['720p'], seconds: { min: 5, max: 5 } }],
    ['all is said', { resolution: '1080p', duration: 4 }, {}],
    ['the model chooses', { resolution: '720p', duration: 'auto' }, { seconds: { min: 2, max: 10 } }],
    ['a ratio names it', { ratio: '16:9', duration: 4 }, { resolutions: ['1080p'] }],
    ['a draft has a ratio', { ratio: '16:9', duration: 4, draft: true }, { resolutions: ['720p'] }],
  ])('show what is rendered if %s', (_, over, expected) => {
    const request = videoRequest(over);
    expect(possibleOutput(request, factsFor(request, facts))).toEqual(expected);
  });
});

describe('facts of the configuration', () => {
  const table = {
    origin: testOrigin,
    models: [[/^known/, facts] as const],
    others: { fields: { duration: true } },
  };
  const served = (over: VideoFacts, upstream = 'known-1') => servedFacts(table, { upstream, facts: over });

  it('apply in every case of the table', () => {
    const over = served({ seconds: { min: 2, max: 60 }, ratios: ['16:9', '2:1'] });
    expect(issueOf({ duration: 60, ratio: '2:1' }, over)).toBeUndefined();
    expect(issueOf({ duration: 60, resolution: '1080p' }, over)).toBeUndefined();
    expect(issueOf({ duration: 61 }, over)).toBe('duration');
    expect(issueOf({ resolution: '4k' }, over)).toBe('resolution');
  });

  it('have cases of their own, after those of the table', () => {
    const when = { brings: ['first_frame' as const] };
    const over = served({ cases: [{ when, facts: { seconds: { only: [3] }, fields: { ratio: true } } }] });
    expect(issueOf({ duration: 4 }, over)).toBeUndefined();
    expect(issueOf({ duration: 4, firstFrame: a }, over)).toBe('duration');
    expect(issueOf({ ratio: '1:1', firstFrame: a }, over)).toBe('ratio');
  });

  it('name a parameter that the table lacks, but none that the gateway decides', () => {
    const parameters = { zoom: { max: 2 }, callback_url: {}, speed: { sent_as: 'callback_url' } };
    const over = served({ parameters, reserved: ['motion'] });
    const extra = { zoom: 1, callback_url: 'x', speed: 'x', motion: 1, style: 'film' };
    expect(passedOn({ extra }, factsFor({ extra }, over))).toEqual({ zoom: 1, style_preset: 'film' });
    expect(issueOf({ extra: { zoom: 3 } }, over)).toBe('metadata.zoom');
  });

  it('are the only facts of an unlisted model', () => {
    expect(issueOf({ duration: 99 }, served({}, 'new'))).toBeUndefined();
    expect(issueOf({ duration: 99 }, served({ seconds: { max: 98 } }, 'new'))).toBe('duration');
  });

  it.each([
    [{ second: {} }, ''],
    [{ seconds: { min: 5, max: 4 } }, 'seconds'],
    [{ seconds: { only: [0] } }, 'seconds.only.0'],
    [{ media: { frames: 3 } }, 'media.frames'],
    [{ media: { pictures: 3 } }, 'media'],
    [{ sound: 'loud' }, 'sound'],
    [{ parameters: { motion: { kind: 'x' } } }, 'parameters.motion'],
    [{ parameters: { motion: { min: 2, max: 1 } } }, 'parameters.motion'],
    [{ seed: { min: 2, max: 1 } }, 'seed'],
    [{ unsaid: { seconds: { min: 2, max: 1 } } }, 'unsaid.seconds'],
    [{ cases: [{ when: { has: [] }, facts: {} }] }, 'cases.0.when'],
    [{ cases: [{ facts: { cases: [] } }] }, 'cases.0.facts'],
  ])('%j is refused', (value, path) => {
    expect(videoFactsSchema.safeParse(value).error?.issues[0]?.path.join('.')).toBe(path);
  });
});

import { describe, expect, it } from 'vitest';
import type { ImageInput, VideoRequest } from '../../../src/models/request.ts';
import { providers } from '../../../src/providers/index.ts';
import { fixture } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

const { video, imageTask } = providers['luma'] ?? {};
if (video === undefined || imageTask === undefined) throw new Error('a capability is missing');

const a = 'https://ex.com/a.png';
const b = 'data:image/png;base64,QUJD';
const clip = 'https://ex.com/a.mp4';
const prompt = 'a fox in the snow';
const model = 'ray-3.2';
const id = '182bd5e5-6e1a-4fe4-a799-aa6d9a6ab26e';
const byData = { data: 'QUJD', media_type: 'image/png' };
const edit: Partial<VideoRequest> = { videos: [clip] };
const reframe: Partial<VideoRequest> = { ...edit, extra: { video_task: 'reframe' } };
const root = 'https://upstream.example/api/v3';

const created = { status: 201, json: fixture('luma/created') };
const videos = videoTables(video, { model, operation: { id }, created });
const images = imageTables(imageTask, { model: 'uni-1', created });

describe('a video', () => {
  const source = { media_type: 'video/mp4', url: clip };

  it('is posted with the key, and without an address to call', async () => {
    const { submitted, sent } = await videos.sentFor({}, model, { callbackUrl: 'https://gw.example/cb' });
    expect(submitted).toEqual({ operation: { id }, traceId: id });
    expect(sent).toMatchObject({
      method: 'POST',
      url: `${root}/generations`,
      headers: { authorization: 'Bearer test-key' },
      json: { model, prompt, type: 'video' },
    });
  });

  videos.sends([
    ['text', {}, { type: 'video' }],
    ['text with everything', { resolution: '1080P', ratio: '21:9', duration: 5, safetyIdentifier: 'u1', extra: { loop: true } },
      { type: 'video', aspect_ratio: '21:9', user_id: 'u1', video: { resolution: '1080p', duration: '5s', loop: true } }],
    ['a first frame', { firstFrame: a }, { type: 'video', video: { start_frame: { url: a } } }],
    ['both frames', { firstFrame: a, lastFrame: b, duration: 5 }, { type: 'video', video: { duration: '5s', start_frame: { url: a }, end_frame: byData } }],
    ['a first frame of ten seconds', { firstFrame: b, duration: 10 }, { type: 'video', video: { duration: '10s', keyframes: [byData], keyframe_indexes: [0] } }],
    ['both frames of ten seconds', { firstFrame: a, lastFrame: b, duration: 10 },
      { type: 'video', video: { duration: '10s', keyframes: [{ url: a }, byData], keyframe_indexes: [0, 240] } }],
    ['an edit, which keeps its length and ratio', { ...edit, duration: 7, ratio: '16:9', resolution: '540p' },
      { type: 'video_edit', source, video: { resolution: '540p' } }],
    ['a video in another ratio', { ...reframe, ratio: '9:16' }, { type: 'video_reframe', source, aspect_ratio: '9:16' }],
    ['a video as data', { videos: ['data:video/quicktime;base64,QUJD'] }, { type: 'video_edit', source: { data: 'QUJD', media_type: 'video/quicktime' } }],
  ], () => ({ model, prompt })); // prettier-ignore

  videos.checks([
    ['no words', { prompt: '' }, 'prompt'],
    ['480p', { resolution: '480p' }, 'resolution'],
    ['3:2', { ratio: '3:2' }, 'ratio'],
    ['another ratio that it does not have', { ...reframe, ratio: '3:2' }, 'ratio'],
    ['no other ratio', reframe, 'ratio'],
    ['6 s', { duration: 6 }, 'duration'],
    ['an edit of 6 s', { ...edit, duration: 6 }, undefined],
    ['a task without a video', { extra: { video_task: 'edit' } }, 'metadata.video_task'],
    ['a loop', { extra: { loop: true } }, undefined],
    ['a loop of ten seconds', { duration: 10, extra: { loop: true } }, 'metadata.loop'],
    ['ten seconds that do not loop', { duration: 10, extra: { loop: false } }, undefined],
    ['a loop of an edit', { ...edit, extra: { loop: true } }, 'metadata.loop'],
    ['a loop in words', { extra: { loop: 'yes' } }, 'metadata.loop'],
  ]);

  videos.renders([
    ['text', {}, { resolutions: ['720p'], seconds: { min: 5, max: 5 } }],
    ['what is said', { resolution: '1080p', duration: 10 }, {}],
    ['an edit', { ...edit, resolution: '540p', duration: 5 }, { seconds: { min: 1, max: 18 } }],
    ['another ratio', reframe, { resolutions: ['720p'], seconds: { min: 1, max: 30 } }],
  ]);
});

describe('an image', () => {
  const link: ImageInput = { form: 'url', url: a };
  const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'QUJD' };

  images.sends([
    ['text', { size: '2k' }, { type: 'image' }],
    ['pixels and more', { size: '2730x1536', extra: { style: 'manga', user: 'u1', seed: 1 } }, { type: 'image', aspect_ratio: '16:9', style: 'manga', user_id: 'u1' }],
    ['references', { images: [link, data] }, { type: 'image', image_ref: [{ url: a }, byData] }],
    ['an edit', { operation: 'edit', images: [data, link] }, { type: 'image_edit', source: byData, image_ref: [{ url: a }] }],
  ], () => ({ model: 'uni-1', prompt: 'a red cube' })); // prettier-ignore

  const many = (count: number) => Array.from({ length: count }, () => link);
  images.checks([
    ['nine references', { images: many(9) }, undefined],
    ['ten references', { images: many(10) }, 'image'],
    ['a mask', { operation: 'edit', images: [link], mask: link }, 'mask'],
    ['two images', { n: 2 }, 'n'],
    ['fewer pixels', { size: '1024x1024' }, 'size'],
    ['JPEG', { extra: { output_format: 'jpeg', style: 'auto' } }, undefined],
    ['another format', { extra: { output_format: 'webp' } }, 'output_format'],
    ['another style', { extra: { style: 'film' } }, 'style'],
  ]);
});

describe('a job', () => {
  it('that is completed has a link with its end', async () => {
    const { output } = fixture('luma/completed') as { output: [{ url: string }] };
    const items = [{ url: output[0].url, expiresAt: Date.UTC(2026, 10, 21, 11) / 1000 }];
    const answer = { json: fixture('luma/completed') };
    const { status, sent } = await videos.polled(answer);
    expect(status).toEqual({ state: 'succeeded', items, facts: {} });
    expect(await images.statusOf(answer, { id })).toEqual({
      state: 'succeeded',
      items,
      facts: { images: 1 },
    });
    expect(sent[0]).toMatchObject({ method: 'GET', url: `${root}/generations/${id}` });
  });

  videos.reads([
    ['queued', { json: fixture('luma/created') }, { state: 'pending', phase: 'submitted' }],
    ['processing', { json: { id, state: 'processing' } }, { state: 'pending', phase: 'running' }],
    ['a word that is not known', { json: { id, state: 'dreaming' } }, { state: 'pending', phase: 'running' }],
    ['failed', { json: fixture('luma/failed') },
      { state: 'failed', code: 'content_moderated', message: 'The prompt violated our content guidelines.', failure: { class: 'moderation_input' } }],
    ['failed without a reason', { json: { id, state: 'failed', failure_code: null } },
      { state: 'failed', code: 'failed', message: 'The upstream gave no reason.', failure: { class: 'internal' } }],
  ]); // prettier-ignore

  videos.readsNoState([
    ['an unknown id', { status: 404, json: { detail: 'Generation not found' } }, true, 'unknown_job'],
    ['no file', { json: { id, state: 'completed', output: [null] } }, false, 'unreadable_answer'],
    ['no list of files', { json: { id, state: 'completed', output: null } }, false, 'unreadable_answer'],
    ['trouble', { status: 500, json: { detail: 'x' } }, false, 'http_500'],
  ]);
});

describe('a refused create', () => {
  videos.isRefused([
    ['a field', { status: 422, json: fixture('luma/refused') }, 'rejected', 'invalid_input'],
    ['no id', { status: 201, json: { state: 'queued' } }, 'ambiguous', 'internal'],
  ]);
});

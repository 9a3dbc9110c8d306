import { describe, expect, it } from 'vitest';
import { providers } from '../../src/providers/index.ts';
import { videoIssue, videoRequest } from './support.ts';

/** `video_task` has the same meaning for every vendor. vendor-matrix.test.ts tests the other common parameters. */

const words = ['reference', 'edit', 'extend', 'upscale', 'reframe'];

describe('video_task', () => {
  it.each<[provider: string, model: string, taken: string[]]>([
    ['ark', 'seedance-2-0', ['reference']],
    ['ark', 'seedance-2-5', ['reference', 'edit', 'extend']],
    ['bfl', 'flux-3-video', ['extend']],
    ['dashscope', 'wan3.0-video', ['reference']],
    ['dashscope', 'wan2.7-r2v', ['reference']],
    ['dashscope', 'a-model-of-tomorrow', ['reference']],
    ['google', 'gemini-omni-flash', ['edit', 'extend', 'upscale']],
    ['google', 'veo-3.1-generate-preview', ['extend']],
    ['kling', 'kling-3.0-omni', ['reference', 'edit']],
    ['kling', 'kling-v3-omni', ['reference', 'edit']],
    ['luma', 'ray-3.2', ['edit', 'reframe']],
    ['minimax', 'MiniMax-H3', ['reference']],
    ['openrouter', 'bytedance/seedance-2.0', ['reference']],
    ['runway', 'aleph2', ['edit']],
    ['runway', 'seedance2', ['reference', 'edit']],
    ['runway', 'seedance2_5', ['reference', 'edit', 'extend']],
    ['runway', 'a_model_of_tomorrow', ['reference']],
    ['xai', 'grok-imagine-video', ['edit', 'extend']],
    ['xai', 'grok-imagine-video-1.5', ['edit']],
  ])('of %s, %s is one of %j', (provider, model, taken) => {
    const video = providers[provider]?.video;
    const clip = ['https://ex.com/a.mp4'];
    const asked = (word: string) =>
      videoRequest({
        videos: clip,
        ...(word === 'reframe' ? { ratio: '16:9' } : {}),
        extra: { video_task: word },
      });
    expect(words.filter((word) => videoIssue(video, asked(word), model) === undefined)).toEqual(taken);
    for (const word of words)
      expect([word, videoIssue(video, asked(word), model)?.param ?? 'metadata.video_task']).toEqual([
        word,
        'metadata.video_task',
      ]);
  });
});

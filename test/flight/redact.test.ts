import { describe, expect, it } from 'vitest';
import { redactJson, redactRequest, redactText, redactUrl, textsOf } from '../../src/flight/redact.ts';
import { imageRequest, videoRequest } from '../providers/support.ts';

const prompt = 'A red fox, "running" over the frozen lake\nat dawn';
const hidden = { secrets: ['ark-secret-4711'], texts: [prompt, 'https://me.example/in.png?sig=abc'] };

describe('the recorded part of a response', () => {
  it('keeps ids, numbers, states, and links without their queries', () => {
    const answer = {
      id: 'cgt-20261122-abcde',
      status: 'succeeded',
      usage: { total_tokens: 108_900 },
      content: { video_url: 'https://u:p@cdn.example/out/a.mp4?X-Signature=deadbeef&Expires=1#t' },
      marker: 'mediary-abcdefghijklmnopqrstuvwx-1',
      draft: false,
      error: null,
    };
    expect(redactJson(answer, hidden)).toEqual({
      ...answer,
      content: { video_url: 'https://cdn.example/out/a.mp4' },
    });
  });

  it.each([
    ['as it is', prompt],
    ['in another text', `Your prompt ${prompt} was refused`],
    ['escaped', `{\\"prompt\\":\\"${JSON.stringify(prompt).slice(1, -1)}\\"}`],
    ['in capitals, without marks', 'A RED FOX RUNNING OVER THE FROZEN LAKE AT DAWN'],
    ['in part', 'The words "running over the frozen lake" are not allowed.'],
    ['as unicode escapes', '\\u0041 red fox, running over the frozen \\u006cake'],
  ])('a prompt that is repeated %s is removed', (_, text) => {
    const kept = JSON.stringify(redactJson({ error: { message: text }, [text]: 1 }, hidden));
    expect(kept).toBe('{"error":{"message":"[caller]"},"[name]":1}');
  });

  it('our callback address loses its token wherever it is repeated', () => {
    const address = `https://us.example/callbacks/upstream/task_1/${'a1'.repeat(16)}`;
    expect(redactJson({ webhook: `${address}?marker=1` }, hidden)).toEqual({
      webhook: 'https://us.example/callbacks/upstream/task_1/[key]',
    });
  });

  it('control characters are shown in place, so that a replay still sees them', () => {
    const answer = { id: 'job\u001B[2J', ['na\u202Eme']: 1, message: 'It\u009B failed' };
    expect(redactJson(answer, hidden)).toEqual({
      id: 'job\\u001b[2J',
      'na\\u202eme': 1,
      message: 'It failed',
    });
  });

  it('a prompt of one word is removed if it occurs as a whole word or as a value', () => {
    const short = { secrets: [], texts: ['seahorse', 'cat'] };
    expect(
      redactJson({ message: 'the cat is forbidden', echo: 'cat', category: 'concatenated' }, short),
    ).toEqual({
      message: '[caller]',
      echo: '[caller]',
      category: 'concatenated',
    });
  });

  it('keeps a sentence only if it explains a failure, and none while the prompt is unknown', () => {
    const answer = { message: 'The server is busy.', summary: 'a dog on the moon', revised_prompt: 'dog' };
    expect(redactJson(answer, hidden)).toEqual({
      message: 'The server is busy.',
      summary: '[text]',
      revised_prompt: '[text]',
    });
    expect(redactJson(answer, { secrets: [] })).toMatchObject({ message: '[text]' });
  });

  it('keys, encoded bytes and long texts are removed', () => {
    const answer = {
      auth: 'Bearer ark-secret-4711',
      other: 'sk-0123456789abcdef',
      b64: 'QUJD'.repeat(100),
      data: 'data:image/png;base64,QUJD',
      long: 'x'.repeat(161),
      blob: new Map([['a', 1]]),
    };
    expect(Object.values(redactJson(answer, hidden) ?? {})).toEqual([
      '[key]', '[key]', '[data]', '[data]', '[text]', '[data]',
    ]); // prettier-ignore
    expect(redactUrl('https://host.example/callbacks/ark-secret-4711', hidden)).toBe('[key]');
    expect(redactText('<html>Bad Gateway</html> at 10.1.2.3', hidden)).toBe(
      '<html>Bad Gateway</html> at [host]',
    );
  });

  it.each([
    ['the key itself', 'ark-secret-4711'],
    ['a text around the key', 'denied:ark-secret-4711'],
    ['a key that we do not know', 'sk-0123456789abcdef'],
    ['a token', 'eyJhbGciOi.eyJzdWIiOi.SflKxwRJ'],
  ])('%s is removed if an upstream uses it as the name of a field', (_, name) => {
    expect(redactJson({ [name]: { [name]: 1 } }, hidden)).toEqual({ '[name]': { '[name]': 1 } });
  });

  it.each(['video_url', 'x-request-id', 'usage.completion_tokens', '1080p', 'last_frame'])(
    'the name %s is kept',
    (name) => expect(redactJson({ [name]: 1 }, hidden)).toEqual({ [name]: 1 }),
  );

  it('a deep or wide response is cut', () => {
    let deep: unknown = 'end';
    for (let n = 0; n < 100; n += 1) deep = { deep };
    const kept = JSON.stringify(
      redactJson({ deep, wide: Array.from({ length: 5000 }, (_, n) => n) }, hidden),
    );
    expect(kept.length).toBeLessThan(400);
  });
});

describe('a request for the record', () => {
  it('has placeholders that an adapter treats like the originals', () => {
    const request = videoRequest({
      prompt,
      firstFrame: 'https://me.example/in.png?sig=abc',
      references: ['https://me.example/in.png?sig=abc', 'data:image/webp;base64,QUJDRA=='],
      duration: 5,
      resolution: '720p',
      extra: { style: 'cinematic', note: 'for my wife Anna', hook: 'https://me.example/hook' },
    });
    const kept = redactRequest(request);
    expect(kept).toMatchObject({
      firstFrame: 'https://media.invalid/0.png',
      references: ['https://media.invalid/0.png', 'data:image/webp;base64,AAAA'],
      duration: 5,
      resolution: '720p',
      extra: { style: 'cinematic', note: '[caller][caller]', hook: '[caller][caller][caller' },
    });
    expect(kept.prompt).toHaveLength(prompt.length);
    const text = JSON.stringify(kept);
    for (const own of textsOf(request)) expect(text).not.toContain(own);
  });

  it('of images contains no bytes', () => {
    const request = imageRequest({
      images: [{ form: 'data', mediaType: 'image/png', base64: 'QUJDREVG' }],
      mask: { form: 'url', url: 'https://me.example/mask.png' },
    });
    expect(textsOf(request)).toEqual([request.prompt, 'QUJDREVG', 'https://me.example/mask.png']);
    expect(redactRequest(request)).toMatchObject({
      images: [{ form: 'url', url: 'https://media.invalid/0' }],
      mask: { form: 'url', url: 'https://media.invalid/99' },
    });
  });
});

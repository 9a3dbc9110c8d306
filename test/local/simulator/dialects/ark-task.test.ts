import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMp4 } from '../media/mp4-reader.ts';
import { readPng } from '../media/png-reader.ts';
import { arkCaller, image, seedance2, startHarness, text } from '../support.ts';
import type { ArkCaller, Harness, Json } from '../support.ts';

let harness: Harness;
let ark: ArkCaller;
beforeAll(async () => {
  harness = await startHarness({ renderSeconds: 8 });
  ark = arkCaller(harness);
});
afterAll(() => harness.close());

const pro1 = 'doubao-seedance-1-0-pro-250528';
const pro15 = 'doubao-seedance-1-5-pro-251215';

async function finished(body: Record<string, unknown>): Promise<Json> {
  const id = await ark.created(body);
  harness.control.advance(10);
  return (await ark.get(id)).body;
}

describe('the life of a task', () => {
  it('has no content, usage, error or percentage before it ends', async () => {
    const id = await ark.created();
    harness.control.advance(2);
    const { body } = await ark.get(id);
    expect(Object.keys(body).toSorted()).toEqual(
      [
        'id',
        'model',
        'status',
        'created_at',
        'updated_at',
        'service_tier',
        'execution_expires_after',
        'generate_audio',
        'draft',
        'priority',
      ].toSorted(),
    );
  });

  it('ends with every published field', async () => {
    const body = await finished({
      seed: 11,
      return_last_frame: true,
      duration: 5,
      resolution: '720p',
      ratio: '16:9',
    });
    expect(body).toEqual({
      id: expect.stringMatching(/^cgt-/),
      model: seedance2,
      status: 'succeeded',
      error: null,
      content: {
        video_url: expect.stringContaining('.mp4?'),
        last_frame_url: expect.stringContaining('.png?'),
      },
      usage: { completion_tokens: 108_900, total_tokens: 108_900 },
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      seed: 11,
      resolution: '720p',
      ratio: '16:9',
      duration: 5,
      framespersecond: 24,
      service_tier: 'default',
      execution_expires_after: 172_800,
      generate_audio: true,
      draft: false,
      priority: 0,
    });
  });

  it('gives the last frame only when it was asked for', async () => {
    expect((await finished({})).content).not.toHaveProperty('last_frame_url');
  });

  it('expires after execution_expires_after', async () => {
    const id = await ark.created({ execution_expires_after: 3600, content: text('[sim:never-finishes]') });
    harness.control.advance(3599);
    expect((await ark.get(id)).body.status).toBe('running');
    harness.control.advance(2);
    const { body } = await ark.get(id);
    expect(body).toMatchObject({ status: 'expired', execution_expires_after: 3600 });
    expect(body.updated_at - body.created_at).toBe(3600);
  });
});

describe('tokens', () => {
  it.each([
    [{ model: pro15, resolution: '480p', ratio: '16:9', duration: 5 }, 50_638],
    [{ model: pro15, resolution: '480p', ratio: '16:9', duration: 10 }, 100_858],
    [{ model: pro15, resolution: '480p', ratio: '1:1', duration: 5 }, 48_400],
    [{ resolution: '720p', ratio: '16:9', duration: 5 }, 108_900],
    [{ model: pro1, resolution: '1080p', ratio: '16:9', duration: 5 }, 246_840],
    [{ model: pro1, resolution: '480p', ratio: '16:9', frames: 29 }, Math.floor((864 * 480 * 29) / 1024)],
  ])('are those observed for %j', async (body, tokens) => {
    expect((await finished(body)).usage).toEqual({ completion_tokens: tokens, total_tokens: tokens });
  });

  it('count the input video: five seconds when unknown, the known length of an own video, or as reported', async () => {
    const reference = (url: string, prompt = 'a') => ({
      duration: 5,
      ratio: '16:9',
      content: [...text(prompt), { type: 'video_url', video_url: { url }, role: 'reference_video' }],
    });
    expect((await finished(reference('https://v.example/a.mp4'))).usage.total_tokens).toBe(216_900);
    const own = await finished({ duration: 10, ratio: '16:9' });
    const ten = Math.floor((1280 * 720 * (24 * 5 + 1 + 24 * 10)) / 1024);
    expect((await finished(reference(own.content.video_url))).usage.total_tokens).toBe(ten);
    expect(
      (await finished(reference('https://v.example/a.mp4', '[sim:input-seconds=10]'))).usage.total_tokens,
    ).toBe(ten);
  });
});

describe('what the model chooses', () => {
  it.each([
    [{ model: seedance2 }, { resolution: '720p', ratio: '16:9', duration: 5 }],
    [{ model: pro1 }, { resolution: '1080p', ratio: '16:9', duration: 5 }],
    [{ model: seedance2, ratio: 'adaptive', content: text('[sim:ratio=9:16]') }, { ratio: '9:16' }],
    [{ model: pro1, content: [...text('a [sim:ratio=3:4]'), image()] }, { ratio: '3:4' }],
    [{ model: seedance2, duration: -1, content: text('[sim:duration=12]') }, { duration: 12 }],
  ])('is concrete for %j', async (body, expected) => {
    expect(await finished(body)).toMatchObject(expected);
  });

  it('draws a seed, and a duration', async () => {
    const body = await finished({ seed: -1, duration: -1 });
    expect(body.seed).toBeGreaterThanOrEqual(0);
    expect(body.duration).toBeGreaterThan(0);
  });

  it('shows frames in place of a duration where frames were asked for', async () => {
    const body = await finished({ model: pro1, frames: 57 });
    expect(body.frames).toBe(57);
    expect(body).not.toHaveProperty('duration');
  });
});

describe('result links', () => {
  it('serve a video of the shape asked for, and its last frame', async () => {
    const { content } = await finished({ return_last_frame: true, ratio: '3:4', duration: 6 });
    const video = await fetch(content.video_url);
    expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    const file = readMp4(Buffer.from(await video.arrayBuffer()));
    expect(file).toMatchObject({ width: 480, height: 640, movieSeconds: 5 });
    const frame = await fetch(content.last_frame_url);
    expect(frame.headers.get('content-type')).toBe('image/png');
    expect(readPng(Buffer.from(await frame.arrayBuffer()))).toMatchObject({ width: 834, height: 1112 });
  });

  it('serve ranges', async () => {
    const { content } = await finished({});
    const whole = Buffer.from(await (await fetch(content.video_url)).arrayBuffer());
    const ranges: readonly (readonly [range: string, from: number, to: number])[] = [
      ['bytes=0-99', 0, 100],
      ['bytes=100-', 100, whole.length],
      ['bytes=-50', whole.length - 50, whole.length],
      [`bytes=10-${whole.length + 9}`, 10, whole.length],
    ];
    for (const [range, from, to] of ranges) {
      const part = await fetch(content.video_url, { headers: { range } });
      expect(part.status).toBe(206);
      expect(part.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/${whole.length}`);
      expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(from, to));
    }
    expect((await fetch(content.video_url, { headers: { range: `bytes=${whole.length}-` } })).status).toBe(
      416,
    );
  });

  it('are for GET only, need no key, and bear no change', async () => {
    const { content } = await finished({});
    expect((await fetch(content.video_url, { method: 'HEAD' })).status).toBe(403);
    expect((await fetch(content.video_url.replace('1280x720', '640x640'))).status).toBe(403);
    expect((await fetch(content.video_url.replace('Expires=86400', 'Expires=864000'))).status).toBe(403);
    expect((await fetch(content.video_url.split('?')[0])).status).toBe(403);
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { arkCaller, factsOfFile, startHarness, type Json } from './support.ts';

const harness = await startHarness({ renderSeconds: 8 });
const ark = arkCaller(harness);
afterAll(() => harness.close());

async function finished(body: Record<string, unknown>): Promise<Json> {
  const id = await ark.created(body);
  harness.control.advance(10);
  return (await ark.get(id)).body;
}

describe('result links', () => {
  it('serve a video of the shape asked for, and its last frame', async () => {
    const { content } = await finished({ return_last_frame: true, ratio: '3:4', duration: 6 });
    const video = await fetch(content.video_url);
    expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    const shape = { width: 834, height: 1112 };
    const file = Buffer.from(await video.arrayBuffer());
    expect(await factsOfFile(file)).toMatchObject({ ...shape, seconds: expect.closeTo(6, 1) });
    const frame = await fetch(content.last_frame_url);
    expect(frame.headers.get('content-type')).toBe('image/png');
    expect(await factsOfFile(Buffer.from(await frame.arrayBuffer()))).toMatchObject(shape);
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

  it('work only with GET, without a key, and unchanged', async () => {
    const { content } = await finished({});
    expect((await fetch(content.video_url, { method: 'HEAD' })).status).toBe(403);
    expect((await fetch(content.video_url.replace('1280x720', '640x640'))).status).toBe(403);
    expect((await fetch(content.video_url.replace('Expires=86400', 'Expires=864000'))).status).toBe(403);
    expect((await fetch(content.video_url.split('?')[0])).status).toBe(403);
  });
});

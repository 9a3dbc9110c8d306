import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { choosePort } from '../../src/local/servers/ports.ts';
import Replicate from 'replicate';
import { readClip } from '../../workshop/simulator/media/clips.ts';
import { png, sendImages, sendJson, startImageUpstream, type ImageUpstream } from '../images/support.ts';
import { postForm, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { startS3 } from './support.ts';

describe('results in S3-compatible storage', () => {
  let s3: Awaited<ReturnType<typeof startS3>>;
  let gateway: TestGateway;
  beforeAll(async () => {
    s3 = await startS3();
    const results = JSON.stringify({ storage: 's3', s3: s3.settings });
    const port = await choosePort('any', 'the test gateway');
    gateway = await startGateway({
      yaml: testYaml.replace('currency: USD\n', `currency: USD\nresults: ${results}\n`),
      environment: { PORT: String(port) },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await s3.close();
  });

  it('are served by the gateway, in ranges too, and use the upstream’s link while the storage is down', async () => {
    const account = await gateway.account();
    const create = async () => account.finished((await account.create()).body.id);
    const { video_url: url } = await create();
    expect(url).toContain(`${gateway.url}/media/task_`);
    const whole = await fetch(url);
    expect(whole.headers.get('content-type')).toBe('video/mp4');
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    const part = await fetch(url, { headers: { range: 'bytes=100-199' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100, 200))).toBe(true);

    await s3.close();
    const without = await create();
    expect(without['status']).toBe('succeeded');
    expect(without['video_url']).toContain(gateway.environment['SIMULATOR_URL']);
    expect(await gateway.core.stores.resultCopies.find(without['id'])).toMatchObject({ state: 'retry' });
    s3 = await startS3();
  });
});

describe('with presigned links', () => {
  let s3: Awaited<ReturnType<typeof startS3>>;
  let upstream: ImageUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    [s3, upstream] = await Promise.all([startS3(), startImageUpstream()]);
    const port = await choosePort('any', 'the test gateway');
    gateway = await startGateway({
      yaml: presignedYaml
        .replace('S3', JSON.stringify({ ...s3.settings, links: 'presigned' }))
        .replace('UPSTREAM', upstream.url),
      environment: { PORT: String(port) },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
    await s3.close();
  });

  const unfollowed = (url: string, init: RequestInit = {}) => fetch(url, { ...init, redirect: 'manual' });
  const finish = async () => {
    const account = await gateway.account();
    const task = await account.finished((await account.create({ model: 'wan' })).body.id);
    return { account, id: task['id'], url: String(task['video_url']) };
  };
  const store = async ({ key }: TestAccount, file: File): Promise<string> => {
    const form = new FormData();
    form.append('file', file);
    return (await postForm(gateway.url, '/v1/files', { key, form })).body.id;
  };

  it('a link keeps its URL, and redirects to the storage, in ranges and for HEAD too', async () => {
    const { url } = await finish();
    expect(url).toContain(`${gateway.url}/media/task_`);
    const answer = await unfollowed(url);
    const location = new URL(answer.headers.get('location') ?? '');
    expect([answer.status, location.origin]).toEqual([302, s3.settings.endpoint]);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(location.searchParams.get('X-Amz-Expires')).toBe('3600');
    const whole = await fetch(url);
    expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    const part = await fetch(url, { headers: { range: 'bytes=100-199' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100, 200))).toBe(true);
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.url.startsWith(location.origin)]).toEqual([200, true]);
    expect(head.headers.get('content-length')).toBe(String(bytes.length));
    const etag = whole.headers.get('etag') ?? '';
    expect((await unfollowed(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  it('the storage serves nobody without a link, and not for longer than the link is valid', async () => {
    const { url } = await finish();
    const changed = url.replace(/sig=./, (sig) => (sig === 'sig=A' ? 'sig=B' : 'sig=A'));
    expect((await unfollowed(changed)).status).toBe(404);
    const expires = Number(new URL(url).searchParams.get('expires'));
    const before = gateway.clock.aheadMs;
    gateway.clock.aheadMs = expires * 1_000 - Date.now() - 600_000;
    const late = await unfollowed(url);
    gateway.clock.aheadMs = before;
    const seconds = new URL(late.headers.get('location') ?? '').searchParams.get('X-Amz-Expires');
    expect(Number(seconds)).toBeLessThanOrEqual(601);
  });

  it('with a key, too: the content of a video and of a file', async () => {
    const { account, id } = await finish();
    const headers = { authorization: `Bearer ${account.key}` };
    const file = await store(account, boat());
    for (const path of [`/v1/videos/${id}/content`, `/v1/files/${file}/content`]) {
      const answer = await unfollowed(`${gateway.url}${path}`, { headers });
      expect([answer.status, answer.headers.get('location')]).toEqual([
        302,
        expect.stringContaining('X-Amz-Signature='),
      ]);
      const bytes = Buffer.from(await (await fetch(`${gateway.url}${path}`, { headers })).arrayBuffer());
      expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    }
  });

  describe('an upstream that does not follow redirects can read', () => {
    const found = (mediaType: string) => ({ status: 200, mediaType, isEmpty: false });
    const foundAt = (sent: unknown) =>
      Promise.all(
        (JSON.stringify(sent).match(/http[^"]+\/media\/[^"]+/g) ?? []).map(async (link) => {
          const answer = await unfollowed(link);
          const isEmpty = (await answer.arrayBuffer()).byteLength === 0;
          return { status: answer.status, mediaType: answer.headers.get('content-type'), isEmpty };
        }),
      );

    it('an earlier video, although it accepts uploads', async () => {
      const { account, url } = await finish();
      const prompt = 'the boat sinks';
      const next = await account.create({ model: 'wan', prompt, videos: [url] });
      expect(await account.finished(next.body.id)).toMatchObject({ status: 'succeeded' });
      const vendor = new Replicate({ auth: 'simulated', baseUrl: `${gateway.simulatorUrl}/replicate/v1` });
      const { results } = await vendor.predictions.list();
      const sent = results.find(({ input }) => JSON.stringify(input).includes(prompt));
      expect(await foundAt(sent?.input)).toEqual([found('video/mp4')]);
    });

    it('an earlier video and a file, for another video', async () => {
      const { account, url } = await finish();
      const file = await store(account, boat());
      const error = { code: 'InternalServiceError', message: 'not today' };
      upstream.answer = (_, response) => sendJson(response, 200, { id: 'cgt-1', status: 'failed', error });
      upstream.calls.length = 0;
      const next = await account.create({ model: 'seedance', videos: [url, `asset://${file}`] });
      expect(await account.finished(next.body.id)).toMatchObject({ status: 'failed' });
      expect(await foundAt(upstream.calls[0]?.json)).toEqual([found('video/mp4'), found('video/mp4')]);
    });

    it.each([{}, { async: true }])('an earlier image and a file, for an image of %j', async (more) => {
      const account = await gateway.account();
      const file = await store(account, new File([Uint8Array.from(png(3, 2))], 'cube.png'));
      upstream.answer = sendImages;
      const ask = (path: string, body: object) =>
        account.call('POST', `/v1/images/${path}`, {
          body: { model: 'seedream', prompt: 'a cube', ...body },
        });
      const { url } = (await ask('generations', { response_format: 'url' })).body.data[0];
      expect((await unfollowed(url)).status).toBe(302);
      upstream.calls.length = 0;
      const edit = await ask('edits', { image: [url, `asset://${file}`], ...more });
      expect([edit.status, edit.body.error]).toEqual([200, undefined]);
      await vi.waitFor(() => expect(upstream.calls).toHaveLength(1), { timeout: 180_000 });
      expect(await foundAt(upstream.calls[0]?.json)).toEqual([found('image/png'), found('image/png')]);
    });
  });
});

const boat = () => new File([readClip('16x9')], 'boat.mp4');

const presignedYaml = `
currency: USD
results: { storage: s3, s3: S3 }
channels:
  - id: replicate
    provider: replicate
    base_url: \${SIMULATOR_URL}/replicate/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 100, polls_per_second: 100 }
    models:
      wan:
        upstream: bytedance/seedance-2.0
        mapping:
          fields: { prompt: prompt, duration: duration, resolution: resolution, ratio: aspect_ratio, videos: reference_videos }
          result: output
  - id: ark
    provider: ark
    base_url: UPSTREAM
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 100, polls_per_second: 100 }
    models:
      seedance: { upstream: dreamina-seedance-2-0-260128 }
      seedream: { upstream: doubao-seedream-4-0-250828 }
models:
  - { id: seedance, kind: video, expected_seconds: 1, input_types: [text_to_video, reference], durations: { min: 4, max: 10 }, resolutions: [720p], ratios: ["16:9"], inputs: { videos: { max: 3 } }, price: { lines: [{ measure: call, price: "0.1" }] } }
  - { id: seedream, kind: image, inputs: { images: { max: 14 } }, price: { lines: [{ measure: image, price: "0.02" }] } }
  - { id: wan, kind: video, expected_seconds: 1, input_types: [text_to_video, reference], durations: { min: 1, max: 10 }, resolutions: [720p], ratios: ["16:9"], inputs: { videos: { max: 3 } }, price: { lines: [{ measure: call, price: "0.1" }] } }
`;

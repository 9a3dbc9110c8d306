import { createHmac } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startHarness, startReceiver, testKey } from '../support.ts';
import type { Answer, Harness, Json } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8 });
beforeEach(() => {
  harness.control.reset();
  harness.control.setRenderSeconds(8);
});
afterAll(() => harness.close());

const key = { 'x-key': testKey };
const post = (model: string, body: unknown, headers: Record<string, string> = key): Promise<Answer> =>
  harness.call('POST', `/bfl/v1/${model}`, body, headers);
const ask = (url: string): Promise<Answer> =>
  harness.call('GET', url.replace(harness.url, ''), undefined, key);
const home = (id: string): Promise<Answer> => ask(`/bfl/v1/get_result?id=${id}`);

const url = 'https://i.example/a.png';
const bare = Buffer.from('picture').toString('base64');
const t2v = { mode: 't2v', prompt: 'a cat' };
const i2v = { mode: 'i2v', prompt: 'a cat', keyframes: [url] };
const v2v = { mode: 'v2v', prompt: 'a cat', start_video: 'https://i.example/a.mp4' };

async function accepted(model: string, body: unknown): Promise<Json> {
  const answer = await post(model, body);
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
  return answer.body;
}
async function ended(model: string, body: unknown): Promise<Json> {
  const created = await accepted(model, body);
  harness.control.advance(9);
  return (await ask(created.polling_url)).body;
}

describe('a job', () => {
  it('is created with an address to poll and a price', async () => {
    const body = await accepted('flux-2-pro', { prompt: 'a cat', width: 1024, height: 1024 });
    expect(body).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      polling_url: `${harness.url}/bfl/us1/v1/get_result?id=${body.id}`,
      cost: 3,
      input_mp: 0,
      output_mp: 1,
    });
  });

  it('is asked for in its region, and where it was submitted nobody knows it', async () => {
    const { id } = await accepted('flux-2-pro', { prompt: 'a cat' });
    expect(await home(id)).toMatchObject({ status: 200, body: { id, status: 'Task not found' } });
    const unknown = await ask('/bfl/us1/v1/get_result?id=x');
    expect(unknown).toMatchObject({ status: 200, body: { id: 'x', status: 'Task not found' } });
    expect((await ask('/bfl/us1/v1/get_result')).status).toBe(422);
  });

  it('may be unknown for a moment after its create', async () => {
    const { polling_url: address } = await accepted('flux-2-pro', {
      prompt: 'a cat [sim:poll:sdk-shape*1]',
    });
    expect((await ask(address)).body.status).toBe('Task not found');
    expect((await ask(address)).body.status).toBe('Pending');
  });
});

describe('the price', () => {
  it.each([
    ['flux-2-pro', { prompt: 'x', width: 2048, height: 1024 }, 4.5],
    ['flux-2-pro', { prompt: 'x', width: 1024, height: 1024, input_image: url, input_image_2: bare }, 6],
    ['flux-3-image', { prompt: 'x' }, 3],
    ['flux-3-video', { ...t2v, duration: 5, resolution: 'fhd' }, 145],
    ['flux-3-video', { ...i2v, duration: 10 }, 170],
    ['flux-3-video', { ...v2v, duration: 5 }, 205],
  ])('of %s %j is %d credits, reported twice', async (model, body, cost) => {
    const created = await accepted(model, body);
    expect(created.cost).toBe(cost);
    harness.control.advance(9);
    expect((await ask(created.polling_url)).body.cost).toBe(cost);
  });

  it.each([
    ['flux-2-pro', { prompt: 'x', input_image: url }, 4.5],
    ['flux-3-image', { prompt: 'x', images: [url] }, 3],
    ['flux-3-video', t2v, 136],
    ['flux-3-video', { ...t2v, prompt: 'x [sim:duration=12]' }, 204],
  ])('of %s %j is not known at the create', async (model, body, cost) => {
    const created = await accepted(model, body);
    expect(created.cost).toBeNull();
    harness.control.advance(9);
    expect((await ask(created.polling_url)).body.cost).toBe(cost);
  });
});

describe('the end', () => {
  it.each([
    ['failed', 'Error', { error: expect.any(String) }],
    ['moderation', 'Request Moderated', { 'Moderation Reasons': ['Protected Content'] }],
    ['item-moderation', 'Request Moderated', { 'Moderation Reasons': ['Protected Content'] }],
    ['moderation-in-task', 'Content Moderated', { 'Moderation Reasons': ['Protected Content'] }],
  ])('of %s is %s', async (fault, status, details) => {
    const body = await ended('flux-2-pro', { prompt: `a cat [sim:${fault}]` });
    expect(body).toMatchObject({ status, details, result: null });
    expect(body).not.toHaveProperty('cost');
  });

  it('of an input that does not pass comes before anything is rendered', async () => {
    const { polling_url: address } = await accepted('flux-2-pro', { prompt: 'a cat [sim:item-moderation]' });
    expect((await ask(address)).body.status).toBe('Pending');
    harness.control.advance(2);
    expect((await ask(address)).body.status).toBe('Request Moderated');
  });

  it('has its other shape: the word in `state`, details in text, the id left out of the address', async () => {
    const created = await accepted('flux-2-pro', { prompt: 'a cat [sim:docs-shape]' });
    expect(created.polling_url).toBe(`${harness.url}/bfl/us1/v1/get_result`);
    harness.control.advance(9);
    const { body } = await ask(`${created.polling_url}?id=${created.id}`);
    expect(body).toMatchObject({ state: 'Ready', result: { sample: expect.any(String) } });
    expect(body).not.toHaveProperty('status');
    expect(body).not.toHaveProperty('cost');
    const failed = await accepted('flux-2-pro', { prompt: 'a cat [sim:docs-shape] [sim:failed]' });
    harness.control.advance(9);
    expect((await ask(`${failed.polling_url}?id=${failed.id}`)).body).toMatchObject({
      state: 'Failed',
      details: 'An internal error occurred.',
    });
  });
});

it.each([
  ['flux-2-pro', { prompt: 'x', width: 0, height: 0, input_image: url, input_image_8: url, unknown: 1 }],
  ['flux-kontext-pro', { prompt: 'x', aspect_ratio: '3:4' }],
  ['flux-pro-1.0-fill', { prompt: 'x', image: bare, mask: bare }],
  ['flux-3-image', { prompt: 'x', aspect_ratio: '7:5', grounding: false, safety_tolerance: 4 }],
  ['flux-3-video', { ...t2v, mode: 'text-to-video', generate_audio: false, user: 'u', version: 'latest' }],
  ['flux-3-video', { ...i2v, keyframes: [[0, url], [2.5, bare], [5, url]] }],
])('%s takes %j', async (model, body) => {
  expect(await accepted(model, body)).toMatchObject({ polling_url: expect.any(String) });
  expect(harness.control.tasks()).toHaveLength(1);
}); // prettier-ignore

describe('what is refused', () => {
  it.each([
    ['an empty body', 'flux-2-pro', {}, 'prompt', 'missing'],
    ['a data URL', 'flux-2-pro', { prompt: 'x', input_image: 'data:image/png;base64,QUJD' }, 'input_image', 'value_error'],
    ['WebP', 'flux-2-pro', { prompt: 'x', output_format: 'webp' }, 'output_format', 'value_error'],
    ['a seed of FLUX 3', 'flux-3-image', { prompt: 'x', seed: 1 }, 'seed', 'extra_forbidden'],
    ['an unknown resolution', 'flux-3-image', { prompt: 'x', resolution: '8k' }, 'resolution', 'value_error'],
    ['no mode', 'flux-3-video', { prompt: 'x' }, 'mode', 'missing'],
    ['an unknown mode', 'flux-3-video', { ...t2v, mode: 'r2v' }, 'mode', 'value_error'],
    ['5.5 s', 'flux-3-video', { ...t2v, duration: 5.5 }, 'duration', 'value_error'],
  ])('%s', async (_, model, body, ...[field, type]) => {
    const answer = await post(model, body);
    expect(answer.status).toBe(422);
    const [mistake] = answer.body.detail;
    expect(mistake).toMatchObject({ type, msg: expect.any(String) });
    expect(mistake.loc.slice(0, 2)).toEqual(['body', field]);
    expect(harness.control.tasks()).toEqual([]);
  }); // prettier-ignore

  it('the twenty-fifth job in flight, until one ends', async () => {
    for (let index = 0; index < 24; index += 1) await accepted('flux-2-pro', { prompt: 'a cat' });
    expect(await post('flux-3-video', t2v)).toMatchObject({
      status: 429,
      body: { detail: expect.any(String) },
    });
    harness.control.advance(9);
    expect((await post('flux-3-video', t2v)).status).toBe(200);
  });
});

describe('a webhook', () => {
  const secret = 'callback-secret';

  it('takes the place of the address to poll, and says only how the job ended', async () => {
    const receiver = await startReceiver();
    try {
      const asked = { prompt: 'a cat', webhook_url: receiver.url, webhook_secret: secret };
      const created = await accepted('flux-2-pro', asked);
      expect(created).toEqual({
        id: expect.any(String),
        status: 'Pending',
        webhook_url: receiver.url,
        cost: 3,
      });
      expect((await home(created.id)).body.status).toBe('Pending');
      expect((await ask(`/bfl/us1/v1/get_result?id=${created.id}`)).body.status).toBe('Task not found');
      harness.control.advance(4);
      harness.control.advance(5);
      await receiver.waitFor(1);
      const failed = await accepted('flux-2-pro', { ...asked, prompt: 'a cat [sim:failed]' });
      harness.control.advance(9);
      await receiver.waitFor(2);
      const [ready, error] = receiver.received;
      expect(ready?.body).toMatchObject({
        id: created.id,
        status: 'Ready',
        result: { sample: expect.any(String) },
        timestamp: expect.any(String),
      });
      expect(error?.body).toMatchObject({ id: failed.id, status: 'Error', error: 'Error' });
      const signature = createHmac('sha256', secret).update(JSON.stringify(ready?.body)).digest('hex');
      expect(ready?.headers['x-bfl-signature']).toBe(`sha256=${signature}`);
    } finally {
      await receiver.close();
    }
  });
});

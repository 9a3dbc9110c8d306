import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pixel, png, sendJson } from '../images/support.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { createOnce, persevere, postForm, type Answer, type TestAccount } from '../support/client.ts';
import { answerAsDocumented, contractYaml, startSameInterface } from './same-interface.ts';
import type { SameInterface } from './same-interface.ts';

/** Tests sections 2.4, 2.5, 4.3 and 4.4 of the interface document: images from a prompt, and images from images. */

let upstream: SameInterface;
let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  upstream = await startSameInterface();
  gateway = await startGateway({ yaml: contractYaml(upstream.url) });
  account = await gateway.account();
});
beforeEach(() => {
  upstream.answer = answerAsDocumented;
  upstream.calls.length = 0;
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const generations = '/v1/images/generations';
const edits = '/v1/images/edits';
const data = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;
const base = { model: 'picture', prompt: 'a red cube' };

const send = (path: string, body: Record<string, unknown> = {}): Promise<Answer> =>
  createOnce(account.call, path, { ...base, ...body });

function sent(): Record<string, any> {
  expect(upstream.calls).toHaveLength(1);
  return upstream.calls[0]?.json ?? {};
}

async function sendForm(path: string, fields: Record<string, string>, files: Buffer[]): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...base, ...fields })) form.append(name, value);
  for (const file of files) form.append(files.length === 1 ? 'image' : 'image[]', new File([file], 'a.png'));
  const headers = { 'idempotency-key': randomUUID() };
  return persevere(() => postForm(gateway.url, path, { form, key: account.key, headers }));
}

describe('the fields of a request', () => {
  it.each([
    [generations, 'model'],
    [generations, 'prompt'],
    [edits, 'model'],
    [edits, 'prompt'],
    [edits, 'image'],
  ])('%s requires %s', async (path, field) => {
    const answer = await send(path, { image: data(pixel), [field]: undefined });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'missing_parameter', param: field });
    expect(upstream.calls).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['model and prompt', {}, { model: 'up-picture', prompt: 'a red cube' }],
    ['size', { size: '1024x1536' }, { size: '1024x1536' }],
    ['image as a string', { image: data(pixel) }, { image: data(pixel) }],
    [
      'image as an array',
      { image: [data(pixel), data(png(2, 2))] },
      { image: [data(pixel), data(png(2, 2))] },
    ],
    ['an image URL', { image: 'https://media.example/a.png' }, { image: 'https://media.example/a.png' }],
    ['n', { n: 3 }, { n: 3 }],
  ])('%s reaches the upstream', async (_name, body, expected) => {
    expect((await send(generations, body)).status).toBe(200);
    expect(sent()).toMatchObject(expected);
  });

  it('a size is <width>x<height>', async () => {
    expect((await send(generations, { size: 'wide' })).body.error.param).toBe('size');
  });

  it('n is honored: so many images come, and are paid', async () => {
    const payer = await gateway.account();
    const answer = await createOnce(payer.call, generations, { ...base, n: 4 });
    expect(answer.body.data).toHaveLength(4);
    expect(await payer.balance()).toMatchObject({ available: '99.840000' });
  });

  it('n is refused beyond what the model makes', async () => {
    expect((await send(generations, { n: 11 })).body.error).toMatchObject({
      code: 'unsupported_parameter',
      param: 'n',
    });
  });
});

describe('the forms of a reference image', () => {
  const url = 'https://media.example/a.png';
  it.each<[string, unknown]>([
    ['an image URL string', url],
    ['a data URL', data(pixel)],
    ['an array of both', [url, data(pixel)]],
  ])('%s is taken by both endpoints', async (_name, image) => {
    for (const path of [generations, edits]) {
      upstream.calls.length = 0;
      expect((await send(path, { image })).status).toBe(200);
      expect(sent()['image']).toEqual(image);
    }
  });

  it.each([1, 2])('a multipart upload of %i files is taken, and arrives as files', async (count) => {
    const files = [png(2, 2), png(3, 3)].slice(0, count);
    expect((await sendForm(edits, { size: '1024x1024' }, files)).status).toBe(200);
    const [call] = upstream.calls;
    expect(call?.headers['content-type']).toMatch(/^multipart\/form-data/);
    for (const file of files) expect(call?.body.includes(file)).toBe(true);
  });
});

describe('the synchronous answer', () => {
  it('created is a Unix timestamp', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { created } = (await send(generations)).body;
    expect(Number.isInteger(created)).toBe(true);
    expect(created).toBeGreaterThanOrEqual(before);
    expect(created).toBeLessThanOrEqual(Date.now() / 1000);
  });

  it('data[].b64_json is the image', async () => {
    const { body } = await send(generations, { model: 'gpt-image' });
    const [image] = body.data;
    expect(Buffer.from(image.b64_json, 'base64').subarray(1, 4).toString()).toBe('PNG');
  });

  it('data[].b64_json of an upstream that writes a data URL is still an image', async () => {
    upstream.answer = (_call, response) =>
      sendJson(response, 200, { created: 1, data: [{ b64_json: data(pixel) }] });
    const { body } = await send(generations);
    const base64 = String(body.data[0].b64_json).replace(/^data:image\/png;base64,/, '');
    expect(Buffer.from(base64, 'base64')).toEqual(pixel);
  });

  it('data[].url is a link to the image', async () => {
    const { body } = await send(generations, { model: 'seedream', size: '1K' });
    const image = await fetch(body.data[0].url);
    expect(image.headers.get('content-type')).toMatch(/^image\//);
  });

  it.each(['url', 'b64_json'])('response_format %s gives this form', async (format) => {
    const { status, body } = await send(generations, { model: 'dall-e', response_format: format });
    expect(status).toBe(200);
    expect(body.data).toEqual([expect.objectContaining({ [format]: expect.any(String) })]);
  });
});

describe('a model that answers with a task', () => {
  it('gives the fields of a created task, and its images when it is queried', async () => {
    const { status, body } = await send(generations, { model: 'wan-image', n: 2 });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^task_/),
      task_id: body.id,
      object: 'image.generation.task',
      status: 'submitted',
      message: expect.any(String),
    });
    let task: Record<string, any> = {};
    await expect
      .poll(async () => {
        ({ body: task } = await account.call('GET', `${generations}/${body.id}?wait=5`));
        return task['status'];
      })
      .toBe('succeeded');
    expect(task).toMatchObject({ id: body.id, task_id: body.id, object: 'image.generation.task' });
    expect(task['data']).toHaveLength(2);
    expect((await fetch(task['data'][0].url)).status).toBe(200);
  });

  it('gives the synchronous form to a caller who prefers to wait', async () => {
    const answer = await account.call('POST', generations, {
      body: { ...base, model: 'wan-image' },
      headers: { prefer: 'wait=120' },
    });
    expect(answer.body).toMatchObject({ created: expect.any(Number), data: [{ url: expect.any(String) }] });
  });
});

it('both endpoints take an image with a text, and each channel gets it where it serves it', async () => {
  // One of these vendors has a separate path for edits. The other uses the generations path for edits too.
  for (const model of ['gpt-image', 'seedream']) {
    for (const path of [generations, edits]) {
      const answer = await send(path, { model, image: data(png(64, 64)) });
      expect([answer.status, answer.body.data?.length]).toEqual([200, 1]);
    }
  }
});

describe('errors of the image endpoints', () => {
  it.each([generations, edits])('of %s have the unified body', async (path) => {
    const answer = await send(path, { n: 0, image: data(pixel) });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: {
        message: expect.any(String),
        type: 'invalid_request_error',
        param: 'n',
        code: 'invalid_parameter',
      },
    });
  });

  it('of the upstream are a 500 provider_error that costs nothing', async () => {
    upstream.answer = (_call, response) => sendJson(response, 500, { error: { message: 'boom' } });
    const payer = await gateway.account();
    const answer = await createOnce(payer.call, generations, base);
    expect(answer.status).toBe(500);
    expect(answer.body.error).toMatchObject({ type: 'api_error', code: 'provider_error', param: '' });
    expect(await payer.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
  });
});

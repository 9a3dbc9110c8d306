import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  imageYaml,
  png,
  pngHeader,
  pixel,
  sendImages,
  startImageUpstream,
  watchTemporaryFiles,
} from '../../images/support.ts';
import type { ImageUpstream } from '../../images/support.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { postForm, type Answer, type TestAccount } from '../../support/client.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let filesLeft: () => Promise<string[]>;

beforeAll(async () => {
  filesLeft = await watchTemporaryFiles();
  upstream = await startImageUpstream();
  gateway = await startGateway({ yaml: imageYaml({ first: upstream.url }), worker: false });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});
afterEach(() => {
  upstream.answer = sendImages;
  upstream.calls.length = 0;
});

const generations = '/v1/images/generations';
const edits = '/v1/images/edits';
const body = { model: 'gpt-image', prompt: 'a red cube' };
const dataUrl = (bytes: Buffer, type = 'image/png'): string =>
  `data:${type};base64,${bytes.toString('base64')}`;
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>');

async function nothingHappened(): Promise<void> {
  expect(upstream.calls).toHaveLength(0);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
  await expect.poll(filesLeft).toEqual([]);
}

async function sendForm(path: string, fill: (form: FormData) => void): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, value);
  fill(form);
  return postForm(gateway.url, path, { form, key: account.key });
}

const file = (bytes: Buffer, name = 'a.png', type = 'image/png'): File => new File([bytes], name, { type });

it('a file is not metadata: its location is not sent upstream', async () => {
  const answer = await sendForm(generations, (form) => form.append('metadata', file(pixel)));
  expect([answer.status, answer.body.error.param]).toEqual([400, 'metadata']);
  await nothingHappened();
});

describe('a JSON body that is wrong', () => {
  it.each<[string, Record<string, unknown>, string, string]>([
    ['no model', { model: undefined }, 'missing_parameter', 'model'],
    ['no prompt', { prompt: undefined }, 'missing_parameter', 'prompt'],
    ['an empty prompt', { prompt: '  ' }, 'invalid_parameter', 'prompt'],
    ['an unknown model', { model: 'nope' }, 'model_not_found', 'model'],
    ['n of 0', { n: 0 }, 'invalid_parameter', 'n'],
    ['n of 1.5', { n: 1.5 }, 'invalid_parameter', 'n'],
    ['n of 1,000', { n: 1000 }, 'unsupported_parameter', 'n'],
    ['n in other digits', { n: '２' }, 'invalid_parameter', 'n'],
    ['size big', { size: 'big' }, 'invalid_parameter', 'size'],
    ['size 0x0', { size: '0x0' }, 'invalid_parameter', 'size'],
    ['a size that the model does not render', { size: '17x17' }, 'unsupported_parameter', 'size'],
    ['a quality that does not exist', { quality: 'best' }, 'unsupported_parameter', 'quality'],
    [
      'a response_format that does not exist',
      { response_format: 'png' },
      'invalid_parameter',
      'response_format',
    ],
    ['partial images without a stream', { partial_images: 1 }, 'unsupported_parameter', 'partial_images'],
    ['an image that is a number', { image: 5 }, 'invalid_parameter', 'image'],
    ['an image that is neither URL nor data', { image: 'hello' }, 'media_url_not_allowed', 'image'],
    ['broken base64', { image: 'data:image/png;base64,###' }, 'invalid_parameter', 'image'],
    ['cut base64', { image: ['data:image/png;base64,iVBOR'] }, 'invalid_parameter', 'image[0]'],
    ['data that is not base64', { image: 'data:image/png,abc' }, 'invalid_parameter', 'image'],
    ['text as an image', { image: dataUrl(Buffer.from('hello, world')) }, 'invalid_parameter', 'image'],
    ['SVG', { image: dataUrl(svg, 'image/svg+xml') }, 'invalid_parameter', 'image'],
    [
      'SVG behind an image',
      { image: [dataUrl(pixel), dataUrl(svg, 'image/png')] },
      'invalid_parameter',
      'image[1]',
    ],
    ['50,000 x 50,000 pixels', { image: dataUrl(pngHeader(50_000, 50_000)) }, 'invalid_parameter', 'image'],
    ['a mask that is text', { image: dataUrl(pixel), mask: 'abc' }, 'media_url_not_allowed', 'mask'],
    ['17 images', { image: Array.from({ length: 17 }, () => dataUrl(pixel)) }, 'invalid_parameter', 'image'],
    ['a private address', { image: 'http://10.0.0.1/a.png' }, 'media_url_not_allowed', 'image'],
    [
      'a private callback',
      { metadata: { callback_url: 'http://10.0.0.1/' } },
      'callback_url_not_allowed',
      'metadata.callback_url',
    ],
    ['a prompt of another type', { prompt: ['a'] }, 'invalid_parameter', 'prompt'],
  ])('%s is a 4xx that names the field', async (_name, change, code, param) => {
    const answer = await account.call('POST', generations, { body: { ...body, ...change } });
    expect(answer.body.error).toMatchObject({ code, param });
    expect(answer.status).toBe(400);
    await nothingHappened();
  });

  it('no image on edits', async () => {
    for (const change of [{}, { image: [] }]) {
      const answer = await account.call('POST', edits, { body: { ...body, ...change } });
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({ code: 'missing_parameter', param: 'image' });
    }
    await nothingHappened();
  });

  it('images on a model that takes none', async () => {
    const answer = await account.call('POST', edits, {
      body: { ...body, model: 'dall-e', image: dataUrl(pixel) },
    });
    expect(answer.body.error).toMatchObject({ code: 'unsupported_parameter', param: 'image' });
    await nothingHappened();
  });

  it('no JSON, an array, another media type', async () => {
    const call = (text: string, type = 'application/json') =>
      account.call('POST', generations, { body: text, headers: { 'content-type': type } });
    expect((await call('{"model":')).body.error).toMatchObject({ code: 'invalid_json' });
    expect((await call('[]')).body.error).toMatchObject({ code: 'invalid_json' });
    const { status, body } = await call('a=b', 'text/plain');
    expect([status, body.error.message]).toEqual([
      415,
      'Send the body as application/json or multipart/form-data.',
    ]);
    await nothingHappened();
  });

  it('65 MiB', async () => {
    const answer = await account.call('POST', generations, {
      body: JSON.stringify({ ...body, image: 'x'.repeat(65 * 1024 * 1024) }),
    });
    expect(answer.status).toBe(413);
    expect(answer.body.error).toMatchObject({ code: 'request_too_large' });
    await nothingHappened();
  });

  it('no body is read without a key', async () => {
    const answer = await gateway.call('POST', edits, { body: '{"broken' });
    expect(answer.status).toBe(401);
  });
});

describe('a form that is wrong', () => {
  it.each<[string, (form: FormData) => void, string, string]>([
    ['no image', () => undefined, 'missing_parameter', 'image'],
    [
      'a text file',
      (form) => form.append('image', file(Buffer.from('hello'), 'a.png')),
      'invalid_parameter',
      'image',
    ],
    ['an empty file', (form) => form.append('image', file(Buffer.alloc(0))), 'invalid_parameter', 'image'],
    [
      'SVG',
      (form) => form.append('image', file(svg, 'a.svg', 'image/svg+xml')),
      'invalid_parameter',
      'image',
    ],
    [
      'a PNG header of 50,000 x 50,000',
      (form) => form.append('image', file(pngHeader(50_000, 50_000))),
      'invalid_parameter',
      'image',
    ],
    [
      'a text file among images',
      (form) => {
        form.append('image[]', file(pixel));
        form.append('image[]', file(Buffer.from('hello')));
      },
      'invalid_parameter',
      'image[1]',
    ],
    [
      'a mask that is text',
      (form) => {
        form.append('image', file(pixel));
        form.append('mask', file(Buffer.from('hello')));
      },
      'invalid_parameter',
      'mask',
    ],
    [
      'n of 1.5',
      (form) => {
        form.append('image', file(pixel));
        form.append('n', '1.5');
      },
      'invalid_parameter',
      'n',
    ],
    [
      'n that is not a number',
      (form) => {
        form.append('image', file(pixel));
        form.append('n', 'many');
      },
      'invalid_parameter',
      'n',
    ],
    ['a file as prompt', (form) => form.set('prompt', file(pixel)), 'invalid_parameter', 'prompt'],
  ])('%s is a 4xx that names the field', async (_name, fill, code, param) => {
    const answer = await sendForm(edits, fill);
    expect(answer.body.error).toMatchObject({ code, param });
    expect(answer.status).toBe(400);
    await nothingHappened();
  });

  it('17 files', async () => {
    const answer = await sendForm(edits, (form) => {
      for (let n = 0; n < 17; n += 1) form.append('image[]', file(pixel, `${n}.png`));
    });
    expect(answer.status).toBe(413);
    expect(answer.body.error).toMatchObject({ code: 'request_too_large', param: 'image' });
    await nothingHappened();
  });

  it('65 MiB, announced and not', async () => {
    const answer = await sendForm(edits, (form) => form.append('image', file(png(1, 1, 65 * 1024 * 1024))));
    expect(answer.status).toBe(413);
    expect(answer.body.error).toMatchObject({ code: 'request_too_large' });
    expect((await sendRaw(formStart(), { megabytes: 65 })).status).toBe(413);
    await nothingHappened();
  });

  it.each([
    ['cut off inside a file', formStart() + 'abc'],
    ['cut off inside a header', '--x\r\nContent-Disposition: form-da'],
    ['without any boundary', 'hello'],
    ['empty', ''],
  ])('%s', async (_name, text) => {
    const answer = await sendRaw(text);
    expect(answer.status).toBe(400);
    await nothingHappened();
  });

  it('headers of a part that never end', async () => {
    const answer = await sendRaw('--x\r\nContent-Disposition: ', { megabytes: 65 });
    expect(answer.status).toBe(413);
    await nothingHappened();
  });

  it('a client that disconnects in the middle leaves nothing behind', async () => {
    for (let n = 0; n < 5; n += 1) await sendAndBreakOff();
    await nothingHappened();
    expect(upstream.calls).toEqual([]);
  });
});

function formStart(): string {
  return [
    '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-image',
    '\r\n--x\r\nContent-Disposition: form-data; name="prompt"\r\n\r\na cube',
    '\r\n--x\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n',
  ].join('');
}

const rawHeaders = () => ({
  authorization: `Bearer ${account.key}`,
  'content-type': 'multipart/form-data; boundary=x',
});

function sendRaw(text: string, { megabytes = 0 } = {}): Promise<{ status: number }> {
  return new Promise((resolve, reject) => {
    const call = request(gateway.url + edits, { method: 'POST', headers: rawHeaders() }, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0 }));
    });
    call.on('error', reject);
    call.write(text === '' ? '\r\n' : text);
    const block = Buffer.alloc(1024 * 1024, 97);
    for (let n = 0; n < megabytes; n += 1) call.write(block);
    call.end();
  });
}

function sendAndBreakOff(): Promise<void> {
  return new Promise((resolve) => {
    const call = request(gateway.url + edits, { method: 'POST', headers: rawHeaders() });
    call.on('error', () => resolve());
    call.on('close', () => resolve());
    call.write(formStart());
    call.write(Buffer.alloc(300_000, 7));
    setTimeout(() => call.destroy(), 50);
  });
}

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
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
let media: Server;
let mediaUrl: string;
let gateway: TestGateway;
let account: TestAccount;
let filesLeft: () => Promise<string[]>;
const fetched: string[] = [];
const red = png(3, 2);
const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b080002000301011100ffd9', 'hex');

beforeAll(async () => {
  filesLeft = await watchTemporaryFiles();
  upstream = await startImageUpstream();
  media = createServer((request, response) => {
    fetched.push(request.url ?? '');
    const answers: Record<string, Buffer> = {
      '/red.png': red,
      '/page.png': Buffer.from('<html>'),
      '/huge.png': pngHeader(50_000, 50_000),
    };
    const found = answers[request.url ?? ''];
    if (request.url === '/away.png') response.writeHead(302, { location: 'http://10.0.0.1/a.png' }).end();
    else if (request.url === '/endless.png') response.writeHead(200).write(Buffer.alloc(1024, 1));
    else if (found === undefined) response.writeHead(404).end('secret words');
    else response.writeHead(200, { 'content-type': 'image/png' }).end(found);
  });
  await new Promise<void>((resolve) => media.listen(0, '127.0.0.1', resolve));
  mediaUrl = `http://127.0.0.1:${(media.address() as AddressInfo).port}`;
  gateway = await startGateway({ yaml: imageYaml({ first: upstream.url }), worker: false });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  media.closeAllConnections();
  media.close();
});
afterEach(async () => {
  upstream.answer = sendImages;
  upstream.calls.length = 0;
  fetched.length = 0;
  await expect.poll(filesLeft).toEqual([]);
});

const edits = '/v1/images/edits';
const body = { model: 'gpt-image', prompt: 'make it blue' };
const dataUrl = (bytes: Buffer): string => `data:image/png;base64,${bytes.toString('base64')}`;
const file = (bytes: Buffer, name = 'a.png'): File =>
  new File([bytes], name, { type: 'application/octet-stream' });

async function sendForm(fill: (form: FormData) => void, path = edits): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, value);
  fill(form);
  return postForm(gateway.url, path, { form, key: account.key });
}

async function received(): Promise<FormData> {
  const [call] = upstream.calls;
  expect(call?.path).toBe('/v1/images/edits');
  const type = call?.headers['content-type'] ?? '';
  expect(type).toMatch(/^multipart\/form-data/);
  return new Response(new Uint8Array(call?.body ?? []), { headers: { 'content-type': type } }).formData();
}

async function bytesOf(part: unknown): Promise<Buffer> {
  if (!(part instanceof File)) throw new Error('not a file');
  return Buffer.from(await part.arrayBuffer());
}

describe('each form of a reference image reaches an upstream that accepts files', () => {
  it('a file', async () => {
    const answer = await sendForm((form) => {
      form.append('image', file(red, 'my photo.PNG'));
      form.append('mask', file(pixel));
      form.append('n', '2');
      form.append('size', '1024x1024');
    });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toHaveLength(2);
    const form = await received();
    expect(await bytesOf(form.get('image'))).toEqual(red);
    expect(await bytesOf(form.get('mask'))).toEqual(pixel);
    expect(form.get('image')).toMatchObject({ type: 'image/png', name: 'my_photo.png' });
    expect([form.get('n'), form.get('size'), form.get('prompt')]).toEqual(['2', '1024x1024', body.prompt]);
  });

  it('several files as image[] and as image', async () => {
    for (const name of ['image[]', 'image']) {
      upstream.calls.length = 0;
      const answer = await sendForm((form) => {
        form.append(name, file(red));
        form.append(name, file(jpeg, 'b.jpg'));
      });
      expect(answer.status).toBe(200);
      const parts = (await received()).getAll('image[]');
      expect(await Promise.all(parts.map(bytesOf))).toEqual([red, jpeg]);
      expect(parts[1]).toMatchObject({ type: 'image/jpeg' });
    }
  });

  it('a data URL, an array of them, a URL, and a mixture', async () => {
    const cases: [unknown, Buffer[]][] = [
      [dataUrl(red), [red]],
      [
        [dataUrl(red), dataUrl(jpeg)],
        [red, jpeg],
      ],
      [`${mediaUrl}/red.png`, [red]],
      [
        [dataUrl(jpeg), `${mediaUrl}/red.png`],
        [jpeg, red],
      ],
    ];
    for (const [image, expected] of cases) {
      upstream.calls.length = 0;
      const answer = await account.call('POST', edits, { body: { ...body, image } });
      expect(answer.status).toBe(200);
      const form = await received();
      const parts = [...form.getAll('image'), ...form.getAll('image[]')];
      expect(await Promise.all(parts.map(bytesOf))).toEqual(expected);
    }
  });

  it('a URL and a data URL as text fields of a form', async () => {
    const answer = await sendForm((form) => {
      form.append('image', `${mediaUrl}/red.png`);
      form.append('image', dataUrl(jpeg));
    });
    expect(answer.status).toBe(200);
    expect(await Promise.all((await received()).getAll('image[]').map(bytesOf))).toEqual([red, jpeg]);
  });

  it('in the order of the form, large and small, files and text mixed', async () => {
    const large = Buffer.concat([red, Buffer.alloc(3_000_000)]);
    for (let round = 0; round < 5; round += 1) {
      upstream.calls.length = 0;
      const answer = await sendForm((form) => {
        form.append('image', file(large));
        form.append('image', dataUrl(jpeg));
        form.append('image', file(red));
        form.append('image', file(jpeg));
      });
      expect(answer.status).toBe(200);
      const images = await Promise.all((await received()).getAll('image[]').map(bytesOf));
      expect(images.map(({ length }) => length)).toEqual(
        [large, jpeg, red, jpeg].map(({ length }) => length),
      );
    }
  });

  it('on the generation route too', async () => {
    const answer = await sendForm((form) => form.append('image', file(red)), '/v1/images/generations');
    expect(answer.status).toBe(200);
    expect(await bytesOf((await received()).get('image'))).toEqual(red);
  });
});

describe('an upstream that accepts JSON', () => {
  const seedream = { model: 'seedream', prompt: 'make it blue' };

  it('gets a URL unchanged, without the gateway fetching it', async () => {
    await account.call('POST', edits, { body: { ...seedream, image: `${mediaUrl}/red.png` } });
    expect(upstream.calls[0]?.json['image']).toBe(`${mediaUrl}/red.png`);
    expect(fetched).toEqual([]);
  });

  it('gets a file as data URL', async () => {
    const answer = await sendForm((form) => {
      form.set('model', 'seedream');
      form.append('image', file(red));
      form.append('image', file(jpeg));
      form.append('watermark', 'false');
    });
    expect(answer.status).toBe(200);
    expect(upstream.calls[0]?.json['image']).toEqual([
      dataUrl(red),
      `data:image/jpeg;base64,${jpeg.toString('base64')}`,
    ]);
    expect(upstream.calls[0]?.json['watermark']).toBe(false);
  });

  it('a mask that the model cannot accept is rejected', async () => {
    const answer = await account.call('POST', edits, {
      body: {
        ...seedream,
        image: dataUrl(red),
        mask: dataUrl(red),
      },
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'unsupported_parameter', param: 'mask' });
  });
});

describe('an address that cannot be converted is a 400, nothing held and nothing sent', () => {
  it.each([
    ['404', '/none.png', 'invalid_parameter'],
    ['a page', '/page.png', 'invalid_parameter'],
    ['50,000 x 50,000', '/huge.png', 'invalid_parameter'],
    ['a redirect into a private network', '/away.png', 'media_url_not_allowed'],
  ])('%s', async (_name, path, code) => {
    const before = await account.balance();
    const answer = await account.call('POST', edits, {
      body: { ...body, image: [dataUrl(red), mediaUrl + path] },
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code, param: 'image[1]' });
    expect(answer.body.error.message).not.toContain('secret');
    expect(upstream.calls).toHaveLength(0);
    expect(await account.balance()).toEqual(before);
    const { body: ledger } = await gateway.admin('GET', `/admin/v1/accounts/${account.id}/ledger?limit=100`);
    expect(ledger.data.filter((entry: { kind: string }) => entry.kind === 'release')).toEqual([]);
  });
});

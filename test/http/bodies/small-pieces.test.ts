import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { callbackBody, jsonBody } from '../../../src/http/body.ts';
import { createBodyBudget } from '../../../src/http/bodies/body-budget.ts';
import type { BodyReader } from '../../../src/http/bodies/consume-body.ts';
import { imageBody } from '../../../src/http/images/image-upload.ts';
import { openImageWorkspaces, type ImageWorkspaces } from '../../../src/images/workspace.ts';
import { png } from '../../images/support.ts';

/** A body costs work in proportion to its bytes, however small the pieces in which it arrives. */

let workspaces: ImageWorkspaces;
beforeAll(async () => {
  workspaces = await openImageWorkspaces(Date.now);
});
afterAll(() => workspaces.close());

const images = (): BodyReader => imageBody(workspaces, { bodyBytesMax: 10_000_000, filesMax: 4 });
const json = 'application/json';
const form = 'multipart/form-data; boundary=b';

function field(name: string, value: string): string {
  return `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--b--\r\n`;
}

const words = 'word '.repeat(100_000);
const image = png(1, 1, 400_000).toString('base64');
const dataUrl = `data:image/png;base64,${image}`;

const bodies: readonly (readonly [what: string, type: string, reader: () => BodyReader, text: string])[] = [
  ['JSON', json, () => jsonBody, JSON.stringify({ prompt: words })],
  ['JSON of an image request', json, images, JSON.stringify({ prompt: words })],
  ['JSON with text in place of an image', json, images, JSON.stringify({ image: words })],
  ['JSON with a data URL', json, images, JSON.stringify({ image: dataUrl })],
  ['JSON with bare base64', json, images, JSON.stringify({ image: [image] })],
  ['a form with text', form, images, field('prompt', words)],
  ['a form with text in place of an image', form, images, field('image', words)],
  ['a form with a data URL', form, images, field('image', dataUrl)],
  ['a form with bare base64', form, images, field('image', image)],
  ['a form with a file', form, images, field('image"; filename="a.png', words)],
  ['a form with much before its first part', form, images, `${words}\r\n${field('prompt', 'x')}`],
  ['a callback', json, () => callbackBody, words.slice(0, 60_000)],
];

const pieceBytes = 130;

it.each(bodies)('%s', async (_what, type, reader, text) => {
  const bytes = Buffer.from(text);
  const request = new IncomingMessage(new Socket());
  request.headers = { 'content-type': type, 'transfer-encoding': 'chunked' };
  for (let at = 0; at < bytes.length; at += pieceBytes) request.push(bytes.subarray(at, at + pieceBytes));
  request.push(null);
  const bytesMax = 100_000_000;
  const memory = createBodyBudget({ name: 'bodies of json', bytesMax, accountBytesMax: bytesMax }).open('a');
  const context = { req: request, is: (asked: string) => type.startsWith(asked) && asked } as never;

  let copied = 0;
  const concat = Buffer.concat.bind(Buffer);
  const { toString } = Buffer.prototype;
  const concats = vi.spyOn(Buffer, 'concat').mockImplementation((list, length) => {
    const all = concat(list, length);
    copied += all.length;
    return all;
  });
  const texts = vi.spyOn(Buffer.prototype, 'toString').mockImplementation(function (this: Buffer, ...range) {
    const made = toString.apply(this, range);
    copied += made.length;
    return made;
  });
  onTestFinished(() => [concats, texts].forEach((spy) => spy.mockRestore()));

  const scope = { memory, disk: memory, bytesPerSecondMin: 0, isHeldBack: () => false };
  const body = await reader().read(context, scope);
  await reader().release?.(body);
  expect(copied).toBeLessThan(6 * bytes.length);
});

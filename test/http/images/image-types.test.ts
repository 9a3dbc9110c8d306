import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { imageYaml, pixel, sendImages, startImageUpstream } from '../../images/support.ts';
import type { ImageUpstream } from '../../images/support.ts';
import { postForm, type TestAccount } from '../../support/client.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

/** Sends every known field of the OpenAPI document with every wrong type, to every route and in every form. */

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let known: Readonly<Record<string, z.ZodType>>;

const anyValue = [{ a: [1] }, ['a'], true, 1.5, 'abc'] as const;
const image = `data:image/png;base64,${pixel.toString('base64')}`;
const body = { prompt: 'a red cube', image };

beforeAll(async () => {
  upstream = await startImageUpstream();
  gateway = await startGateway({ yaml: imageYaml({ first: upstream.url }), worker: false });
  account = await gateway.account();
  const { body: document } = await account.call('GET', '/openapi.json');
  const { properties } = document.components.schemas.ImageGenerationRequest;
  known = Object.fromEntries(
    Object.entries<any>(properties).flatMap(([name, schema]) => {
      const read = z.fromJSONSchema(schema);
      // A vendor's own field may have any type.
      return anyValue.every((value) => read.safeParse(value).success) ? [] : [[name, read]];
    }),
  );
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});
afterEach(() => {
  upstream.answer = sendImages;
  upstream.calls.length = 0;
});

function wrongValues(values: readonly unknown[]): [string, unknown][] {
  return Object.entries(known).flatMap(([name, read]) =>
    values
      // The gateway also accepts an object or a list that contains a file's URL, and text that contains a flag or
      // number.
      .filter((value) => !['image', 'mask'].includes(name) || typeof value !== 'object')
      .filter((value) => !read.safeParse(value).success)
      .map((value): [string, unknown] => [name, value]),
  );
}

async function nothingHappened(): Promise<void> {
  expect(upstream.calls).toHaveLength(0);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
}

it('the document has the fields that many vendors share', () => {
  expect(Object.keys(known)).toEqual(
    expect.arrayContaining(['seed', 'watermark', 'style', 'guidance_scale', 'n', 'size', 'user', 'stream']),
  );
});

const ways: [string, string, object, Record<string, string>][] = [
  ['alone', 'gpt-image', {}, {}],
  ['on a model that has no such fields', 'dall-e', { image: undefined }, {}],
  ['on a model of another vendor', 'seedream', {}, {}],
  ['with async', 'gpt-image', { async: true }, {}],
  ['with stream', 'gpt-image', { stream: true }, {}],
  ['with prefer: respond-async', 'gpt-image', {}, { prefer: 'respond-async, wait=1' }],
];

it.each(ways)('a wrong type is a 400 that names the field: %s', async (_, model, more, headers) => {
  const wrong = wrongValues(anyValue);
  expect(wrong.length).toBeGreaterThan(50);
  for (const path of ['/v1/images/generations', '/v1/images/edits', '/v1/images/generations/estimate']) {
    for (const [name, value] of wrong) {
      const fields = { ...body, model, ...more, [name]: value };
      const answer = await account.call('POST', path, { body: fields, headers });
      expect([path, name, value, answer.status, answer.body.error]).toEqual([
        path,
        name,
        value,
        400,
        expect.objectContaining({ code: 'invalid_parameter', param: expect.stringMatching(`^${name}`) }),
      ]);
    }
  }
  await nothingHappened();
});

it('a wrong type in metadata is a 400 that names the field, too', async () => {
  for (const [name, value] of Object.entries({ seed: 'abc', watermark: 'x', guidance_scale: 'high' })) {
    const fields = { ...body, model: 'gpt-image', metadata: { [name]: value } };
    const answer = await account.call('POST', '/v1/images/generations', { body: fields });
    expect([answer.status, answer.body.error.param]).toEqual([400, `metadata.${name}`]);
  }
  await nothingHappened();
});

it('a wrong type in a form is a 400 that names the field', async () => {
  const wrong = wrongValues(['abc', '1.5x']).filter(([name]) => !['image', 'mask', 'size'].includes(name));
  expect(wrong.map(([name]) => name)).toEqual(expect.arrayContaining(['seed', 'watermark', 'n']));
  for (const [name, value] of wrong) {
    const form = new FormData();
    for (const [field, text] of Object.entries({ ...body, model: 'gpt-image' })) form.append(field, text);
    form.set(name, String(value));
    const { status, body: answer } = await postForm(gateway.url, '/v1/images/edits', {
      form,
      key: account.key,
    });
    expect([name, value, status, answer.error]).toEqual([
      name,
      value,
      400,
      expect.objectContaining({ code: 'invalid_parameter', param: name }),
    ]);
  }
  await nothingHappened();
});

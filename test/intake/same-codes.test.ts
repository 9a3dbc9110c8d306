import { beforeAll, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.ts';
import { useHttpWorld } from '../support/http-world.ts';

/** A mistake must cause the same error code on every route. */

const world = useHttpWorld('intake_same_codes');
let account: TestAccount;
beforeAll(async () => {
  world.configure((yaml) => yaml.replace('kind: image,', 'kind: image, inputs: { images: { max: 4 } },'));
  account = await world.newAccount();
});

const address = 'https://cdn.example/boat.png';
const routes: readonly (readonly [string, object])[] = [
  ['/v1/videos/generations', { model: 'clip' }],
  ['/v1/videos/generations/estimate', { model: 'clip' }],
  ['/v1/images/generations', { model: 'picture' }],
  ['/v1/images/edits', { model: 'picture', image: address }],
  ['/v1/images/generations/estimate', { model: 'picture' }],
];

it.each<[string, object, string, string]>([
  ['no prompt', { prompt: undefined }, 'missing_parameter', 'prompt'],
  ['null as the prompt', { prompt: null }, 'missing_parameter', 'prompt'],
  ['an empty prompt', { prompt: '' }, 'invalid_parameter', 'prompt'],
  ['a blank prompt', { prompt: ' ' }, 'invalid_parameter', 'prompt'],
  ['a prompt of another type', { prompt: 7 }, 'invalid_parameter', 'prompt'],
  ['no model', { model: undefined }, 'missing_parameter', 'model'],
  ['an empty model', { model: '' }, 'invalid_parameter', 'model'],
  ['an unknown model', { model: 'nope' }, 'model_not_found', 'model'],
  ['an image at an FTP server', { image: 'ftp://cdn.example/a.png' }, 'media_url_not_allowed', 'image'],
  ['an image that is not a URL', { image: 'hello' }, 'media_url_not_allowed', 'image'],
  ['an image of another type', { image: 7 }, 'invalid_parameter', 'image'],
  ['empty metadata', { metadata: '' }, 'invalid_parameter', 'metadata'],
  ['metadata that are not an object', { metadata: '[]' }, 'invalid_parameter', 'metadata'],
  ['a seed of another type', { metadata: { seed: 'abc' } }, 'invalid_parameter', 'metadata.seed'],
  [
    'an unreadable deadline',
    { metadata: { execution_expires_after: 'x' } },
    'invalid_parameter',
    'metadata.execution_expires_after',
  ],
  [
    'a callback that is not allowed',
    { metadata: { callback_url: 'https://forbidden.example' } },
    'callback_url_not_allowed',
    'metadata.callback_url',
  ],
])('%s', async (_, change, code, param) => {
  for (const [path, fields] of routes) {
    const { status, body } = await account.call('POST', path, {
      body: { prompt: 'a boat', ...fields, ...change },
    });
    expect([path, status, body.error]).toEqual([path, 400, expect.objectContaining({ code, param })]);
  }
});

it('a number of images or a length that the model does not render is an unsupported parameter', async () => {
  const images = { model: 'picture', prompt: 'a boat', n: 11 };
  const long = { model: 'clip', prompt: 'a boat', duration: 99 };
  for (const [path, body, param] of [
    ['/v1/images/generations', images, 'n'],
    ['/v1/images/edits', { ...images, image: address }, 'n'],
    ['/v1/videos/generations', long, 'duration'],
  ] as const) {
    const { status, body: answer } = await account.call('POST', path, { body });
    expect([path, status, answer.error]).toEqual([
      path,
      400,
      expect.objectContaining({ code: 'unsupported_parameter', param }),
    ]);
  }
});

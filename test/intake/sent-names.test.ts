import { beforeAll, expect, it } from 'vitest';
import { nameFieldInMessage } from '../../src/base/field-in-message.ts';
import { imageNames, videoNames, type Names } from '../../src/intake/names.ts';
import type { TestAccount } from '../support/client.ts';
import { useHttpWorld } from '../support/http-world.ts';

/** Sends a wrong value under every name that a field has. The error must use the name that was sent. */

const world = useHttpWorld('intake_sent_names');
let account: TestAccount;
beforeAll(async () => {
  account = await world.newAccount();
});

/** Wrong values of the fields whose errors contain the field's name, by the gateway's own name for the field. */
const wrong: Readonly<Record<string, readonly unknown[]>> = {
  duration: ['99', 'soon', '1.5'],
  seconds: ['99', 'soon'],
  resolution: ['144p', 7],
  ratio: [7],
  size: ['big'],
  n: ['many', 11],
  'metadata.seed': ['abc'],
  'metadata.generate_audio': ['loud'],
  'metadata.execution_expires_after': ['soon'],
  'metadata.negative_prompt': [7],
  user: [7],
  'metadata.safety_identifier': [7],
  images: ['ftp://cdn.example/a.png', ['ftp://cdn.example/a.png'], { url: 'ftp://cdn.example/a.png' }],
  videos: ['ftp://cdn.example/a.mp4', ['ftp://cdn.example/a.mp4']],
  audios: ['ftp://cdn.example/a.mp3'],
};

function casesOf(names: Names): [string, unknown][] {
  return [...names.places].flatMap(([name, place]) => {
    const ours = 'to' in place ? place.to : 'media' in place ? place.media : '';
    return (wrong[ours] ?? []).map((value): [string, unknown] => [name, value]);
  });
}

it.each([
  ['/v1/videos/generations', 'clip', videoNames],
  ['/v1/images/generations', 'picture', imageNames],
] as const)('%s names the field that was sent', async (path, model, names) => {
  const cases = casesOf(names);
  expect(cases.length).toBeGreaterThan(5);
  for (const [name, value] of cases) {
    const { status, body } = await account.call('POST', path, {
      body: { model, prompt: 'a boat', [name]: value },
    });
    const { param = '', message = '' } = body.error ?? {};
    expect([name, value, status, param.replace(/\[\d\]$/, '')]).toEqual([name, value, 400, name]);
    expect([name, value, message]).toEqual([name, value, expect.stringContaining(param)]);
  }
});

it.each([
  ['duration must be 2-12 whole seconds.', 'duration', 'seconds', 'seconds must be 2-12 whole seconds.'],
  ['The URL in videos[0] is private.', 'videos[0]', 'videos', 'The URL in videos is private.'],
  [
    'The parameter image must be an image URL.',
    'image',
    'photo',
    'The parameter photo must be an image URL.',
  ],
  ['The parameter images[10] is wrong.', 'images[1]', 'image', 'The parameter images[10] is wrong.'],
  ['seed must be below 5.', 'metadata.seed', 'input.seed', 'input.seed must be below 5.'],
  ['Specify a size.', 'size', 'dimensions', 'Specify a size.'],
])('“%s” with %s as %s', (message, ours, theirs, renamed) => {
  expect(nameFieldInMessage(message, ours, theirs)).toBe(renamed);
});

import { expect, it } from 'vitest';
import { capsOfEndUser } from '../../src/money/caps.ts';
import type { AskedVideo, ImageRequest } from '../../src/models/request.ts';
import { spenderOf } from '../../src/access/spender.ts';

const caller = { account: 'acct', key: 'key_1' };

const video = (safetyIdentifier?: string): AskedVideo => ({
  kind: 'video',
  model: 'alias',
  prompt: 'A cube',
  images: [],
  videos: [],
  audios: [],
  named: {},
  extra: {},
  ...(safetyIdentifier === undefined ? {} : { safetyIdentifier }),
});

const image = (extra: ImageRequest['extra']): ImageRequest => ({
  kind: 'image',
  operation: 'generate',
  model: 'alias',
  prompt: 'A cube',
  n: 1,
  images: [],
  extra,
});

it.each([
  ['of a video', video('u1'), 'u1'],
  ['of a video that names none', video(), undefined],
  ['of an image, by its user', image({ user: 'u2' }), 'u2'],
  ['of an image with an empty user', image({ user: '' }), undefined],
  ['of an image with a number as its user', image({ user: 5 }), undefined],
])('the end user %s', (_, request, endUser) => {
  const by = { key: 'key_1', model: 'video-1', caps: [] };
  expect(spenderOf(caller, 'video-1', request)).toEqual(endUser === undefined ? by : { ...by, endUser });
});

it('the caps of its key, and of its key with this model', () => {
  const caps = {
    all: { day: 5n, total: 9n },
    models: new Map([
      ['video-1', { month: 7n }],
      ['video-2', { month: 8n }],
    ]),
  };
  expect(spenderOf({ ...caller, caps }, 'video-1', video()).caps).toEqual([
    { scope: 'key', window: 'day', limit: 5n },
    { scope: 'key', window: 'total', limit: 9n },
    { scope: 'model', window: 'month', limit: 7n },
  ]);
});

it.each([
  ['named', 'u1', [1n]],
  ['not named', 'u2', [2n]],
  ['not sent', undefined, []],
])('the cap of an end user who is %s', (_, user, limits) => {
  const caps = { default: { day: 2n }, named: new Map([['u1', { day: 1n }]]) };
  expect(capsOfEndUser(caps, user).map(({ limit }) => limit)).toEqual(limits);
});

import { describe, expect, it } from 'vitest';
import { findIn } from '../../src/pages/docs/find.js';
import { addressOf, answerText } from '../../src/pages/docs/request.js';

describe('the search of /docs', () => {
  const entries = [
    { kind: 'Field', title: 'duration', detail: 'in VideoRequest', href: '#VideoRequest.duration' },
    { kind: 'Error', title: 'model_not_found', detail: 'Errors', href: 'docs/errors#model_not_found' },
    {
      kind: 'Operation',
      title: 'Create a video',
      detail: 'POST /v1/videos createVideo',
      href: '#createVideo',
    },
    { kind: 'Operation', title: 'List videos', detail: 'GET /v1/videos listVideos', href: '#listVideos' },
    { kind: 'Guide', title: 'Without a key', detail: 'Idempotency', href: 'docs/idempotency#without-a-key' },
  ] as const;
  const found = (text: string) => findIn(entries, text, 10).map(({ href }) => href);

  it.each([
    ['model_not', ['docs/errors#model_not_found']],
    ['video CREATE', ['#createVideo']],
    ['videos', ['#listVideos', '#createVideo']],
    ['duration', ['#VideoRequest.duration']],
    ['idempotency', ['docs/idempotency#without-a-key']],
    ['  ', []],
    ['nowhere', []],
  ])('%j finds %j', (text, hrefs) => expect(found(text)).toEqual(hrefs));

  it('shows no more than asked for', () => expect(findIn(entries, 'o', 2)).toHaveLength(2));
});

describe('the form of /docs', () => {
  const parameter = (name: string, where: string) => ({ name, in: where, isRequired: false, options: [] });
  const tried = {
    method: 'GET',
    path: '/v1/things/{thing}',
    scheme: 'apiKey',
    parameters: [
      parameter('thing', 'path'),
      parameter('limit', 'query'),
      parameter('if-none-match', 'header'),
    ],
  };

  it('puts what was entered where it belongs, and nothing where nothing was', () => {
    expect(addressOf(tried, { thing: '../a?b' })).toEqual({ path: '/v1/things/..%2Fa%3Fb', headers: {} });
    expect(addressOf(tried, { thing: '$&', limit: '5&x=1', 'if-none-match': '"a"' })).toEqual({
      path: '/v1/things/%24%26?limit=5%26x%3D1',
      headers: { 'if-none-match': '"a"' },
    });
  });

  it.each([
    ['application/json; charset=utf-8', '{"a":1}', '{\n  "a": 1\n}'],
    ['application/json', '{"a":', '{"a":'],
    ['text/csv', 'a,b', 'a,b'],
    ['video/mp4', 'abc', '3 bytes of video/mp4'],
    ['text/plain', '', 'No body.'],
  ])('shows %s', (type, body, shown) => {
    const bytes = new TextEncoder().encode(body);
    expect(answerText(type, bytes.buffer)).toBe(shown);
  });
});

import { pngHeader } from '../images/support.ts';

/**
 * A request that is cheap to send but may be expensive to handle. The gateway must either reject it or handle it
 * cheaply.
 */
export interface HostileRequest {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: () => Generator<string | Buffer>;
}

const mebibyte = 1024 * 1024;
const videos = '/v1/videos/generations';
const images = '/v1/images/generations';
const edits = '/v1/images/edits';
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'multipart/form-data; boundary=x' };

const once = (name: string, path: string, text: () => string): HostileRequest => ({
  name,
  path,
  headers: json,
  pieces: function* () {
    yield text();
  },
});

const video = (name: string, fields: () => Record<string, unknown>): HostileRequest =>
  once(name, videos, () => JSON.stringify({ model: 'seedance', prompt: 'x', ...fields() }));

const repeated = (
  name: string,
  path: string,
  { start, piece, count, end, headers = json }: Repeated,
): HostileRequest => ({
  name,
  path,
  headers,
  pieces: function* () {
    yield start;
    for (let n = 0; n < count; n += 1) yield piece;
    yield end;
  },
});

interface Repeated {
  readonly start: string | Buffer;
  readonly piece: string | Buffer;
  readonly count: number;
  readonly end: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));
const field = (name: string, extra = '') =>
  `--x\r\ncontent-disposition: form-data; name="${name}"${extra}\r\n\r\n`;
const head = `data:image/png;base64,${pngHeader(10, 10).toString('base64').replaceAll('=', '')}`;
const inBase64 = 'A'.repeat(mebibyte);

export const hostileCorpus: readonly HostileRequest[] = [
  video('95,000 keys of metadata', () => ({ metadata: keys(70_000) })),
  video('980 keys of metadata', () => ({ metadata: keys(980) })),
  video('70,000 keys in metadata as text', () => ({ metadata: JSON.stringify(keys(60_000)) })),
  video('70,000 unknown fields', () => keys(70_000)),
  video('a list of 500,000 numbers', () => ({
    metadata: { tools: Array.from({ length: 500_000 }, () => 0) },
  })),
  video('3,900 numbers', () => ({ metadata: { tools: Array.from({ length: 3_900 }, () => 0) } })),
  video('3,900 images', () => ({ images: Array.from({ length: 3_900 }, () => 'https://a.example/') })),
  once('500,000 levels', videos, () => `{"model":"seedance","prompt":"x","metadata":${'['.repeat(500_000)}`),
  video('60 levels', () => ({ metadata: JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`) as unknown })),
  video('a prompt of 1 MiB of spaces', () => ({ prompt: ' '.repeat(mebibyte - 100) })),
  video('a prompt of 1 MiB of emoji', () => ({ prompt: '\u{1f600}'.repeat(250_000) })),
  video('a duration of 1 MiB', () => ({ duration: '1'.repeat(mebibyte - 100) })),
  video('a size of 1 MiB', () => ({ size: '1'.repeat(mebibyte - 100) })),
  video('an image address of 1 MiB', () => ({ image: `https://${'a.'.repeat(500_000)}` })),
  video('a data URL of 1 MiB as an image', () => ({ image: `${head}${'A'.repeat(900_000)}` })),
  video('a callback address of 1 MiB', () => ({
    metadata: { callback_url: `https://${'a'.repeat(900_000)}` },
  })),
  video('1 MiB of escapes', () => ({ prompt: '\u0001'.repeat(170_000) })),
  once('1 MiB of quotes', videos, () => '"'.repeat(mebibyte)),
  once('1 MiB of backslashes', videos, () => `{"a":"${'\\'.repeat(mebibyte - 8)}"}`),
  repeated('32 MiB of empty objects', images, {
    start: '{"x":[',
    piece: '{},'.repeat(mebibyte / 3),
    count: 32,
    end: '{}]}',
  }),
  repeated('63 MiB of prompt', images, {
    start: '{"model":"gpt-image","prompt":"',
    piece: 'é'.repeat(mebibyte / 2),
    count: 63,
    end: '"}',
  }),
  repeated('63 MiB that are no image', images, {
    start: `{"model":"gpt-image","prompt":"x","image":"data:image/png;base64,AAAA`,
    piece: inBase64,
    count: 62,
    end: '"}',
  }),
  ...['gpt-image', 'seedream'].map((model) =>
    repeated(`62 MiB of one image for ${model}`, images, {
      start: `{"model":"${model}","prompt":"x","image":"${head}`,
      piece: inBase64,
      count: 62,
      end: '"}',
    }),
  ),
  repeated('63 MiB of one image, escaped', images, {
    start: `{"model":"gpt-image","prompt":"x","image":"${head}`,
    piece: '\\u0041'.repeat(mebibyte / 6),
    count: 63,
    end: '"}',
  }),
  repeated('63 MiB that are no base64', images, {
    start: `{"model":"gpt-image","prompt":"x","image":"${head}#`,
    piece: inBase64,
    count: 62,
    end: '"}',
  }),
  repeated('10,000 fields', edits, {
    start: '',
    piece: `${field('f')}v\r\n`,
    count: 10_000,
    end: '--x--\r\n',
    headers: form,
  }),
  repeated('63 MiB of a text field', edits, {
    start: field('prompt'),
    piece: 'x'.repeat(mebibyte),
    count: 63,
    end: '\r\n--x--\r\n',
    headers: form,
  }),
  repeated('63 MiB of a file that is not an image', edits, {
    start: Buffer.concat([
      Buffer.from(
        `${field('model')}gpt-image\r\n${field('prompt')}x\r\n${field('image', '; filename=a.png')}`,
      ),
      Buffer.alloc(64),
    ]),
    piece: Buffer.alloc(mebibyte, 1),
    count: 62,
    end: '\r\n--x--\r\n',
    headers: form,
  }),
  ...['gpt-image', 'seedream'].map((model) =>
    repeated(`62 MiB of a file for ${model}`, edits, {
      start: Buffer.concat([
        Buffer.from(
          `${field('model')}${model}\r\n${field('prompt')}x\r\n${field('image', '; filename=a.png')}`,
        ),
        pngHeader(10, 10),
      ]),
      piece: Buffer.alloc(mebibyte, 1),
      count: 62,
      end: '\r\n--x--\r\n',
      headers: form,
    }),
  ),
  repeated('63 MiB that look like boundaries', edits, {
    start: field('image', '; filename=a.png'),
    piece: '\r\n--'.repeat(mebibyte / 4),
    count: 63,
    end: '\r\n--x--\r\n',
    headers: form,
  }),
  repeated('10,000 files', edits, {
    start: '',
    piece: `${field('image', '; filename=a.png')}v\r\n`,
    count: 10_000,
    end: '--x--\r\n',
    headers: form,
  }),
  repeated('63 MiB of headers of a part', edits, {
    start: '--x\r\ncontent-disposition: form-data; name="',
    piece: 'x'.repeat(mebibyte),
    count: 63,
    end: '"\r\n\r\n',
    headers: form,
  }),
];

import { mkdtemp, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { imageFormIssue } from '../../src/routing/image-form-issue.ts';
import { inspectImage } from '../../src/images/inspect-image.ts';
import { readDataUrl } from '../../src/images/reference-image.ts';
import { openImageWorkspaces } from '../../src/images/workspace.ts';
import { presentImages } from '../../src/http/presenters/image.ts';
import { presentImageUsage } from '../../src/http/presenters/image-usage.ts';
import { LargeText } from '../../src/providers/shared/large-json.ts';
import type { ImageInput } from '../../src/models/request.ts';
import type { SynchronousImageProvider } from '../../src/providers/provider.ts';
import { png } from './support.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const riff = (kind: string, rest: string): Buffer =>
  Buffer.concat([Buffer.from('RIFF????WEBP' + kind, 'latin1'), hex(rest), Buffer.alloc(16)]);

describe('the type of an image, by its first bytes', () => {
  it.each<[string, Buffer, object]>([
    ['PNG', png(7, 5), { mediaType: 'image/png', width: 7, height: 5 }],
    [
      'GIF',
      Buffer.concat([Buffer.from('GIF89a'), hex('0700 0500')]),
      { mediaType: 'image/gif', width: 7, height: 5 },
    ],
    [
      'lossy WebP',
      riff('VP8 ', '00000000 000000 9d012a 0700 0500'),
      { mediaType: 'image/webp', width: 7, height: 5 },
    ],
    ['lossless WebP', riff('VP8L', '00000000 2f 06000100'), { mediaType: 'image/webp', width: 7, height: 5 }],
    [
      'extended WebP',
      riff('VP8X', '00000000 00000000 060000 040000'),
      { mediaType: 'image/webp', width: 7, height: 5 },
    ],
    [
      'JPEG behind two segments and fill bytes',
      hex('ffd8 ffe0 0004 0000 ffe1 0006 00000000 ffff ffc2 000b 08 0005 0007 01 011100'),
      { mediaType: 'image/jpeg', width: 7, height: 5 },
    ],
  ])('%s', (_name, bytes, expected) => {
    expect(inspectImage(bytes)).toEqual(expected);
  });

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('hello, this is a long enough text')],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['a PNG signature alone', png(1, 1).subarray(0, 12)],
    ['a PNG of no width', png(0, 5)],
    ['a JPEG that never says its size', hex('ffd8 ffe0 0004 0000 ffd9')],
    ['a JPEG whose segments lead nowhere', hex('ffd8 ffe0 0000 0000 0000 0000')],
    ['an unknown WebP', riff('ABCD', '00000000 00000000 00')],
  ])('%s is not an image', (_name, bytes) => {
    expect(inspectImage(bytes)).toBeUndefined();
  });
});

describe('data URLs', () => {
  const base64 = png(2, 2).toString('base64');
  it('are identified by their bytes, not by their declared type', () => {
    expect(readDataUrl(`data:image/jpeg;base64,${base64}`, 100)).toMatchObject({ mediaType: 'image/png' });
    expect(readDataUrl(`DATA:;BASE64,${base64.replace(/=+$/, '')}`, 100)).toMatchObject({ form: 'data' });
    expect(readDataUrl(`data:image/png;charset=utf-8;base64,${base64}`, 100)).toMatchObject({ form: 'data' });
  });
  it('are rejected beyond the maximum number of pixels', () => {
    expect(readDataUrl(`data:image/png;base64,${base64}`, 3)).toMatchObject({ refused: /2 x 2 pixels/ });
  });
  it.each(['data:image/png;base64,', 'data:image/png;base64,a===', 'data:image/png;base64,a b', 'data:,x'])(
    '%s is refused',
    (text) => expect(readDataUrl(text, 100)).toHaveProperty('refused'),
  );
});

describe('which channels can receive the images', () => {
  const url: ImageInput = { form: 'url', url: 'https://a.example/a.png' };
  const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: '' };
  const issue = (forms: SynchronousImageProvider['imageForms'], images: ImageInput[], mask?: ImageInput) => {
    return imageFormIssue({ images, ...(mask === undefined ? {} : { mask }) }, forms)?.param;
  };
  it('bytes can be converted to any form but a URL', () => {
    expect(issue(['file'], [url, data], data)).toBeUndefined();
    expect(issue(['data'], [url, data])).toBeUndefined();
    expect(issue(['url'], [url])).toBeUndefined();
    expect(issue(['url'], [url, data])).toBe('image');
    expect(issue(['url'], [url], data)).toBe('mask');
    expect(issue([], [])).toBeUndefined();
    expect(issue([], [url])).toBe('image');
  });
});

describe('the response', () => {
  const text = (parts: readonly (string | Uint8Array)[]): unknown =>
    JSON.parse(Buffer.concat(parts.map((part) => Buffer.from(part))).toString());
  it('is one JSON text, whatever an upstream put into its base64', () => {
    const evil = '"}],"usage":{"total_tokens":1},"x":[{"y":"';
    const images = [
      { base64: new LargeText([Buffer.from('QUJD'), Buffer.from('REVG')], true) },
      { base64: new LargeText([Buffer.from(evil)], false), expiresAt: 5 },
      { url: 'https://a.example/?a="b"' },
      { base64: evil },
    ];
    const extra = { created: 9, data: 1, warnings: 'theirs', size: '1x1' };
    expect(text(presentImages({ images, facts: {}, extra }, { createdSeconds: 7, warnings: [] }))).toEqual({
      created: 7,
      data: [
        { b64_json: 'QUJDREVG' },
        { b64_json: evil, expires_at: 5 },
        { url: 'https://a.example/?a="b"' },
        { b64_json: evil },
      ],
      usage: presentImageUsage({}),
      size: '1x1',
    });
  });

  it('names unknown fields of the request', () => {
    const images = [{ url: 'https://a.example/1.png' }];
    expect(
      text(presentImages({ images, facts: {}, extra: {} }, { createdSeconds: 7, warnings: ['qualty'] })),
    ).toEqual({
      created: 7,
      data: [{ url: 'https://a.example/1.png' }],
      usage: presentImageUsage({}),
      warnings: ['qualty'],
    });
  });
});

describe('workspaces', () => {
  it('are removed with all their contents, including those of killed processes', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'workspaces-'));
    const [old, young] = await Promise.all([
      mkdtemp(join(parent, 'mediary-images-')),
      mkdtemp(join(parent, 'mediary-images-')),
    ]);
    await writeFile(join(old, 'a'), '');
    await utimes(old, 1, 1);
    const workspaces = await openImageWorkspaces(Date.now, parent);
    expect(await readdir(parent)).not.toContain(old.split('/').at(-1));
    expect((await stat(young)).isDirectory()).toBe(true);
    const workspace = workspaces.open();
    await workspace.dispose();
    const paths = [workspace.newPath(), workspace.newPath()];
    expect(await readdir(workspaces.directory)).toEqual([]);
    await workspace.make();
    await workspace.make();
    expect(new Set(paths).size).toBe(2);
    for (const path of paths) await writeFile(path, 'x');
    await workspace.dispose();
    await workspace.dispose();
    expect(await readdir(workspaces.directory)).toEqual([]);
    await workspaces.close();
    expect(await readdir(parent)).toHaveLength(1);
  });
});

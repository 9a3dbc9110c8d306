import { createHash } from 'node:crypto';
import type { ResultCopyStore } from '../store/result-copies.ts';
import { signatureBytes, UnkeepableError, type Base64Text, type KeepImages } from '../models/stored-media.ts';
import { hashed } from './copy-file.ts';
import { extensionOf, mediaTypeOf } from './media-types.ts';
import type { MediaLinks } from './media-links.ts';
import { lateWriteMs, type ResultStorage } from './storage.ts';

export interface KeepImagesDeps {
  readonly storage: Pick<ResultStorage, 'write'>;
  readonly copies: Pick<ResultCopyStore, 'write' | 'change'>;
  readonly links: MediaLinks;
  readonly retentionSeconds: number;
  readonly now: () => number;
}

export function createKeepImages(deps: KeepImagesDeps): KeepImages {
  const { storage, copies, links, retentionSeconds, now } = deps;
  return async (image, data) => {
    const names = data.map(nameOf);
    // Write the record first, so that the files are deleted when their retention ends.
    const record = {
      task: image,
      state: 'stored',
      names,
      tries: 1,
      dueAt: now() + retentionSeconds * 1000,
    } as const;
    await copies.write(record);
    const storedAt = Math.floor(now() / 1000);
    const written = Promise.all(
      names.map(async (name, index) => {
        const bytes = asAsync(decode(data[index] ?? ''));
        const hash = createHash('sha256');
        await storage.write(`${image}/${name}`, hashed(bytes, hash), { mediaType: mediaTypeOf(name) ?? '' });
        const link = links.url(image, name, storedAt);
        if (link === undefined) throw new UnkeepableError('the retention of results is zero');
        return { ...link, stored: { name, sha256: hash.digest('hex'), at: storedAt } };
      }),
    );
    return written.catch(async (error: unknown) => {
      // This attempt may fail after a later one has stored the same images, so only its own record is changed.
      const unused = { state: 'unused', dueAt: now() + lateWriteMs } as const;
      await copies.change(record, unused).catch(() => undefined);
      throw error;
    });
  };
}

function nameOf(text: Base64Text, index: number): string {
  let head = Buffer.alloc(0);
  for (const bytes of decode(text)) {
    head = Buffer.concat([head, bytes]);
    if (head.length >= signatureBytes) break;
  }
  const extension = extensionOf(head);
  if (extension === undefined) throw new UnkeepableError('the image has a type that is not stored');
  return `${index}.${extension}`;
}

/** Divisible by 4, so that every slice is valid base64. */
const sliceCharacters = 64 * 1024;

function* decode(text: Base64Text): Generator<Buffer, void, undefined> {
  let rest = '';
  for (const piece of typeof text === 'string' ? slicesOf(text) : text.chunks) {
    const characters = rest + (typeof piece === 'string' ? piece : Buffer.from(piece).toString('latin1'));
    const whole = characters.length - (characters.length % 4);
    yield Buffer.from(characters.slice(0, whole), 'base64');
    rest = characters.slice(whole);
  }
  if (rest !== '') yield Buffer.from(rest, 'base64');
}

function* slicesOf(text: string): Generator<string, void, undefined> {
  for (let start = 0; start < text.length; start += sliceCharacters)
    yield text.slice(start, start + sliceCharacters);
}

async function* asAsync(pieces: Iterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  yield* pieces;
}

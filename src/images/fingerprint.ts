import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { ImageInput, ImageRequest } from '../models/request.ts';

/** Compares files by content rather than by location. `more` is everything else that the caller requested. */
export async function fingerprintImage(
  request: ImageRequest,
  more: readonly unknown[] = [],
): Promise<string> {
  const { images, mask, ...rest } = request;
  const inputs = await Promise.all([...images, ...(mask === undefined ? [] : [mask])].map(digestInput));
  return createHash('sha256')
    .update(JSON.stringify([rest, images.length, inputs, ...more]))
    .digest('base64url');
}

async function digestInput(input: ImageInput): Promise<string> {
  const hash = createHash('sha256');
  switch (input.form) {
    case 'url':
      return `url:${input.url}`;
    case 'data':
      return `data:${hash.update(input.base64).digest('base64url')}`;
    case 'file':
      await pipeline(createReadStream(input.path), hash);
      return `file:${hash.digest('base64url')}`;
    default:
      return input satisfies never;
  }
}

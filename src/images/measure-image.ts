import { firstBytes } from '../base/first-bytes.ts';
import type { GeneratedImage } from '../providers/provider.ts';
import { base64Bytes } from '../models/image-data.ts';
import { headBytes, inspectImage, inspectSource } from './inspect-image.ts';

export async function measuredImage(image: GeneratedImage): Promise<GeneratedImage> {
  const { base64, size } = image;
  if (base64 === undefined || size !== undefined) return image;
  return withPixels(image, await inspectSource(sourceOf(base64)));
}

export async function measuredLink(
  image: GeneratedImage,
  open: (url: string) => Promise<AsyncIterable<Uint8Array>>,
): Promise<GeneratedImage> {
  const { url, base64, size } = image;
  if (url === undefined || base64 !== undefined || size !== undefined) return image;
  try {
    let head = Buffer.alloc(0);
    for await (const piece of await open(url)) {
      head = Buffer.concat([head, piece]);
      if (head.length >= headBytes) break;
    }
    return withPixels(image, inspectImage(head));
  } catch {
    return image;
  }
}

function withPixels(
  image: GeneratedImage,
  pixels: { readonly width?: number; readonly height?: number } | undefined,
): GeneratedImage {
  const { width, height } = pixels ?? {};
  if (width === undefined || height === undefined) return image;
  return { ...image, size: `${width}x${height}`, isMeasured: true };
}

function sourceOf(base64: NonNullable<GeneratedImage['base64']>): Parameters<typeof inspectSource>[0] {
  return {
    bytes: Math.floor((base64Bytes(base64) * 3) / 4),
    read: (_start, end) => Promise.resolve(Buffer.from(headOf(base64, Math.ceil(end / 3) * 4), 'base64')),
  };
}

function headOf(base64: NonNullable<GeneratedImage['base64']>, characters: number): string {
  if (typeof base64 === 'string') return base64.slice(0, characters);
  return Buffer.from(firstBytes(base64.chunks, characters)).toString('latin1');
}

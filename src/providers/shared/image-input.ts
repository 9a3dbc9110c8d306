import { openAsBlob } from 'node:fs';
import type { ImageInput } from '../../models/request.ts';
import { FileDataUrl } from './file-data-url.ts';

export function imageAddress(image: ImageInput): string | FileDataUrl {
  switch (image.form) {
    case 'url':
      return image.url;
    case 'data':
      return `data:${image.mediaType};base64,${image.base64}`;
    case 'file':
      return new FileDataUrl(image);
    default:
      return image satisfies never;
  }
}

/** Returns the image for JSON bodies that state the media type in a separate field. */
export function imageBase64(image: Exclude<ImageInput, { form: 'url' }>): string | FileDataUrl {
  return image.form === 'data' ? image.base64 : new FileDataUrl(image, '');
}

/** Removes the start of a data URL for upstreams that expect bare base64. Other URLs stay unchanged. */
export function withoutDataHead(address: string): string {
  return address.replace(/^data:[^,]*,/i, '');
}

export function bareImage(image: ImageInput): string {
  switch (image.form) {
    case 'url':
      return image.url;
    case 'data':
      return image.base64;
    case 'file':
      throw new TypeError('the images of a task are URLs and data');
    default:
      return image satisfies never;
  }
}

export interface ImageFile {
  readonly blob: Blob;
  readonly name: string;
}

export async function imageFile(image: Exclude<ImageInput, { form: 'url' }>): Promise<ImageFile> {
  switch (image.form) {
    case 'data':
      return {
        blob: new Blob([Buffer.from(image.base64, 'base64')], { type: image.mediaType }),
        name: `image.${fileExtension(image.mediaType)}`,
      };
    case 'file':
      // The file is read while it is being sent, because loading 60 MiB at once would block the event loop for half a
      // second.
      return { blob: await openAsBlob(image.path, { type: image.mediaType }), name: image.name };
    default:
      return image satisfies never;
  }
}

function fileExtension(mediaType: string): string {
  return /^image\/([a-z0-9]+)/.exec(mediaType)?.[1]?.replace('jpeg', 'jpg') ?? 'bin';
}

/** In bytes. Large enough for a few base64 images of 20 MB each. */
export const imageAnswerBytesMax = 96 * 1024 * 1024;

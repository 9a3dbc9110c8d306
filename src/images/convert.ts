import { defined } from '../base/defined.ts';
import { readFile, writeFile } from 'node:fs/promises';
import { GatewayError } from '../errors/errors.ts';
import { whileRoom } from '../errors/not-stored.ts';
import type { ImageInput, ImageRequest } from '../models/request.ts';
import { GuardedRequestError, type GuardedClient } from '../http-client/index.ts';
import type { ImageForm } from '../routing/image-form-issue.ts';
import { readImageFile } from './reference-image.ts';
import { saveMedia } from './save-media.ts';
import type { ImageWorkspace } from './workspace.ts';

export interface ConverterDeps {
  readonly openMedia: GuardedClient['openMedia'];
  readonly workspace: ImageWorkspace;
  readonly pixelsMax: number;
  readonly reserve: (bytes: number) => void;
}

/** Fetches each URL once and writes each image once, however many channels are tried. */
export interface ImageConverter {
  /** Throws `invalid_parameter` or `media_url_not_allowed` with the parameter that contains the image. */
  convert(request: ImageRequest, forms: readonly ImageForm[]): Promise<ImageRequest>;
}

/** The maximum size of an image. No upstream accepts a larger one. */
export const imageBytesMax = 50 * 1024 * 1024;
const fetchTimeoutMs = 30_000;

type FileInput = Extract<ImageInput, { form: 'file' }>;

export function createImageConverter(deps: ConverterDeps): ImageConverter {
  const files = new Map<string | ImageInput, Promise<FileInput>>();

  function once(of: string | ImageInput, make: () => Promise<FileInput>): Promise<FileInput> {
    const known = files.get(of) ?? make();
    files.set(of, known);
    return known;
  }

  async function convertOne(
    input: ImageInput,
    forms: readonly ImageForm[],
    param: string,
  ): Promise<ImageInput> {
    if (forms.includes(input.form)) return input;
    switch (input.form) {
      case 'url':
        return once(input.url, () => fetchImage(input.url, param, deps));
      case 'file':
        // Pass the file on unchanged, because the adapter encodes it while sending it.
        return input;
      case 'data':
        return once(input, () => toFile(input, deps));
      default:
        return input satisfies never;
    }
  }

  return {
    async convert(request, forms) {
      const { images, mask } = request;
      const single = images.length === 1;
      // Wait for all conversions, even if one fails, so that none of them writes into a workspace that is being
      // removed.
      const converted = await Promise.allSettled(
        images.map((image, index) => convertOne(image, forms, single ? 'image' : `image[${index}]`)),
      );
      const failed = converted.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return {
        ...request,
        images: converted.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
        ...(mask === undefined ? {} : { mask: await convertOne(mask, forms, 'mask') }),
      };
    },
  };
}

export async function filesToData(request: ImageRequest): Promise<ImageRequest> {
  const carry = (input: ImageInput): Promise<ImageInput> =>
    input.form === 'file' ? toData(input) : Promise.resolve(input);
  return {
    ...request,
    images: await Promise.all(request.images.map(carry)),
    ...(request.mask === undefined ? {} : { mask: await carry(request.mask) }),
  };
}

async function toData({ mediaType, path }: FileInput): Promise<ImageInput> {
  return { form: 'data', mediaType, base64: await readFile(path, 'base64') };
}

async function toFile(
  { mediaType, base64 }: Extract<ImageInput, { form: 'data' }>,
  { workspace, reserve }: Pick<ConverterDeps, 'workspace' | 'reserve'>,
): Promise<FileInput> {
  await workspace.make();
  const path = workspace.newPath();
  const bytes = Buffer.from(base64, 'base64');
  reserve(bytes.length);
  await whileRoom(writeFile(path, bytes));
  const extension = mediaType.slice('image/'.length);
  return { form: 'file', mediaType, path, name: `image.${extension}`, bytes: bytes.length };
}

async function fetchImage(url: string, param: string, deps: ConverterDeps): Promise<FileInput> {
  await deps.workspace.make();
  const path = deps.workspace.newPath();
  const { openMedia, reserve } = deps;
  const fetch = { openMedia, url, maxBytes: imageBytesMax, timeoutMs: fetchTimeoutMs, reserve };
  let bytes: number;
  try {
    bytes = await saveMedia(fetch, path);
  } catch (error) {
    throw explainFetch(error, param);
  }
  const file = await readImageFile({ path, name: 'image', bytes }, deps.pixelsMax);
  if ('refused' in file)
    throw invalid(param, `The URL in ${param} does not point to a usable image: it ${file.refused}.`);
  return file;
}

/** Explains a failed fetch only by its kind, because a private server's response must not be revealed. */
function explainFetch(error: unknown, param: string): unknown {
  if (!(error instanceof GuardedRequestError)) return error;
  if (error.code === 'address_refused') {
    return new GatewayError('media_url_not_allowed', `The URL in ${param} is not allowed.`, { param });
  }
  const what =
    error.code === 'answer_too_large' ? `has more than ${imageBytesMax} bytes` : 'could not be fetched';
  return invalid(param, `The image in ${param} ${what}.`, error.code);
}

function invalid(param: string, message: string, detail?: string): GatewayError {
  return new GatewayError('invalid_parameter', message, {
    param,
    ...defined({ detail }),
  });
}

import type { Caller } from '../domain/caller.ts';
import { defined } from '../domain/defined.ts';
import { GatewayError } from '../domain/errors.ts';
import { nameIn } from '../domain/media-roles.ts';
import type {
  AskedRequest,
  AskedVideo,
  GenerationRequest,
  ImageInput,
  ImageRequest,
} from '../domain/request.ts';
import { fileIdOf } from '../domain/user-file.ts';
import type { MediaLinks } from '../results/media-links.ts';
import type { Files } from './files.ts';

export interface FileLinksDeps {
  readonly files: Pick<Files, 'find'>;
  readonly links: Pick<MediaLinks, 'until'>;
}

type Kind = 'image' | 'video' | 'audio';

/** `asset://file_…` as a link that upstreams can fetch, for as long as the file is kept. Throws invalid_parameter. */
export type LinkFile = (place: FilePlace) => Promise<string>;

export interface FilePlace {
  readonly id: string;
  readonly account: string;
  readonly kind: Kind;
  /** As the caller wrote the field. */
  readonly param: string;
}

export function createLinkFile({ files, links }: FileLinksDeps): LinkFile {
  return async ({ id, account, kind, param }) => {
    const file = await files.find(id, account);
    const refuse = (message: string) => new GatewayError('invalid_parameter', message, { param });
    if (file === undefined) throw refuse(`There is no file ${id} of this account.`);
    if (!file.media.mediaType.startsWith(`${kind}/`))
      throw refuse(`The file ${id} is of type ${file.media.mediaType}; ${param} must name ${article[kind]}.`);
    return links.until(file.id, file.name, Math.floor(file.expiresAt / 1000));
  };
}

const article: Readonly<Record<Kind, string>> = { image: 'an image', video: 'a video', audio: 'an audio' };

/** The request with a link in place of each of the account's own files; itself where it names none. */
export async function linkFiles(
  request: AskedRequest,
  { account }: Caller,
  linkFile: LinkFile | undefined,
): Promise<AskedRequest> {
  if (request.kind !== 'video' || !namesFiles(request)) return request;
  const link = async (url: string, kind: Kind, index: number): Promise<string> => {
    const id = fileIdOf(url);
    const param = nameIn(request.named, `${kind}s[${index}]`);
    if (id === undefined) return url;
    if (linkFile === undefined) throw notStored(param);
    return linkFile({ id, account, kind, param });
  };
  const [images, videos, audios] = await Promise.all([
    Promise.all(
      request.images.map(async (image, n) => ({ ...image, url: await link(image.url, 'image', n) })),
    ),
    Promise.all(request.videos.map((url, n) => link(url, 'video', n))),
    Promise.all(request.audios.map((url, n) => link(url, 'audio', n))),
  ]);
  return { ...request, images, videos, audios };
}

/** The same for the images of an image request. */
export async function linkImages(
  request: ImageRequest,
  { account }: Caller,
  linkFile: LinkFile | undefined,
): Promise<ImageRequest> {
  const link = async <Input extends ImageInput>(input: Input, param: string): Promise<Input> => {
    const id = input.form === 'url' ? fileIdOf(input.url) : undefined;
    if (id === undefined) return input;
    if (linkFile === undefined) throw notStored(param);
    return { ...input, url: await linkFile({ id, account, kind: 'image', param }) };
  };
  const isOne = request.images.length === 1;
  const images = await Promise.all(
    request.images.map((image, index) => link(image, isOne ? 'image' : `image[${index}]`)),
  );
  const mask = request.mask && (await link(request.mask, 'mask'));
  return { ...request, images, ...defined({ mask }) };
}

type ChangeAddress = (url: string) => Promise<string>;

/** The request with other addresses of its media. */
export async function withAddresses(
  request: GenerationRequest,
  change: ChangeAddress,
): Promise<GenerationRequest> {
  const changed = async (input: ImageInput): Promise<ImageInput> =>
    input.form === 'url' ? { ...input, url: await change(input.url) } : input;
  if (request.kind === 'image')
    return {
      ...request,
      images: await Promise.all(request.images.map(changed)),
      ...(request.mask === undefined ? {} : { mask: await changed(request.mask) }),
    };
  const { firstFrame, lastFrame, references, videos, audios } = request;
  const all = (urls: readonly string[]) => Promise.all(urls.map(change));
  return {
    ...request,
    ...(firstFrame === undefined ? {} : { firstFrame: await change(firstFrame) }),
    ...(lastFrame === undefined ? {} : { lastFrame: await change(lastFrame) }),
    references: await all(references),
    videos: await all(videos),
    audios: await all(audios),
  };
}

function notStored(param: string): GatewayError {
  return new GatewayError(
    'invalid_parameter',
    'This gateway stores no files: send the address of the medium.',
    {
      param,
    },
  );
}

function namesFiles({ images, videos, audios }: AskedVideo): boolean {
  const isFile = (url: string): boolean => fileIdOf(url) !== undefined;
  return images.some(({ url }) => isFile(url)) || videos.some(isFile) || audios.some(isFile);
}

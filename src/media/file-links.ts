import { seenBy, type Reach } from '../base/key-scope.ts';
import type { Caller } from '../access/caller.ts';
import { defined } from '../base/defined.ts';
import { GatewayError } from '../errors/errors.ts';
import { nameIn } from '../models/media-roles.ts';
import type { AskedRequest, GenerationRequest, ImageInput, ImageRequest } from '../models/request.ts';
import { fileIdOf } from '../models/user-file.ts';
import type { MediaLinks } from '../results/media-links.ts';
import type { Files } from './files.ts';

export interface FileLinksDeps {
  readonly files: Pick<Files, 'find'>;
  readonly links: Pick<MediaLinks, 'until' | 'forUpstream'>;
}

type Kind = 'image' | 'video' | 'audio';

/**
 * Converts a URL to the form for upstreams. `asset://file_…` becomes a link that is valid for as long as the file is
 * stored. A link of our own is changed so that it never redirects. Other URLs stay unchanged.
 * @throws GatewayError invalid_parameter
 */
export type LinkMedium = (url: string, place: MediumPlace) => Promise<string>;

export interface MediumPlace {
  readonly reach: Reach;
  readonly kind: Kind;
  readonly param: string;
}

export function createLinkMedium(stored: FileLinksDeps | undefined): LinkMedium {
  return async (url, { reach, kind, param }) => {
    const id = fileIdOf(url);
    if (id === undefined) return stored?.links.forUpstream(url) ?? url;
    const refuse = (message: string) => new GatewayError('invalid_parameter', message, { param });
    if (stored === undefined) throw refuse('This gateway does not store files. Send the URL of the medium.');
    const { files, links } = stored;
    const file = await files.find(id, reach);
    if (file === undefined) throw refuse(`There is no file ${id} that this key can use.`);
    if (!file.media.mediaType.startsWith(`${kind}/`))
      throw refuse(
        `The file ${id} is of type ${file.media.mediaType}; ${param} must refer to ${article[kind]}.`,
      );
    return links.forUpstream(links.until(file.id, file.name, Math.floor(file.expiresAt / 1000)));
  };
}

const article: Readonly<Record<Kind, string>> = { image: 'an image', video: 'a video', audio: 'an audio' };

export async function linkMedia(
  request: AskedRequest,
  caller: Caller,
  linkMedium: LinkMedium,
): Promise<AskedRequest> {
  if (request.kind !== 'video') return request;
  const link = (url: string, kind: Kind, index: number): Promise<string> =>
    linkMedium(url, { reach: seenBy(caller), kind, param: nameIn(request.named, `${kind}s[${index}]`) });
  const [images, videos, audios] = await Promise.all([
    Promise.all(
      request.images.map(async (image, n) => ({ ...image, url: await link(image.url, 'image', n) })),
    ),
    Promise.all(request.videos.map((url, n) => link(url, 'video', n))),
    Promise.all(request.audios.map((url, n) => link(url, 'audio', n))),
  ]);
  return { ...request, images, videos, audios };
}

export async function linkImages(
  request: ImageRequest,
  caller: Caller,
  linkMedium: LinkMedium,
): Promise<ImageRequest> {
  const link = async (input: ImageInput, param: string): Promise<ImageInput> =>
    input.form === 'url'
      ? { ...input, url: await linkMedium(input.url, { reach: seenBy(caller), kind: 'image', param }) }
      : input;
  const isOne = request.images.length === 1;
  const images = await Promise.all(
    request.images.map((image, index) => link(image, isOne ? 'image' : `image[${index}]`)),
  );
  const mask = request.mask && (await link(request.mask, 'mask'));
  return { ...request, images, ...defined({ mask }) };
}

type ChangeAddress = (url: string) => Promise<string>;

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

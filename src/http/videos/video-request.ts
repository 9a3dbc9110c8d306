import { defined } from '../../base/defined.ts';
import { checkCallback, mediaUrlNotAllowed } from '../address-checks.ts';
import type { AddressChecks } from '../address-checks.ts';
import type { Caller } from '../../access/caller.ts';
import { invalidParameter } from '../../errors/errors.ts';
import { fileIdOf } from '../../models/user-file.ts';
import type { AskedImage, AskedVideo, ImageRole, InputType } from '../../models/request.ts';
import { parseSize } from '../output-size.ts';
import { z } from 'zod';
import { refuseUnread } from '../../intake/understand.ts';
import type { Understood } from '../../intake/understand.ts';
import { parseInput } from '../validation.ts';
import { consumedMetadataNames, videoBodySchema } from './video-body.ts';
import type { VideoBody, VideoMetadata } from './video-body.ts';

/** A create's body after the compatibility rules of the contract. */
export interface ParsedVideo {
  readonly request: AskedVideo;
  readonly callbackUrl?: string;
  /** Seconds. */
  readonly expiresAfterSeconds?: number;
  /** Fields without effect, by the names that the caller sent. */
  readonly ignored: readonly string[];
}

/**
 * Checks the understood body and applies the precedence of fields: `images` over `image`, `duration` over `seconds`,
 * the top level over `metadata`. `size` is used where resolution or ratio is absent. Unused fields of `metadata`
 * remain in `extra`. Throws GatewayError.
 */
export function readVideo(
  { body: asked, unread, nameOf, strict }: Understood,
  caller: Pick<Caller, 'assetUrls'>,
  checks: AddressChecks,
): ParsedVideo {
  // Unread names are included, so that a misspelt required field can be recognised.
  const unknown = Object.fromEntries(unread.map((name) => [name, undefined]));
  const input = { params: {}, query: {}, body: { ...unknown, ...asked } };
  const { request, ignored, ...about } = parseVideo(parseInput(checkedBody, input).body, caller, checks);
  const warnings = [...unread, ...ignored.map(nameOf)];
  if (strict) refuseUnread(warnings);
  return { ...about, request: { ...request, ...(strict ? { strict: true } : {}) }, ignored: warnings };
}

const checkedBody = z.object({ body: videoBodySchema });

function parseVideo(body: VideoBody, caller: Pick<Caller, 'assetUrls'>, checks: AddressChecks): ParsedVideo {
  const metadata = body.metadata ?? {};
  const { callback_url, execution_expires_after } = metadata;
  const media = checkMedia(collectMedia(body), caller, checks);
  const output = resolveOutput(body, metadata);
  checkCallback(callback_url, checks);
  return {
    request: {
      kind: 'video',
      model: body.model,
      prompt: body.prompt,
      images: readRoles(body.input_type, media),
      videos: media.videos.urls,
      audios: media.audios.urls,
      ...output.fields,
      ...consumedMetadata(metadata),
      named: {
        ...output.named,
        ...(body.input_type === undefined ? {} : { input_type: 'input_type' }),
        ...(media.isSingle ? { images: 'image' } : {}),
      },
    },
    ...defined({ callbackUrl: callback_url, expiresAfterSeconds: execution_expires_after }),
    ignored: [...media.ignored, ...output.ignored],
  };
}

interface MediaField {
  readonly urls: readonly string[];
  /** The wire name of an item. */
  readonly nameOf: (index: number) => string;
  /** What a data URL here must hold. */
  readonly mediaType: 'image' | 'video' | 'audio';
}

interface Media {
  readonly images: MediaField;
  /** As the caller said, in the order of `images`. */
  readonly roles: readonly (ImageRole | undefined)[];
  readonly isSingle: boolean;
  readonly videos: MediaField;
  readonly audios: MediaField;
  readonly ignored: readonly string[];
}

function collectMedia({ image, images = [], videos = [], audios = [] }: VideoBody): Media {
  const isSingle = image !== undefined && images.length === 0;
  const items = images.map((item) => (typeof item === 'string' ? { url: item } : item));
  const listed = field(
    'image',
    items.map(({ url }) => url),
  );
  return {
    images: isSingle ? { urls: [image], nameOf: () => 'image', mediaType: 'image' } : listed,
    roles: items.map(({ role }) => role),
    isSingle,
    videos: field('video', videos),
    audios: field('audio', audios),
    ignored: image !== undefined && !isSingle ? ['image'] : [],
  };
}

function field(mediaType: MediaField['mediaType'], urls: readonly string[]): MediaField {
  return { urls, mediaType, nameOf: (index) => `${mediaType}s[${index}]` };
}

const assetReference = /^asset:\/\//i;
const dataUrl = /^data:([^/;,]*)/i;
const webAddress = /^https?:\/\//i;

function checkMedia(
  media: Media,
  caller: Pick<Caller, 'assetUrls'>,
  { checkMediaUrl }: AddressChecks,
): Media {
  const reasonAgainst = (url: string, mediaType: string): string | undefined => {
    if (webAddress.test(url)) return checkMediaUrl(url);
    const inline = dataUrl.exec(url)?.[1];
    if (inline !== undefined)
      return inline.toLowerCase() === mediaType ? undefined : `Its data must be of type ${mediaType}/….`;
    if (fileIdOf(url) !== undefined) return undefined;
    if (!assetReference.test(url)) return 'Media must be given as http or https URLs.';
    return caller.assetUrls === true ? undefined : 'This API key may not name assets of an upstream account.';
  };
  for (const { urls, nameOf, mediaType } of [media.images, media.videos, media.audios]) {
    urls.forEach((url, index) => {
      const reason = reasonAgainst(url, mediaType);
      if (reason === undefined) return;
      throw mediaUrlNotAllowed(nameOf(index), reason);
    });
  }
  return media;
}

/** What the caller says of each image, by its own role or by the input type; the rest is left to the model. */
function readRoles(inputType: InputType | undefined, media: Media): AskedImage[] {
  const { images, videos, audios } = media;
  const hasMedia = images.urls.length + videos.urls.length + audios.urls.length > 0;
  if (inputType === 'text_to_video' && hasMedia)
    throw invalidParameter('input_type', 'text_to_video does not accept images, videos or audios.');
  if (inputType === 'reference' && !hasMedia)
    throw invalidParameter('input_type', 'reference needs at least one image, video or audio.');
  const isFrames = inputType === 'first_last_frame';
  if (isFrames && (images.urls.length === 0 || images.urls.length > frameRoles.length))
    throw invalidParameter(
      images.urls.length === 0 ? 'input_type' : 'images',
      'first_last_frame needs one image, the first frame, or two: the first frame and the last.',
    );
  const open = frameRoles.filter((role) => !media.roles.includes(role));
  const unsaid = inputType === 'reference' ? inputType : undefined;
  const roles = images.urls.map((_, index) => media.roles[index] ?? (isFrames ? open.shift() : unsaid));
  checkRoles(roles, inputType, images);
  return images.urls.map((url, index) => ({ url, ...defined({ role: roles[index] }) }));
}

const frameRoles = ['first_frame', 'last_frame'] as const;

/** At most one image is a frame of each kind, and none contradicts the input type. */
function checkRoles(
  roles: readonly (ImageRole | undefined)[],
  inputType: InputType | undefined,
  { nameOf }: MediaField,
): void {
  roles.forEach((role, index) => {
    const isFrame = role === 'first_frame' || role === 'last_frame';
    if (isFrame && roles.indexOf(role) < index)
      throw invalidParameter(nameOf(index), `There is one ${role} only.`);
    if (role === 'last_frame' && !roles.includes('first_frame'))
      throw invalidParameter(nameOf(index), 'A last frame needs a first frame beside it.');
    const isOther = role !== undefined && inputType !== undefined && isFrame === (inputType === 'reference');
    if (isOther) throw invalidParameter(nameOf(index), `The role ${role} does not go with ${inputType}.`);
  });
}

/** What decides the price has one value, wherever it was said; what was overruled does not travel on. */
function resolveOutput(body: VideoBody, metadata: VideoMetadata) {
  const mode = body.mode ?? metadata.mode;
  const size = body.size ?? metadata.size;
  const shape = size === undefined ? undefined : parseSize(size);
  const resolution = body.resolution ?? metadata.resolution ?? shape?.resolution;
  const ratio = body.ratio ?? metadata.ratio ?? shape?.ratio;
  const duration = body.duration ?? body.seconds ?? metadata.duration ?? metadata.seconds;
  return {
    fields: defined({ mode, resolution, ratio, size, duration }),
    named: namesOf(body, metadata),
    ignored: overruled(body, metadata),
  };
}

type OutputName = 'mode' | 'resolution' | 'ratio' | 'size' | 'duration' | 'seconds';

/** Under which name each field was sent: of several, the one that counts. */
function namesOf(body: VideoBody, metadata: VideoMetadata): Readonly<Record<string, string>> {
  const said = (...names: readonly OutputName[]): string | undefined =>
    names.find((name) => body[name] !== undefined) ??
    names.filter((name) => metadata[name] !== undefined).map((name) => `metadata.${name}`)[0];
  const size = said('size');
  return defined({
    mode: said('mode'),
    size,
    duration: said('duration', 'seconds'),
    resolution: said('resolution') ?? size,
    ratio: said('ratio') ?? size,
  });
}

function overruled(body: VideoBody, metadata: VideoMetadata): string[] {
  const hasDuration = body.duration !== undefined;
  const hasTopDuration = hasDuration || body.seconds !== undefined;
  const inMetadata = (['mode', 'resolution', 'ratio', 'size'] as const).filter(
    (name) => body[name] !== undefined && metadata[name] !== undefined,
  );
  return [
    ...(hasDuration && body.seconds !== undefined ? ['seconds'] : []),
    ...inMetadata.map((name) => `metadata.${name}`),
    ...(hasTopDuration && metadata.duration !== undefined ? ['metadata.duration'] : []),
    ...((hasTopDuration || metadata.duration !== undefined) && metadata.seconds !== undefined
      ? ['metadata.seconds']
      : []),
  ];
}

function consumedMetadata(metadata: VideoMetadata) {
  const { draft, generate_audio, watermark, return_last_frame, seed, safety_identifier, tools } = metadata;
  return {
    ...defined({
      draft,
      generateAudio: generate_audio,
      watermark,
      returnLastFrame: return_last_frame,
      seed,
      safetyIdentifier: safety_identifier,
      tools,
    }),
    extra: Object.fromEntries(
      Object.entries(metadata).flatMap(([name, value]) =>
        value === undefined || consumedMetadataNames.has(name) ? [] : [[name, value] as const],
      ),
    ),
  };
}

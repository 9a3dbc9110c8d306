import { defined } from '../../base/defined.ts';
import { checkCallback, mediaUrlNotAllowed, notAWebAddress, type AddressChecks } from '../address-checks.ts';
import type { Caller } from '../../access/caller.ts';
import { invalidParameter } from '../../errors/errors.ts';
import { fileIdOf } from '../../models/user-file.ts';
import type { AskedImage, AskedVideo, Duration, ImageRole, InputType } from '../../models/request.ts';
import { z } from 'zod';
import type { Understood } from '../../intake/understand.ts';
import { overruled } from '../../intake/warnings.ts';
import { applyKeyRules } from '../key-rules.ts';
import { parseInput } from '../validation.ts';
import { consumedMetadataNames, videoBodySchema, type VideoBody, type VideoMetadata } from './video-body.ts';

export interface ParsedVideo {
  readonly request: AskedVideo;
  readonly callbackUrl?: string;
  readonly expiresAfterSeconds?: number;
  readonly ignored: readonly string[];
}

/**
 * Precedence: `images` over `image`, `duration` over `seconds`, and the top level over `metadata`. The meaning of
 * `size` depends on the model. Unused `metadata` fields stay in `extra`. Throws GatewayError.
 */
export function readVideo(
  { body: asked, unread, nameOf, strict }: Understood,
  caller: Pick<Caller, 'assetUrls' | 'strict' | 'endUserRequired'>,
  checks: AddressChecks,
): ParsedVideo {
  // Include unread names, so that a misspelt required field is recognised.
  const unknown = Object.fromEntries(unread.map((name) => [name, undefined]));
  const input = { params: {}, query: {}, body: { ...unknown, ...asked } };
  const { body } = parseInput(checkedBody, input);
  const { request, ignored, ...about } = parseVideo(body, { ...caller, nameOf }, checks);
  const warnings = [...unread, ...ignored];
  const rules = applyKeyRules({ request, ignored: warnings }, { strict, nameOf }, caller);
  return { ...about, request: { ...request, ...rules }, ignored: warnings };
}

const checkedBody = z.object({ body: videoBodySchema });

interface Sender extends Pick<Caller, 'assetUrls'> {
  readonly nameOf: Understood['nameOf'];
}

function parseVideo(body: VideoBody, sender: Sender, checks: AddressChecks): ParsedVideo {
  const metadata = body.metadata ?? {};
  const { callback_url, execution_expires_after } = metadata;
  const media = checkMedia(collectMedia(body), sender, checks);
  const output = resolveOutput(body, metadata, sender);
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
    ignored: output.ignored,
  };
}

interface MediaField {
  readonly urls: readonly string[];
  readonly nameOf: (index: number) => string;
  readonly mediaType: 'image' | 'video' | 'audio';
}

interface Media {
  readonly images: MediaField;
  readonly roles: readonly (ImageRole | undefined)[];
  readonly isSingle: boolean;
  readonly videos: MediaField;
  readonly audios: MediaField;
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
    if (!assetReference.test(url)) return notAWebAddress;
    return caller.assetUrls === true
      ? undefined
      : 'This API key is not allowed to use assets of an upstream account.';
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

function readRoles(inputType: InputType | undefined, media: Media): AskedImage[] {
  const { images, videos, audios } = media;
  const hasMedia = images.urls.length + videos.urls.length + audios.urls.length > 0;
  if (inputType === 'text_to_video' && hasMedia)
    throw invalidParameter('input_type', 'text_to_video does not accept image, video or audio input.');
  if (inputType === 'reference' && !hasMedia)
    throw invalidParameter('input_type', 'reference needs at least one image, video or audio.');
  const isFrames = inputType === 'first_last_frame';
  if (isFrames && (images.urls.length === 0 || images.urls.length > frameRoles.length))
    throw invalidParameter(
      images.urls.length === 0 ? 'input_type' : 'images',
      'first_last_frame needs one image (the first frame) or two (the first and the last frame).',
    );
  const open = frameRoles.filter((role) => !media.roles.includes(role));
  const unsaid = inputType === 'reference' ? inputType : undefined;
  const roles = images.urls.map((_, index) => media.roles[index] ?? (isFrames ? open.shift() : unsaid));
  checkRoles(roles, inputType, images);
  return images.urls.map((url, index) => ({ url, ...defined({ role: roles[index] }) }));
}

const frameRoles = ['first_frame', 'last_frame'] as const;

/** Allows at most one image per kind of frame, and no images that contradict the input type. */
function checkRoles(
  roles: readonly (ImageRole | undefined)[],
  inputType: InputType | undefined,
  { nameOf }: MediaField,
): void {
  roles.forEach((role, index) => {
    const isFrame = role === 'first_frame' || role === 'last_frame';
    if (isFrame && roles.indexOf(role) < index)
      throw invalidParameter(nameOf(index), `Only one ${role} is allowed.`);
    if (role === 'last_frame' && !roles.includes('first_frame'))
      throw invalidParameter(nameOf(index), 'A last frame requires a first frame.');
    const isOther = role !== undefined && inputType !== undefined && isFrame === (inputType === 'reference');
    if (isOther) throw invalidParameter(nameOf(index), `The role ${role} cannot be used with ${inputType}.`);
  });
}

/** Everything that affects the price needs a single value, wherever it was sent. The first occurrence wins. */
function resolveOutput(body: VideoBody, metadata: VideoMetadata, { nameOf }: Sender) {
  const inBoth = (name: 'mode' | 'resolution' | 'ratio' | 'size'): Said<string> =>
    firstOf([name, body[name]], [`metadata.${name}`, metadata[name]]);
  const fields = {
    mode: inBoth('mode'),
    resolution: inBoth('resolution'),
    ratio: inBoth('ratio'),
    size: inBoth('size'),
    duration: firstOf<Duration>(
      ['duration', body.duration],
      ['seconds', body.seconds],
      ['metadata.duration', metadata.duration],
      ['metadata.seconds', metadata.seconds],
    ),
  };
  const { mode, resolution, ratio, size, duration } = fields;
  const name = ({ names: [first] }: Said<unknown>) => (first === undefined ? undefined : nameOf(first));
  return {
    fields: defined({
      mode: mode.value,
      resolution: resolution.value,
      ratio: ratio.value,
      size: size.value,
      duration: duration.value,
    }),
    named: defined({
      mode: name(mode),
      size: name(size),
      duration: name(duration),
      resolution: name(resolution) ?? name(size),
      ratio: name(ratio) ?? name(size),
    }),
    ignored: Object.values(fields).flatMap(({ names: [winner = '', ...losers] }) =>
      losers.map((loser) => overruled(nameOf(loser), [nameOf(winner)])),
    ),
  };
}

interface Said<Value> {
  readonly value: Value | undefined;
  readonly names: readonly string[];
}

function firstOf<Value>(
  ...places: readonly (readonly [name: string, value: Value | undefined])[]
): Said<Value> {
  const sent = places.filter(([, value]) => value !== undefined);
  const [, value] = sent[0] ?? [];
  return {
    value,
    names: sent.filter((place, index) => index === 0 || place[1] !== value).map(([name]) => name),
  };
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

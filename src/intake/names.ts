import { commonParameters } from '../models/facts-of-request.ts';
import type { ImageRole } from '../models/request.ts';

/** Maps an API's field names to ours. This table alone defines which fields the body of a create request may have. */
export interface Names {
  readonly places: ReadonlyMap<string, Place>;
  /** The prefix of every field name except those in `outer`. */
  readonly prefix: string;
  /** Where unknown fields below the prefix go, as the model's own parameters. Undefined if they are not read. */
  readonly others?: 'metadata' | 'body';
  /** The role of a single image, unless the caller specifies one. */
  readonly alone?: ImageRole;
}

export type Place =
  | { readonly to: string }
  | { readonly media: MediaPlace; readonly role?: ImageRole }
  /** A list whose text parts form the prompt. Its media parts are sorted by type. */
  | { readonly parts: true }
  /** Chat messages. The user's last message is the prompt. */
  | { readonly messages: true }
  /** The end of the error message: why the field is not supported, or what to use instead. */
  | { readonly refused: string };

export type MediaPlace = 'images' | 'videos' | 'audios' | 'image' | 'mask';

export type Table = Readonly<Record<string, string | Place>>;

interface About extends Omit<Names, 'places'> {
  readonly outer?: Table;
}

/** If several tables contain a name, the first table wins. A plain string is one of our own field names. */
export function namesOf({ outer = {}, ...about }: About, ...tables: readonly Table[]): Names {
  const places = new Map<string, Place>();
  const add = (table: Table, prefix: string): void => {
    for (const [name, place] of Object.entries(table)) {
      const whole = `${prefix}${name}`;
      if (!places.has(whole)) places.set(whole, typeof place === 'string' ? { to: place } : place);
    }
  };
  add(outer, '');
  for (const table of tables) add(table, about.prefix);
  return { ...about, places };
}

export const firstFrame: Place = { media: 'images', role: 'first_frame' };
export const lastFrame: Place = { media: 'images', role: 'last_frame' };
export const references: Place = { media: 'images', role: 'reference' };
const images: Place = { media: 'images' };
export const videos: Place = { media: 'videos' };
export const audios: Place = { media: 'audios' };

export const endUserFields: Table = {
  safety_identifier: 'metadata.safety_identifier',
  end_user_id: 'metadata.safety_identifier',
  end_user: 'metadata.safety_identifier',
  user: 'metadata.safety_identifier',
  user_id: 'metadata.safety_identifier',
};

const metadataNames = [
  'draft',
  'generate_audio',
  'watermark',
  'return_last_frame',
  'seed',
  'callback_url',
  'execution_expires_after',
  'tools',
  ...commonParameters,
];

const own: Table = {
  model: 'model',
  prompt: 'prompt',
  mode: 'mode',
  input_type: 'input_type',
  image: images,
  images,
  videos,
  audios,
  resolution: 'resolution',
  ratio: 'ratio',
  size: 'size',
  duration: 'duration',
  seconds: 'seconds',
  metadata: 'metadata',
  strict: 'strict',
};

/** Field names from the source code of other services' SDKs. docs/contract.md describes them. */
const neighbours: Table = {
  aspect_ratio: 'ratio',
  aspectRatio: 'ratio',
  duration_seconds: 'duration',
  durationSeconds: 'duration',
  image_url: images,
  imageUrl: images,
  image_urls: images,
  imageUrls: images,
  input_image: images,
  input_images: images,
  prompt_image: images,
  promptImage: images,
  input_reference: firstFrame,
  first_frame: firstFrame,
  first_frame_image: firstFrame,
  first_frame_url: firstFrame,
  first_frame_image_url: firstFrame,
  firstFrame,
  start_frame: firstFrame,
  start_image: firstFrame,
  start_image_url: firstFrame,
  img_url: firstFrame,
  last_frame: lastFrame,
  last_frame_image: lastFrame,
  last_frame_url: lastFrame,
  last_frame_image_url: lastFrame,
  lastFrame,
  end_frame: lastFrame,
  end_image: lastFrame,
  end_image_url: lastFrame,
  tail_image: lastFrame,
  tail_image_url: lastFrame,
  image_tail: lastFrame,
  frame_images: images,
  input_references: references,
  reference_image: references,
  reference_image_url: references,
  reference_image_urls: references,
  reference_images: references,
  referenceImages: references,
  subject_reference: references,
  video: videos,
  video_url: videos,
  video_urls: videos,
  input_video: videos,
  reference_video: videos,
  reference_video_url: videos,
  reference_videos: videos,
  audio: audios,
  audio_url: audios,
  audio_urls: audios,
  input_audio: audios,
  reference_audio: audios,
  reference_audios: audios,
  webhook: 'metadata.callback_url',
  webhook_url: 'metadata.callback_url',
  webhookUrl: 'metadata.callback_url',
  callbackUrl: 'metadata.callback_url',
  generateAudio: 'metadata.generate_audio',
  with_audio: 'metadata.generate_audio',
  negativePrompt: 'metadata.negative_prompt',
};

export const videoFields: readonly Table[] = [
  own,
  Object.fromEntries(metadataNames.map((name) => [name, `metadata.${name}`])),
  endUserFields,
  neighbours,
];
export const videoNames = namesOf({ prefix: '' }, ...videoFields);

const imageMedia: Place = { media: 'image' };
const mask: Place = { media: 'mask' };

/** All image APIs accept these names. Any other name becomes one of the model's own parameters. */
export const imageFields: Table = {
  image: imageMedia,
  images: imageMedia,
  image_url: imageMedia,
  imageUrl: imageMedia,
  image_urls: imageMedia,
  imageUrls: imageMedia,
  input_image: imageMedia,
  input_images: imageMedia,
  input_references: imageMedia,
  reference_image: imageMedia,
  reference_images: imageMedia,
  reference_image_urls: imageMedia,
  mask,
  mask_image: mask,
  mask_url: mask,
  mask_image_url: mask,
  num_images: 'n',
  numImages: 'n',
  safety_identifier: 'user',
  end_user_id: 'user',
  end_user: 'user',
  user_id: 'user',
  callback_url: 'metadata.callback_url',
  webhook: 'metadata.callback_url',
  webhook_url: 'metadata.callback_url',
  execution_expires_after: 'metadata.execution_expires_after',
};
export const imageNames = namesOf({ prefix: '', others: 'body' }, imageFields);

import { z } from 'zod';
import { invalid, missing } from './ark-error.ts';
import type { ArkError } from './ark-error.ts';
import type { ArkModel } from './ark-models.ts';

/** The input of a task, checked. */
export interface Media {
  readonly mode: 'text' | 'frames' | 'references' | 'draft';
  readonly text: string;
  readonly videos: readonly string[];
  readonly draftTaskId: string | undefined;
}

const urlSchema = z.object({ url: z.string().min(1) });
const itemSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: urlSchema, role: z.string().optional() }),
  z.object({ type: z.literal('video_url'), video_url: urlSchema, role: z.string().optional() }),
  z.object({ type: z.literal('audio_url'), audio_url: urlSchema, role: z.string().optional() }),
  z.object({ type: z.literal('draft_task'), draft_task: z.object({ id: z.string() }) }),
]);
type Item = z.infer<typeof itemSchema>;

/** @throws {ArkError} */
export function readContent(value: unknown, model: ArkModel): Media {
  if (value === undefined || value === null) throw missing('content');
  if (!Array.isArray(value)) throw invalid('content', 'must be an array');
  const items = value.map(readItem);
  const draft = items.find((item) => item.type === 'draft_task');
  const text = items.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n');
  if (draft !== undefined) {
    if (!model.draft) throw invalid('content', 'draft_task is not supported by the model');
    return { mode: 'draft', text, videos: [], draftTaskId: draft.draft_task.id };
  }
  const roles = imageRoles(items);
  checkImages(roles, items, model);
  const media = checkVideosAndAudios(items, roles.length, model);
  if (text.trim() === '' && roles.length === 0 && media.count === 0) throw missing('content.text');
  const references = roles.includes('reference_image') || media.count > 0;
  const mode = references ? 'references' : roles.length > 0 ? 'frames' : 'text';
  return { mode, text, videos: media.videos, draftTaskId: undefined };
}

function readItem(value: unknown, index: number): Item {
  const parsed = itemSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw wrongItem(value, index, parsed.error.issues[0]);
}

function wrongItem(value: unknown, index: number, issue: z.core.$ZodIssue | undefined): ArkError {
  const path = ['content', index, ...(issue?.path ?? [])].join('.');
  const [last] = issue?.path.slice(-1) ?? [];
  const isAbsent = issue?.code === 'invalid_type' && issue.message.endsWith('received undefined');
  if (isAbsent && last !== undefined && typeof value === 'object') return missing(`content.${String(last)}`);
  return invalid(last === 'type' ? 'content.type' : 'content', `${path}: ${issue?.message ?? 'not valid'}`);
}

type ImageRole = 'first_frame' | 'last_frame' | 'reference_image';

function imageRoles(items: readonly Item[]): ImageRole[] {
  const images = items.filter((item) => item.type === 'image_url');
  return images.map(({ role }) => {
    if (role === 'first_frame' || role === 'last_frame' || role === 'reference_image') return role;
    // The role may be left out only where it cannot be mistaken.
    if (role === undefined && images.length === 1 && !items.some(isVideoOrAudio)) return 'first_frame';
    throw invalid('content', `image_url.role ${role ?? '(absent)'} is not valid`);
  });
}

function checkImages(roles: readonly ImageRole[], items: readonly Item[], model: ArkModel): void {
  for (const item of items) if (item.type === 'image_url') checkImageUrl(item.image_url.url, model);
  if (roles.length > 0 && !model.takesImages)
    throw invalid('content', 'image_url is not supported by the model');
  if (roles.length === 0 && model.needsImage) throw missing('content.image_url');
  const countOf = (role: ImageRole): number => roles.filter((other) => other === role).length;
  const references = countOf('reference_image');
  const frames = countOf('first_frame') + countOf('last_frame');
  if (references > 0 && frames > 0)
    throw invalid('content', 'first/last frame cannot be mixed with reference media');
  if (frames > 0 && items.some(isVideoOrAudio)) {
    throw invalid('content', 'first/last frame cannot be mixed with reference media');
  }
  if (countOf('first_frame') > 1 || countOf('last_frame') > 1)
    throw invalid('content', 'more than one frame of a kind');
  if (countOf('last_frame') === 1 && countOf('first_frame') === 0)
    throw invalid('content', 'last_frame needs first_frame');
  if (references > model.imageReferencesMax) {
    throw invalid(
      'content',
      `at most ${model.imageReferencesMax} reference images are supported by the model`,
    );
  }
}

function isVideoOrAudio(item: Item): boolean {
  return item.type === 'video_url' || item.type === 'audio_url';
}

function checkImageUrl(url: string, model: ArkModel): void {
  if (/^(https?|asset):\/\/./.test(url)) return;
  const format = /^data:image\/([a-z]+);base64,[A-Za-z0-9+/]/.exec(url.slice(0, 64))?.[1];
  const formats = [
    'jpeg',
    'jpg',
    'png',
    'webp',
    'bmp',
    'tiff',
    'gif',
    ...(model.heic ? ['heic', 'heif'] : []),
  ];
  if (format === undefined || !formats.includes(format))
    throw invalid('image_url', 'not a URL or data URL of an image');
}

function checkVideosAndAudios(
  items: readonly Item[],
  images: number,
  model: ArkModel,
): { videos: string[]; count: number } {
  const videos: string[] = [];
  let audios = 0;
  for (const item of items) {
    if (item.type === 'video_url') {
      if (item.role !== 'reference_video')
        throw invalid('content', `video_url.role ${item.role ?? '(absent)'} is not valid`);
      checkWebUrl(item.video_url.url, 'video_url', 'reference_video must be provided as a web url');
      videos.push(item.video_url.url);
    } else if (item.type === 'audio_url') {
      if (item.role !== 'reference_audio')
        throw invalid('content', `audio_url.role ${item.role ?? '(absent)'} is not valid`);
      audios += 1;
    }
  }
  const count = videos.length + audios;
  if (count > 0 && !model.videoAndAudioReferences)
    throw invalid('content', 'video and audio are not supported by the model');
  const { clipsMax } = model;
  if (videos.length > clipsMax) throw invalid('content', `at most ${clipsMax} videos`);
  if (audios > clipsMax) throw invalid('content', `at most ${clipsMax} audios`);
  if (audios > 0 && videos.length + images === 0 && !model.audioAlone)
    throw invalid('content', 'audio needs an image or a video beside it');
  return { videos, count };
}

function checkWebUrl(url: string, field: string, reason: string): void {
  if (!/^(https?|asset):\/\/./.test(url)) throw invalid(field, reason);
}

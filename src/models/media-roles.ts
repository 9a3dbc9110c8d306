import { defined } from '../base/defined.ts';
import type { AskedVideo, InputType, VideoMedia, VideoRequest } from './request.ts';

/**
 * Decides what each image is for. An image without a role is a reference if the model accepts references, and the first
 * frame otherwise. Two images become first and last frame only if the caller says so.
 */
export function resolveRoles(
  asked: AskedVideo,
  takesReferences: boolean,
): { readonly request: VideoRequest; readonly named: Readonly<Record<string, string>> } {
  const { images, named, strict: _, ...rest } = asked;
  const open = takesReferences || images.length > 1 ? 'reference' : 'first_frame';
  const cast = images.map(({ url, role = open }, index) => ({ url, role, name: itemName(named, index) }));
  const first = cast.find(({ role }) => role === 'first_frame');
  const last = cast.find(({ role }) => role === 'last_frame');
  const references = cast.filter(({ role }) => role === 'reference');
  return {
    request: {
      ...rest,
      ...defined({ firstFrame: first?.url, lastFrame: last?.url }),
      references: references.map(({ url }) => url),
    },
    named: {
      ...named,
      input_type: named['input_type'] ?? mediaName(asked),
      references: named['images'] ?? 'images',
      ...Object.fromEntries(references.map(({ name }, index) => [`references[${index}]`, name])),
      ...defined({ first_frame: first?.name, last_frame: last?.name }),
    },
  };
}

function mediaName({ images, videos, audios, named }: AskedVideo): string {
  const isOther = images.length === 0 && videos.length + audios.length > 0;
  return isOther ? (videos.length > 0 ? 'videos' : 'audios') : (named['images'] ?? 'images');
}

function itemName(named: AskedVideo['named'], index: number): string {
  return named['images'] ?? `images[${index}]`;
}

const unsent: Readonly<Record<string, string>> = {
  first_frame: 'images',
  last_frame: 'images',
  references: 'images',
};

export function nameIn(named: AskedVideo['named'], param: string): string {
  const [, list = param, position = ''] = /^([^[]+)(\[.*)$/.exec(param) ?? [];
  const whole = named[list] ?? unsent[list];
  return named[param] ?? (whole === undefined ? param : `${whole}${whole === 'image' ? '' : position}`);
}

export function inputTypeOf({ firstFrame, references, videos, audios }: VideoMedia): InputType {
  if (firstFrame !== undefined) return 'first_last_frame';
  return references.length + videos.length + audios.length > 0 ? 'reference' : 'text_to_video';
}

export function imagesOf({ firstFrame, lastFrame, references }: VideoMedia): readonly string[] {
  return [...framesOf(defined({ firstFrame, lastFrame })), ...references];
}

export function framesOf({ firstFrame, lastFrame }: Pick<VideoMedia, 'firstFrame' | 'lastFrame'>): string[] {
  return [firstFrame, lastFrame].filter((frame) => frame !== undefined);
}

import { isRecord } from '../base/is-record.ts';
import { invalidParameter } from '../errors/errors.ts';
import { readMedia, type Medium } from './media.ts';

export interface Parts {
  readonly text: string;
  readonly media: readonly Medium[];
}

export function readParts(value: unknown, name: string): Parts {
  if (!Array.isArray(value)) throw invalidParameter(name, `The parameter ${name} must be an array.`);
  const parts = value.map((part: unknown, index) => readPart(part, `${name}[${index}]`));
  return {
    text: parts.flatMap(({ text }) => text ?? []).join('\n'),
    media: parts.flatMap(({ media }) => media),
  };
}

interface Part {
  readonly text?: string;
  readonly media: readonly Medium[];
}

function readPart(part: unknown, place: string): Part {
  const type = isRecord(part) ? part['type'] : undefined;
  if (isRecord(part) && type === 'text' && typeof part['text'] === 'string')
    return { text: part['text'], media: [] };
  if (type === 'image_url' || type === 'video_url' || type === 'audio_url') {
    const media = readMedia(part, { name: place, kind: 'image' });
    return { media: media.map((medium) => ({ ...medium, name: `${place}.${type}` })) };
  }
  throw invalidParameter(
    `${place}.type`,
    `The parameter ${place}.type must be text (with a text field), image_url, video_url or audio_url.`,
  );
}

export const messagesMax = 1_000;

/** Uses the user's last message. If it has no media, takes the media from the latest message that has some. */
export function readMessages(value: unknown, name: string): Parts {
  if (!Array.isArray(value) || value.length > messagesMax || !value.every(isRecord))
    throw invalidParameter(name, `The parameter ${name} must be an array of at most ${messagesMax} objects.`);
  const last = value.findLastIndex(({ role }) => role === 'user');
  const read = value.slice(0, last + 1).map((message, index) => readMessage(message, `${name}[${index}]`));
  const { text = '' } = read.at(-1) ?? {};
  return { text, media: read.findLast(({ media }) => media.length > 0)?.media ?? [] };
}

function readMessage(message: Readonly<Record<string, unknown>>, name: string): Parts {
  const { content, images } = message;
  const isText = content === undefined || content === null || typeof content === 'string';
  const { text, media } = isText ? { text: content ?? '', media: [] } : readParts(content, `${name}.content`);
  const earlier = Array.isArray(images) ? readMedia(images, { name: `${name}.images`, kind: 'image' }) : [];
  return { text, media: [...media, ...earlier] };
}

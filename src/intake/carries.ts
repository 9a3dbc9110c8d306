import { UploadedFile } from './uploaded-file.ts';

/**
 * Whether a field brings media or a file, or names an address. Such a field is never ignored: its caller would pay for
 * something else than what was asked for.
 */
export function carries(name: string, value: unknown): boolean {
  const isMedia = hasMediaName(name);
  const left: unknown[] = [value];
  for (let item = left.pop(); item !== undefined; item = left.pop()) {
    if (item instanceof UploadedFile) return true;
    if (typeof item === 'string' && (isAddress(item) || (isMedia && isWord(item)))) return true;
    if (typeof item === 'object' && item !== null) {
      const inner: unknown[] = Object.values(item);
      left.push(...inner.filter(isSaid));
    }
  }
  return false;
}

const isSaid = (value: unknown): boolean => value !== null && value !== undefined;

const mediaName =
  /(?:^|_)(?:images?|videos?|audios?|masks?|files?|pictures?|photos?|media|frames?|markup|ur[li]s?|webhooks?|callbacks?|file_ids?|b64|b64_json)(?:_?\d{1,3})?$/;

/** By its last word: `first_frame_image`, `imageUrl`, `image_2`, and not `image_size`. */
export function hasMediaName(name: string): boolean {
  const plain = name.replaceAll(/\[\w*\]/g, '').replaceAll(/([a-z\d])([A-Z])/g, '$1_$2');
  return mediaName.test(plain.toLowerCase().replaceAll(/[.-]/g, '_'));
}

/** A scheme, `//host`, or the id of a file. */
const address = /^\s*(?:[a-z][a-z\d+.-]{0,20}:\/\/|data:|\/\/[\w-]+\.|file[-_][\da-z]{8,64}$)/i;

function isAddress(text: string): boolean {
  return address.test(text.slice(0, 128)) || mediaTypeOfBase64(text) !== undefined;
}

/** `audio: "true"` and `frames: "81"` bring nothing. */
function isWord(text: string): boolean {
  return text.trim() !== '' && !/^\s*(?:true|false|none|auto|on|off|-?\d{1,9}(?:\.\d{1,6})?)\s*$/i.test(text);
}

const magics: readonly (readonly [start: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['R0lGOD', 'image/gif'],
];
const base64CharactersMin = 40;

/** Of base64 without a data URL around it, which some clients send; undefined: it is something else. */
export function mediaTypeOfBase64(text: string): string | undefined {
  const found = magics.find(([start]) => text.startsWith(start));
  const isData = text.length >= base64CharactersMin && /^[\w+/=-]+$/.test(text.slice(0, 128));
  return isData ? found?.[1] : undefined;
}

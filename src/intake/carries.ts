import { UploadedFile } from './uploaded-file.ts';

/**
 * Returns true for a field with media, a file, a URL or a destination. Ignoring such a field would charge the caller
 * for something other than what was requested.
 */
export function carries(name: string, value: unknown): boolean {
  const isNamed = hasMediaName(name) || destinationName.test(plainName(name));
  const left: unknown[] = [value];
  for (let item = left.pop(); item !== undefined; item = left.pop()) {
    if (item instanceof UploadedFile) return true;
    if (typeof item === 'string' && (isAddress(item) || (isNamed && isWord(item)))) return true;
    if (typeof item === 'object' && item !== null) {
      const inner: unknown[] = Object.values(item);
      left.push(...inner.filter(isSaid));
    }
  }
  return false;
}

export function isSaid(value: unknown): boolean {
  return value !== null && value !== undefined && value !== '';
}

const mediaName =
  /(?:^|_)(?:images?|videos?|audios?|masks?|files?|pictures?|photos?|media|frames?|markup|ur[li]s?|webhooks?|callbacks?|file_ids?|b64|b64_json)(?:_?\d{1,3})?$/;

const destinationName = /(?:^|_)(?:buckets?|destinations?|upload_to|save_to)$/;

/** Only the last word of a name counts: `imageUrl` and `image_2` refer to media, but `image_size` does not. */
export function hasMediaName(name: string): boolean {
  return mediaName.test(plainName(name));
}

/** Converts `outputBucket` and `output-bucket[0]` to `output_bucket`. */
function plainName(name: string): string {
  const words = name.replaceAll(/\[\w*\]/g, '').replaceAll(/([a-z\d])([A-Z])/g, '$1_$2');
  return words.toLowerCase().replaceAll(/[.-]/g, '_');
}

const address = /^\s*(?:[a-z][a-z\d+.-]{0,20}:\/\/|data:|\/\/[\w-]+\.|file[-_][\da-z]{8,64}$)/i;

function isAddress(text: string): boolean {
  return address.test(text.slice(0, 128)) || mediaTypeOfBase64(text) !== undefined;
}

/** Returns false for flags and numbers, such as `audio: "true"` or `frames: "81"`, which do not refer to media. */
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

/** Returns the media type of bare base64, which some clients send instead of a data URL. */
export function mediaTypeOfBase64(text: string): string | undefined {
  const found = magics.find(([start]) => text.startsWith(start));
  const isData = text.length >= base64CharactersMin && /^[\w+/=-]+$/.test(text.slice(0, 128));
  return isData ? found?.[1] : undefined;
}

import { isIP } from 'node:net';
import type { RunwayBody } from './runway-body.ts';
import { badAsset } from './runway-error.ts';

const urlCharsMax = 2048;
const megabyte = 1024 * 1024;
const dataBytesMax = { image: 5 * megabyte, video: 16 * megabyte, audio: 16 * megabyte } as const;
const types = {
  image: /^image\/(?:jpeg|jpg|png|webp)$/,
  video: /^video\/(?:mp4|webm|quicktime)$/,
  audio: /^audio\/[\w.+-]+$/,
} as const;
type Kind = keyof typeof types;

/** Checks the addresses of a body as the vendor does before it fetches them; the files are never fetched here. */
export function checkRunwayAssets(body: RunwayBody): void {
  const images =
    typeof body.promptImage === 'string' ? [{ uri: body.promptImage }] : (body.promptImage ?? []);
  const lists: readonly (readonly [field: string, kind: Kind, items: readonly { readonly uri: string }[]])[] =
    [
      ['promptImage', 'image', images],
      ['references', 'image', body.references ?? []],
      ['referenceImages', 'image', body.referenceImages ?? []],
      ['keyframes', 'image', body.keyframes ?? []],
      ['promptVideo', 'video', body.promptVideo === undefined ? [] : [{ uri: body.promptVideo }]],
      ['videoUri', 'video', body.videoUri === undefined ? [] : [{ uri: body.videoUri }]],
      ['referenceVideos', 'video', body.referenceVideos ?? []],
      ['referenceAudio', 'audio', body.referenceAudio ?? []],
    ];
  for (const [field, kind, items] of lists) for (const { uri } of items) checkAsset(field, kind, uri);
}

/** @throws {RunwayError} 400 in the vendor's words for the address. */
function checkAsset(field: string, kind: Kind, uri: string): void {
  if (uri.startsWith('runway://')) return;
  if (uri.startsWith('data:')) {
    checkData(field, kind, uri);
    return;
  }
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url?.protocol !== 'https:') throw badAsset(field, 'Only HTTPS URLs are allowed.');
  if (uri.length > urlCharsMax) throw badAsset(field, `URLs have at most ${urlCharsMax} characters.`);
  if (isIP(url.hostname.replaceAll(/[[\]]/g, '')) !== 0)
    throw badAsset(field, 'URLs must have a domain name, not an IP address.');
}

function checkData(field: string, kind: Kind, uri: string): void {
  const comma = uri.indexOf(',');
  const [type = '', ...parameters] = uri.slice('data:'.length, Math.max(0, comma)).split(';');
  const encoded = uri.slice(comma + 1);
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded);
  if (comma < 0 || !parameters.includes('base64') || !isBase64) throw badAsset(field, 'Invalid data URI.');
  if (!types[kind].test(type)) throw badAsset(field, `Unsupported asset type ${type}.`);
  // "a data URI of 5 MB": of the text, not of what it encodes.
  if (uri.length > dataBytesMax[kind]) throw badAsset(field, 'The data URI is too large.');
}

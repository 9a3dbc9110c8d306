import { open } from 'node:fs/promises';
import type { ImageInput } from '../models/request.ts';
import { inspectedBytesMax, inspectImage, type ImageFacts } from './inspect-image.ts';

/** Completes a sentence that begins with "The parameter image". */
export interface Refused {
  readonly refused: string;
}

export interface ImageFileSource {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
}

type FileInput = Extract<ImageInput, { form: 'file' }>;
type DataInput = Extract<ImageInput, { form: 'data' }>;

const dataUrlPattern = /^data:([a-z0-9.+/-]{0,64})((?:;[a-z0-9=._-]{1,64}){0,4});base64,/i;
const notAnImage = 'must be a PNG, JPEG, WebP or GIF image';

export async function readImageFile(
  source: ImageFileSource,
  pixelsMax: number,
): Promise<FileInput | Refused> {
  const file = await open(source.path, 'r');
  let facts: ImageFacts | undefined;
  try {
    const head = Buffer.alloc(Math.min(source.bytes, inspectedBytesMax));
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    facts = inspectImage(head.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
  const refused = judge(facts, pixelsMax);
  if (facts === undefined || refused !== undefined) return { refused: refused ?? notAnImage };
  return { form: 'file', mediaType: facts.mediaType, ...source, name: fileName(source.name, facts) };
}

export function readDataUrl(text: string, pixelsMax: number): DataInput | Refused {
  const prefix = dataUrlPattern.exec(text.slice(0, 400))?.[0];
  if (prefix === undefined) return { refused: 'must be data:image/<type>;base64,<data>' };
  const base64 = text.slice(prefix.length);
  if (!isBase64(base64)) return { refused: 'is not valid base64' };
  const headCharacters = Math.ceil(inspectedBytesMax / 3) * 4;
  const facts = inspectImage(Buffer.from(base64.slice(0, headCharacters), 'base64'));
  const refused = judge(facts, pixelsMax);
  if (facts === undefined || refused !== undefined) return { refused: refused ?? notAnImage };
  return { form: 'data', mediaType: facts.mediaType, base64 };
}

function judge(facts: ImageFacts | undefined, pixelsMax: number): string | undefined {
  if (facts === undefined) return notAnImage;
  const { width, height } = facts;
  return width * height > pixelsMax
    ? `has ${width} x ${height} pixels; at most ${pixelsMax} are accepted`
    : undefined;
}

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 !== 1 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

/** Returns a name of plain characters, with an extension that matches the bytes. */
function fileName(name: string, { mediaType }: ImageFacts): string {
  const stem = name.replace(/\.[^.]*$/, '').replace(/[^A-Za-z0-9_-]+/g, '_');
  const extension = mediaType === 'image/jpeg' ? 'jpg' : mediaType.slice('image/'.length);
  return `${stem === '' ? 'image' : stem.slice(0, 64)}.${extension}`;
}

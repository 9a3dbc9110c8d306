import { isRecord } from '../../base/is-record.ts';
import type { ImageInput } from '../../models/request.ts';
import { FileDataUrl, type OutgoingJson, type OutgoingObject } from '../shared/file-data-url.ts';
import { imageAddress, imageBase64, imageFile, withoutDataHead } from '../shared/image-input.ts';
import type { ImageFile } from '../shared/image-input.ts';
import { LargeText } from '../shared/large-json.ts';

/**
 * Keeps media and large texts out of expressions. Each is represented by a mark, which is replaced in the expression's
 * result. A caller who forges a mark can only reach media of the same request.
 */

export interface SeenMedium {
  readonly url: string;
  readonly is_data: boolean;
  readonly media_type?: string;
  readonly base64?: string;
  readonly file?: string;
}

type Form = 'url' | 'base64' | 'file';

interface Marked {
  readonly url: OutgoingJson;
  readonly base64: OutgoingJson;
  readonly file: () => Promise<ImageFile>;
}

const markPattern = /^\ue000(\d{1,4}):(url|base64|file)$/;

export interface MediaMarks {
  readonly image: (image: ImageInput) => SeenMedium;
  readonly address: (url: string) => SeenMedium;
  readonly unmarked: (value: unknown) => OutgoingJson;
  readonly part: (value: string) => Promise<ImageFile | undefined>;
}

export function createMediaMarks(): MediaMarks {
  const media: Marked[] = [];

  const image = (given: ImageInput): SeenMedium => {
    if (given.form === 'url') return { url: given.url, is_data: false };
    const index = media.length;
    const mark = (form: Form): string => `\ue000${index}:${form}`;
    media.push({ url: imageAddress(given), base64: imageBase64(given), file: () => imageFile(given) });
    return {
      url: mark('url'),
      is_data: true,
      media_type: given.mediaType,
      base64: mark('base64'),
      file: mark('file'),
    };
  };

  const marked = (text: string): { medium: Marked; form: string } | undefined => {
    const [, index, form = ''] = markPattern.exec(text) ?? [];
    const medium = index === undefined ? undefined : media[Number(index)];
    return medium === undefined ? undefined : { medium, form };
  };

  const unmarked = (value: unknown): OutgoingJson => {
    if (typeof value === 'string') {
      const { medium, form } = marked(value) ?? {};
      return medium === undefined ? value : form === 'url' ? medium.url : medium.base64;
    }
    if (typeof value === 'number' || typeof value === 'boolean') return value;
    if (Array.isArray(value)) return value.map(unmarked);
    return isRecord(value) ? mapped(value, unmarked) : null;
  };

  return {
    image,
    address: (url) => {
      const mediaType = /^data:([^;,]+)/i.exec(url)?.[1];
      if (mediaType === undefined) return { url, is_data: false };
      return image({ form: 'data', mediaType, base64: withoutDataHead(url) });
    },
    unmarked,
    part: async (value) => {
      const { medium, form } = marked(value) ?? {};
      return form === 'file' ? medium?.file() : undefined;
    },
  };
}

function mapped(
  value: Readonly<Record<string, unknown>>,
  change: (each: unknown) => OutgoingJson,
): OutgoingObject {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each)]));
}

const depthMax = 50;

export function markLargeTexts(answer: unknown): {
  readonly value: unknown;
  readonly large: (text: string | undefined) => LargeText | string | undefined;
} {
  const texts: LargeText[] = [];
  const walk = (value: unknown, depth: number): unknown => {
    if (value instanceof LargeText) return `\ue000${texts.push(value) - 1}:base64`;
    if (typeof value !== 'object' || value === null) return value;
    if (depth === 0) return undefined;
    if (Array.isArray(value)) return value.map((each) => walk(each, depth - 1));
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, walk(each, depth - 1)]));
  };
  return {
    value: walk(answer, depthMax),
    large: (text) => {
      const index = markPattern.exec(text ?? '')?.[1];
      return index === undefined ? text : (texts[Number(index)] ?? text);
    },
  };
}

export function hasFiles(value: OutgoingJson | undefined): boolean {
  if (value instanceof FileDataUrl) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some((each) => hasFiles(each));
}

import { defined } from '../../base/defined.ts';
import { z } from 'zod';
import type { Delivery } from '../../images/call-channel.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import type { Base64Blob, GeneratedImage } from '../../providers/provider.ts';
import type { GatewayError } from '../../errors/errors.ts';
import type { BodyPart } from '../route.ts';
import { factsOfEvent, type ImageStreamPresenter } from './image-event.ts';
import { imageUsageSchema, presentImageUsage } from './image-usage.ts';
import { unixSeconds } from './unix-seconds.ts';

export const imageAnswerSchema = z
  .object({
    created: z.int().meta({ description: 'Unix seconds.' }),
    data: z.array(
      z.object({
        url: z.string().optional(),
        b64_json: z.string().optional(),
        expires_at: unixSeconds('The link works until this time.').optional(),
      }),
    ),
    usage: imageUsageSchema,
    background: z.string().optional(),
    output_format: z.string().optional(),
    quality: z.string().optional(),
    size: z.string().optional(),
    warnings: z.array(z.string()).optional().meta({ description: 'The names of ignored fields.' }),
  })
  .meta({ id: 'Images' });

export interface Images extends Pick<Delivery, 'images' | 'extra'> {
  readonly facts: Pick<SettleFacts, 'usage'>;
}

export interface ImageAnswerFacts {
  readonly createdSeconds: number;
  readonly warnings: readonly string[];
}

/** Writes responses in one API's format. Stored responses are replayed exactly as they were sent. */
export interface ImagePresenter {
  /** Returns text in parts, so that the upstream's base64 is passed through unchanged. */
  readonly images: (made: Images, about: ImageAnswerFacts) => BodyPart[];
  readonly error: (error: GatewayError) => object;
  /** If set, the response is a stream, and `images` returns all of its events together. */
  readonly stream?: ImageStreamPresenter;
}

export function streamingPresenter(
  stream: ImageStreamPresenter,
  error: ImagePresenter['error'],
): ImagePresenter {
  return {
    error,
    stream,
    images: ({ images, facts }, { createdSeconds, warnings }) => {
      const all = { createdSeconds, facts, warnings };
      const events = images.map(({ base64, size, ...image }, index) => {
        const mediaType = base64 === undefined ? undefined : imageTypeOf(base64);
        const about = factsOfEvent(all, index === images.length - 1);
        const event = stream.image({ index, mediaType, link: presentLink(image), size }, about);
        return [event.before, ...(base64 === undefined ? [] : escaped(base64)), event.after];
      });
      return mergeText([...events.flat(), stream.end(images.length, all)]);
    },
  };
}

export function presentImages(
  { images, facts, extra }: Images,
  { createdSeconds, warnings }: ImageAnswerFacts,
): BodyPart[] {
  // Do not let the upstream overwrite our own fields.
  const { created: _created, data: _data, warnings: _warnings, usage: reported, ...rest } = extra;
  const usage = presentImageUsage(facts, reported);
  const tail = JSON.stringify({ usage, ...rest, ...presentWarnings(warnings) }).slice(1);
  return mergeText([
    `{"created":${createdSeconds},"data":`,
    ...arrayOf(images.map(presentImage)),
    `,${tail}`,
  ]);
}

export function arrayOf(items: readonly (readonly BodyPart[])[]): BodyPart[] {
  return ['[', ...items.flatMap((item, index) => (index === 0 ? item : [',', ...item])), ']'];
}

export function presentWarnings(warnings: readonly string[]): { warnings?: string[] } {
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}

export function presentLink({ url, expiresAt }: GeneratedImage): { url?: string; expires_at?: number } {
  return defined({ url, expires_at: expiresAt });
}

function presentImage({ base64, ...image }: GeneratedImage): BodyPart[] {
  return withData(presentLink(image), 'b64_json', { base64 });
}

export function withData(
  fields: object,
  name: string,
  {
    base64,
    prefix = '',
  }: { readonly base64: GeneratedImage['base64'] | undefined; readonly prefix?: string },
): BodyPart[] {
  if (base64 === undefined) return [JSON.stringify(fields)];
  const head = JSON.stringify(fields).slice(0, -1);
  return [`${head}${head === '{' ? '' : ','}"${name}":"${prefix}`, ...escaped(base64), '"}'];
}

function escaped(text: string | Base64Blob): readonly BodyPart[] {
  if (typeof text !== 'string' && text.verbatim) return text.chunks;
  return [JSON.stringify(text.toString()).slice(1, -1)];
}

const imageTypes = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['R0lGOD', 'image/gif'],
] as const;

export function imageTypeOf(base64: string | Base64Blob): string {
  return imageTypeOfHead(typeof base64 === 'string' ? base64 : (base64.chunks[0] ?? ''));
}

export function imageTypeOfHead(base64: string | Uint8Array): string {
  const head = typeof base64 === 'string' ? base64 : Buffer.from(base64).toString('latin1', 0, 16);
  return imageTypes.find(([start]) => head.startsWith(start))?.[1] ?? 'image/png';
}

/** Joins neighbouring texts, because every part costs a separate write. */
export function mergeText(parts: readonly BodyPart[]): BodyPart[] {
  const merged: BodyPart[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part;
    else merged.push(part);
  }
  return merged;
}

import { defined } from '../../base/defined.ts';
import { z } from 'zod';
import type { Delivery } from '../../images/call-channel.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import type { Base64Blob, GeneratedImage } from '../../providers/provider.ts';
import type { BodyPart } from '../route.ts';
import { imageUsageSchema, presentImageUsage } from './image-usage.ts';
import { unixSeconds } from './unix-seconds.ts';

export const imageAnswerSchema = z
  .object({
    created: z.int().meta({ description: 'Unix seconds.' }),
    data: z.array(
      z.object({
        url: z.string().optional(),
        b64_json: z.string().optional(),
        expires_at: unixSeconds('Until then the link works.').optional(),
      }),
    ),
    usage: imageUsageSchema,
    background: z.string().optional(),
    output_format: z.string().optional(),
    quality: z.string().optional(),
    size: z.string().optional(),
    warnings: z.array(z.string()).optional().meta({ description: 'Names of the fields that were ignored.' }),
  })
  .meta({ id: 'Images' });

export interface Images extends Pick<Delivery, 'images' | 'extra'> {
  readonly facts: Pick<SettleFacts, 'usage'>;
}

export interface ImageAnswerFacts {
  readonly createdSeconds: number;
  /** Fields of the request; not written where there are none. */
  readonly warnings: readonly string[];
}

/** The synchronous answer as JSON text in parts: base64 goes from the upstream's bytes to the caller's. */
export function presentImages(
  { images, facts, extra }: Images,
  { createdSeconds, warnings }: ImageAnswerFacts,
): BodyPart[] {
  const parts: BodyPart[] = [`{"created":${createdSeconds},"data":[`];
  for (const [index, image] of images.entries()) {
    if (index > 0) parts.push(',');
    parts.push(...presentImage(image));
  }
  // Ours are not theirs to overwrite.
  const { created: _created, data: _data, warnings: _warnings, usage: reported, ...rest } = extra;
  const usage = presentImageUsage(facts, reported);
  parts.push(`],${JSON.stringify({ usage, ...rest, ...presentWarnings(warnings) }).slice(1)}`);
  return mergeText(parts);
}

/** Absent where there are none. */
export function presentWarnings(warnings: readonly string[]): { warnings?: string[] } {
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}

function presentImage({ url, base64, expiresAt }: GeneratedImage): BodyPart[] {
  const link = defined({ url, expires_at: expiresAt });
  if (base64 === undefined) return [JSON.stringify(link)];
  const rest = JSON.stringify(link).slice(1);
  return ['{"b64_json":', ...quoted(base64), rest === '}' ? '}' : `,${rest}`];
}

function quoted(text: string | Base64Blob): BodyPart[] {
  if (typeof text === 'string') return [JSON.stringify(text)];
  return text.verbatim ? ['"', ...text.chunks, '"'] : [JSON.stringify(text.toString())];
}

/** Neighbouring texts become one: each part is a write. */
function mergeText(parts: readonly BodyPart[]): BodyPart[] {
  const merged: BodyPart[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part;
    else merged.push(part);
  }
  return merged;
}

import { z } from 'zod';
import type { SettleFacts } from '../../money/settle-facts.ts';
import type { ImageRequest } from '../../models/request.ts';
import type { GatewayError } from '../../errors/errors.ts';
import { presentError } from '../error-response.ts';
import type { presentLink } from './image.ts';
import { imageUsageSchema, presentImageUsage } from './image-usage.ts';

/** If the event contains data, its base64 is written between `before` and `after`. */
export interface StreamEvent {
  readonly before: string;
  readonly after: string;
}

export interface EventFacts {
  readonly createdSeconds: number;
  /**
   * The total usage for all images. Only the last image's event includes it, so clients can sum usage over the events
   * without double-counting.
   */
  readonly facts: Pick<SettleFacts, 'usage'>;
  readonly warnings: readonly string[];
}

export interface StreamedImage {
  readonly index: number;
  readonly mediaType: string | undefined;
  readonly link: ReturnType<typeof presentLink>;
  readonly size?: string | undefined;
}

export interface ImageStreamPresenter {
  readonly partial?: (index: number, createdSeconds: number) => StreamEvent;
  readonly image: (image: StreamedImage, about: EventFacts) => StreamEvent;
  readonly end: (images: number, about: EventFacts) => string;
  readonly error: (error: GatewayError) => string;
}

export function factsOfEvent(all: EventFacts, isLast: boolean): EventFacts {
  return isLast ? all : { ...all, facts: {}, warnings: [] };
}

/** OpenAI's events, with an additional `url` if links were requested. */
export const imageEventSchema = z
  .object({
    type: z.enum([
      'image_generation.partial_image',
      'image_generation.completed',
      'image_edit.partial_image',
      'image_edit.completed',
      'error',
    ]),
    b64_json: z.string().optional(),
    url: z.string().optional(),
    partial_image_index: z.int().optional(),
    usage: imageUsageSchema.optional(),
  })
  .loose()
  .meta({ id: 'ImageEvent' });

const eventPrefix = {
  generate: 'image_generation',
  edit: 'image_edit',
} as const satisfies Record<ImageRequest['operation'], string>;

export function openaiStream(
  operation: ImageRequest['operation'],
  asked: Readonly<Record<string, unknown>>,
): ImageStreamPresenter {
  const prefix = eventPrefix[operation];
  const { background = 'auto', output_format = 'png', quality = 'auto', size = 'auto' } = asked;
  const about = { background, output_format, quality, size };
  return {
    partial: (partial_image_index, created_at) =>
      imageEvent(`${prefix}.partial_image`, { created_at, ...about, partial_image_index }, true),
    image({ link, mediaType }, { createdSeconds: created_at, facts }) {
      const isData = mediaType !== undefined;
      const fields = { created_at, ...about, ...(isData ? {} : link), usage: presentImageUsage(facts) };
      return imageEvent(`${prefix}.completed`, fields, isData);
    },
    end: () => '',
    error: presentErrorEvent,
  };
}

export function presentErrorEvent(error: GatewayError): string {
  return textEvent('error', presentError(error));
}

export function textEvent(type: string, fields: object): string {
  const { before, after } = imageEvent(type, fields, false);
  return before + after;
}

export function imageEvent(type: string, fields: object, isData: boolean): StreamEvent {
  const text = JSON.stringify({ type, ...fields });
  const start = `event: ${type}\ndata: `;
  return isData
    ? { before: `${start}${text.slice(0, -1)},"b64_json":"`, after: '"}\n\n' }
    : { before: `${start}${text}`, after: '\n\n' };
}

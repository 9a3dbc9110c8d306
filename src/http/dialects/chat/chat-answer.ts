import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { GeneratedImage } from '../../../providers/provider.ts';
import { eventStreamType } from '../../event-stream.ts';
import { arrayOf, imageTypeOf, mergeText, presentWarnings, withData } from '../../presenters/image.ts';
import type { ImagePresenter } from '../../presenters/image.ts';
import { chatUsageSchema, presentChatUsage } from '../../presenters/image-usage.ts';
import type { BodyPart } from '../../route.ts';

const image = z.object({
  type: z.literal('image_url'),
  image_url: z.object({ url: z.string().meta({ description: 'A data URL, or a link.' }) }),
});

/** Source: OpenRouter's client (@openrouter/sdk 1.3.19, `models/chatresult.ts`). */
export const chatAnswerSchema = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int().meta({ description: 'Unix seconds.' }),
    model: z.string(),
    system_fingerprint: z.null(),
    choices: z.array(
      z.object({
        index: z.int(),
        finish_reason: z.literal('stop'),
        message: z.object({ role: z.literal('assistant'), content: z.string(), images: z.array(image) }),
      }),
    ),
    usage: chatUsageSchema,
    warnings: z.array(z.string()).optional().meta({ description: 'Names of the fields that were ignored.' }),
  })
  .meta({ id: 'ChatCompletion' });

interface Asked {
  readonly model: string;
  readonly isStream: boolean;
}

/** Presents the images as a message of the assistant. A stream sends them in one event. */
export function chatPresenter({ model, isStream }: Asked, error: ImagePresenter['error']): ImagePresenter {
  const object = isStream ? 'chat.completion.chunk' : 'chat.completion';
  return {
    error,
    ...(isStream ? { mediaType: eventStreamType } : {}),
    images({ images, facts }, { createdSeconds: created, warnings }) {
      const head = { id: `chatcmpl-${randomUUID()}`, object, created, model, system_fingerprint: null };
      const tail = JSON.stringify({ usage: presentChatUsage(facts), ...presentWarnings(warnings) }).slice(1);
      const start = JSON.stringify(head).slice(0, -1);
      const said = [`{"role":"assistant","content":"","images":`, ...arrayOf(images.map(presentImage)), '}'];
      if (!isStream)
        return mergeText([
          `${start},"choices":[{"index":0,"finish_reason":"stop","message":`,
          ...said,
          `}],${tail}`,
        ]);
      return mergeText([
        `data: ${start},"choices":[{"index":0,"finish_reason":null,"delta":`,
        ...said,
        `}]}\n\ndata: ${start},"choices":[{"index":0,"finish_reason":"stop","delta":{}}],${tail}\n\n`,
        'data: [DONE]\n\n',
      ]);
    },
  };
}

function presentImage({ url, base64 }: GeneratedImage): BodyPart[] {
  const address =
    base64 === undefined
      ? [JSON.stringify({ url })]
      : withData({}, 'url', { base64, prefix: `data:${imageTypeOf(base64)};base64,` });
  return [`{"type":"image_url","image_url":`, ...address, '}'];
}

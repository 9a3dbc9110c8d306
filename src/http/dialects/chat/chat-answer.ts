import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { GeneratedImage } from '../../../providers/provider.ts';
import { arrayOf, imageTypeOf, mergeText, presentWarnings, withData } from '../../presenters/image.ts';
import type { ImagePresenter } from '../../presenters/image.ts';
import { chatUsageSchema, presentChatUsage } from '../../presenters/image-usage.ts';
import type { ImageStreamPresenter } from '../../presenters/image-event.ts';
import { toSeconds } from '../../presenters/unix-seconds.ts';
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
    warnings: z.array(z.string()).optional().meta({ description: 'The names of ignored fields.' }),
  })
  .meta({ id: 'ChatCompletion' });

/** Source: OpenRouter's client (`models/chatstreamchunk.ts`). The error field follows openai-node 7.55.0. */
export const chatChunkSchema = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion.chunk'),
    created: z.int().meta({ description: 'Unix seconds.' }),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        finish_reason: z.enum(['stop', 'error']).nullable(),
        delta: z.object({
          role: z.literal('assistant').optional(),
          content: z.string().optional(),
          images: z.array(image.extend({ index: z.int() })).optional(),
        }),
      }),
    ),
    usage: chatUsageSchema.optional(),
    warnings: z.array(z.string()).optional(),
    error: z.unknown().optional().meta({
      description: 'Present if the request failed. It has the same format as this API’s error responses.',
    }),
  })
  .meta({ id: 'ChatCompletionChunk' });

export function chatPresenter(model: string, error: ImagePresenter['error']): ImagePresenter {
  return {
    error,
    images({ images, facts }, { createdSeconds, warnings }) {
      const head = { id: newId(), object: 'chat.completion', created: createdSeconds, model };
      const start = JSON.stringify({ ...head, system_fingerprint: null }).slice(0, -1);
      const tail = JSON.stringify({ usage: presentChatUsage(facts), ...presentWarnings(warnings) }).slice(1);
      return mergeText([
        `${start},"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"","images":`,
        ...arrayOf(images.map(presentImage)),
        `}}],${tail}`,
      ]);
    },
  };
}

export function chatStream(
  model: string,
  presentError: ImagePresenter['error'],
  now: () => number,
): ImageStreamPresenter {
  const id = newId();
  const chunk = (created: number, choice: object, more: object = {}): string => {
    const head = { id, object: 'chat.completion.chunk', created, model };
    return `data: ${JSON.stringify({ ...head, choices: [{ index: 0, ...choice }], ...more })}\n\n`;
  };
  const done = 'data: [DONE]\n\n';
  return {
    image({ index, mediaType, link: { url = '' } }, { createdSeconds }) {
      // Keep `url` last in the event, because the base64 is inserted there.
      const images = [{ type: 'image_url', index, image_url: { url: mediaType === undefined ? url : '' } }];
      const delta = { role: 'assistant', content: '', images };
      const text = chunk(createdSeconds, { finish_reason: null, delta });
      if (mediaType === undefined) return { before: text, after: '' };
      const at = text.lastIndexOf('""') + 1;
      return { before: `${text.slice(0, at)}data:${mediaType};base64,`, after: text.slice(at) };
    },
    end(_images, { createdSeconds, facts, warnings }) {
      const more = { usage: presentChatUsage(facts), ...presentWarnings(warnings) };
      return chunk(createdSeconds, { finish_reason: 'stop', delta: {} }, more) + done;
    },
    error: (error) =>
      chunk(toSeconds(now()), { finish_reason: 'error', delta: { content: '' } }, presentError(error)) + done,
  };
}

function newId(): string {
  return `chatcmpl-${randomUUID()}`;
}

function presentImage({ url, base64 }: GeneratedImage): BodyPart[] {
  const address =
    base64 === undefined
      ? [JSON.stringify({ url })]
      : withData({}, 'url', { base64, prefix: `data:${imageTypeOf(base64)};base64,` });
  return [`{"type":"image_url","image_url":`, ...address, '}'];
}

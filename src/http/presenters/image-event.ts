import { z } from 'zod';
import type { BodyPart } from '../route.ts';
import { imageUsageSchema } from './image-usage.ts';

/** For the document; the events of OpenAI's streams of images, with `url` where links were asked for. */
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

/** One event. `data`: base64 for its `b64_json`. */
export async function* presentStreamEvent(
  type: string,
  fields: object,
  data?: Iterable<BodyPart> | AsyncIterable<BodyPart>,
): AsyncGenerator<BodyPart> {
  const text = JSON.stringify({ type, ...fields });
  if (data === undefined) {
    yield `event: ${type}\ndata: ${text}\n\n`;
    return;
  }
  yield `event: ${type}\ndata: ${text.slice(0, -1)},"b64_json":"`;
  for await (const piece of data) yield piece;
  yield '"}\n\n';
}

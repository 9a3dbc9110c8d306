import { z } from 'zod';
import type { ImageContext } from '../provider.ts';
import { LargeText } from './large-json.ts';

/**
 * Events are called `image_generation.partial_image` and `image_generation.completed`, or `image_edit.…` for edits.
 * Source: the streaming events reference.
 */

const eventSchema = z.looseObject({
  type: z.string().catch(''),
  b64_json: z
    .union([z.instanceof(LargeText), z.string()])
    .optional()
    .catch(undefined),
  error: z.unknown().optional(),
});
type Event = z.output<typeof eventSchema>;

export function createStreamedImages(onPartial: ImageContext['onPartial']) {
  const completed: Event[] = [];
  let error: unknown;
  return {
    onEvent: (raw: unknown): void => {
      const event = eventSchema.safeParse(raw).data;
      if (event === undefined) return;
      if (event.error !== undefined) error = event.error;
      if (event.type.endsWith('.completed')) completed.push(event);
      if (event.type.endsWith('.partial_image') && event.b64_json !== undefined) onPartial?.(event.b64_json);
    },

    answer(): object | undefined {
      const [first] = completed;
      if (first === undefined) return error === undefined ? undefined : { error };
      const { type: _type, b64_json: _data, created_at: created, ...about } = first;
      const { usage } = completed.at(-1) ?? first;
      return {
        ...about,
        created,
        usage,
        data: completed.map(({ b64_json, size, quality }) => ({ b64_json, size, quality })),
      };
    },
  };
}

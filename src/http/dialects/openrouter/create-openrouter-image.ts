import { z } from 'zod';
import { imageFields, namesOf } from '../../../intake/names.ts';
import { documentedWaitingBody, understandImage } from '../../images/image-body.ts';
import { imageEvent, presentErrorEvent, type ImageStreamPresenter } from '../../presenters/image-event.ts';
import { arrayOf, imageTypeOf, mergeText, presentWarnings, withData } from '../../presenters/image.ts';
import type { ImagePresenter } from '../../presenters/image.ts';
import { chatUsageSchema, presentChatUsage } from '../../presenters/image-usage.ts';
import type { Route } from '../../route.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { refusedWithoutTasks, waitingImageRoute } from '../waiting-image-route.ts';
import { openrouterDialect, presentOpenrouterError } from './openrouter-dialect.ts';

/** Source: the official client (@openrouter/sdk 1.3.19, `models/imagegenerationresponse.ts`). */
const answerSchema = z
  .object({
    created: z.int().meta({ description: 'Unix seconds.' }),
    data: z.array(z.object({ b64_json: z.string(), media_type: z.string() })),
    usage: chatUsageSchema,
    warnings: z.array(z.string()).optional().meta({ description: 'The names of ignored fields.' }),
  })
  .meta({ id: 'OpenrouterImages' });

/** Source: the official client (@openrouter/sdk 1.3.19, `models/imagestreamingresponse.ts`). */
const eventSchema = z
  .object({
    type: z.enum(['image_generation.partial_image', 'image_generation.completed', 'error']),
    created: z.int().optional().meta({ description: 'Unix seconds.' }),
    b64_json: z.string().optional(),
    media_type: z.string().optional(),
    partial_image_index: z.int().optional(),
    usage: chatUsageSchema.optional(),
  })
  .loose()
  .meta({ id: 'OpenrouterImageEvent' });

const names = namesOf(
  { prefix: '', others: 'body' },
  refusedWithoutTasks,
  { resolution: 'size' },
  imageFields,
);

export function createOpenrouterImage(deps: DialectDeps): Route {
  return waitingImageRoute(
    {
      operationId: 'createOpenrouterImage',
      summary: 'Generate images',
      description:
        'Waits up to ten minutes for the images. If you send `stream: true`, the response is a stream of events.',
      dialect: openrouterDialect,
      paths: ['/api/v1/images'],
      documentedBody: documentedWaitingBody(deps.images.vendorFields, true),
      success: {
        description: 'The images.',
        schema: answerSchema,
        event: eventSchema,
      },
      read(body) {
        const asked = understandImage(body, names, { response_format: 'b64_json' });
        return { asked, presenter, stream };
      },
    },
    deps,
  );
}

const presenter: ImagePresenter = {
  error: presentOpenrouterError,
  images({ images, facts }, { createdSeconds, warnings }) {
    const data = images.map(({ url, base64 }) =>
      withData(base64 === undefined ? { url } : { media_type: imageTypeOf(base64) }, 'b64_json', { base64 }),
    );
    const tail = JSON.stringify({ usage: presentChatUsage(facts), ...presentWarnings(warnings) }).slice(1);
    return mergeText([`{"created":${createdSeconds},"data":`, ...arrayOf(data), `,${tail}`]);
  },
};

const stream: ImageStreamPresenter = {
  partial: (partial_image_index) =>
    imageEvent('image_generation.partial_image', { partial_image_index }, true),
  image({ mediaType: media_type, link }, { createdSeconds: created, facts, warnings }) {
    const isData = media_type !== undefined;
    const form = isData ? { media_type } : link;
    const fields = { created, ...form, usage: presentChatUsage(facts), ...presentWarnings(warnings) };
    return imageEvent('image_generation.completed', fields, isData);
  },
  end: () => 'data: [DONE]\n\n',
  error: presentErrorEvent,
};

import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import { imageFields, namesOf } from '../../../intake/names.ts';
import { documentedWaitingBody, understandImage } from '../../images/image-body.ts';
import { imageEvent, textEvent } from '../../presenters/image-event.ts';
import type { EventFacts, ImageStreamPresenter } from '../../presenters/image-event.ts';
import { arrayOf, mergeText, presentWarnings, withData } from '../../presenters/image.ts';
import type { ImagePresenter } from '../../presenters/image.ts';
import { presentImageUsage } from '../../presenters/image-usage.ts';
import type { Route } from '../../route.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { refusedWithoutPartials, refusedWithoutTasks, waitingImageRoute } from '../waiting-image-route.ts';
import { arkDialect, presentArkError } from './ark-dialect.ts';

const usageSchema = z.object({
  generated_images: z.int(),
  output_tokens: z.number(),
  total_tokens: z.number(),
});

/** Source: volcengine-go-sdk@cf20b61b, `service/arkruntime/model/images.go`. */
const answerSchema = z
  .object({
    model: z.string(),
    created: z.int().meta({ description: 'Unix seconds.' }),
    data: z.array(
      z.object({ url: z.string().optional(), b64_json: z.string().optional(), size: z.string().optional() }),
    ),
    usage: usageSchema,
    warnings: z.array(z.string()).optional().meta({ description: 'The names of ignored fields.' }),
  })
  .meta({ id: 'ArkImages' });

/** Source: volcengine-python-sdk, `types/images/image_gen_stream_event.py`, and Ark's guide to streaming output. */
const eventSchema = z
  .object({
    type: z.enum(['image_generation.partial_succeeded', 'image_generation.completed', 'error']),
    model: z.string().optional(),
    created: z.int().optional().meta({ description: 'Unix seconds.' }),
    image_index: z.int().optional(),
    url: z.string().optional(),
    b64_json: z.string().optional(),
    size: z.string().optional(),
    usage: usageSchema.optional(),
  })
  .loose()
  .meta({ id: 'ArkImageEvent' });

const names = namesOf(
  { prefix: '', others: 'body' },
  refusedWithoutTasks,
  refusedWithoutPartials,
  imageFields,
);

export function createArkImage(deps: DialectDeps): Route {
  return waitingImageRoute(
    {
      operationId: 'createArkImage',
      summary: 'Generate images',
      description:
        'Waits up to ten minutes for the images. Returns links unless you request `b64_json`. If you send `stream: true`, the response is a stream of events.',
      dialect: arkDialect,
      paths: ['/api/v3/images/generations'],
      documentedBody: documentedWaitingBody(deps.images.vendorFields, false),
      success: {
        description: 'The images.',
        schema: answerSchema,
        event: eventSchema,
      },
      read(body) {
        const asked = understandImage({ response_format: 'url', ...body }, names);
        const model = String(asked.body['model']);
        return { asked, presenter: presenterOf(model), stream: streamOf(model) };
      },
    },
    deps,
  );
}

function presenterOf(model: string): ImagePresenter {
  return {
    error: presentArkError,
    images({ images, facts }, { createdSeconds, warnings }) {
      const data = images.map(({ url, base64, size }) =>
        withData(defined({ url: base64 === undefined ? url : undefined, size }), 'b64_json', { base64 }),
      );
      const usage = presentUsage(images.length, facts);
      const head = JSON.stringify({ model, created: createdSeconds }).slice(0, -1);
      const tail = JSON.stringify({ usage, ...presentWarnings(warnings) }).slice(1);
      return mergeText([`${head},"data":`, ...arrayOf(data), `,${tail}`]);
    },
  };
}

/** Ark's streams contain each image as soon as it is finished, so there are no partial images. */
function streamOf(model: string): ImageStreamPresenter {
  return {
    image({ index: image_index, mediaType, link: { url }, size }, { createdSeconds: created }) {
      const isData = mediaType !== undefined;
      const fields = { model, created, image_index, ...defined({ url: isData ? undefined : url, size }) };
      return imageEvent('image_generation.partial_succeeded', fields, isData);
    },
    end(images, { createdSeconds: created, facts, warnings }) {
      const fields = { model, created, usage: presentUsage(images, facts), ...presentWarnings(warnings) };
      return `${textEvent('image_generation.completed', fields)}data: [DONE]\n\n`;
    },
    error: (error) => `${textEvent('error', presentArkError(error))}data: [DONE]\n\n`,
  };
}

function presentUsage(generated_images: number, facts: EventFacts['facts']): z.output<typeof usageSchema> {
  const { output_tokens, total_tokens } = presentImageUsage(facts);
  return { generated_images, output_tokens, total_tokens };
}

import { z } from 'zod';
import { imageFields, namesOf } from '../../../intake/names.ts';
import { anyFields } from '../../body-fields.ts';
import { documentedGenerationBody, operationOf, understandImage } from '../../images/image-body.ts';
import { createImages, imageCreate } from '../../images/image-create.ts';
import { imageTypeOf, mergeText, presentWarnings, withData } from '../../presenters/image.ts';
import type { ImagePresenter } from '../../presenters/image.ts';
import { chatUsageSchema, presentChatUsage } from '../../presenters/image-usage.ts';
import { keyRoute } from '../../route.ts';
import type { Route } from '../../route.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { openrouterDialect, presentOpenrouterError } from './openrouter-dialect.ts';

/** Source: the official client (@openrouter/sdk 1.3.19, `models/imagegenerationresponse.ts`). */
const answerSchema = z
  .object({
    created: z.int().meta({ description: 'Unix seconds.' }),
    data: z.array(z.object({ b64_json: z.string(), media_type: z.string() })),
    usage: chatUsageSchema,
    warnings: z.array(z.string()).optional().meta({ description: 'Names of the fields that were ignored.' }),
  })
  .meta({ id: 'OpenrouterImages' });

const names = namesOf({ prefix: '', others: 'body' }, { resolution: 'size' }, imageFields);

export function createOpenrouterImage(deps: DialectDeps): Route {
  return keyRoute({
    ...imageCreate(deps.images),
    operationId: 'createOpenrouterImage',
    scope: 'create',
    summary: 'Generate images',
    description: 'Waits up to ten minutes for the images. `stream` is ignored.',
    dialect: openrouterDialect,
    paths: ['/api/v1/images'],
    input: z.object({ body: anyFields }),
    documentedBody: documentedGenerationBody(deps.images.vendorFields),
    success: { description: 'The images.', schema: answerSchema },
    handle({ body, caller, meta }) {
      const { stream: _stream, ...fields } = body;
      const asked = understandImage(fields, names, { response_format: 'b64_json' });
      const operation = operationOf(asked);
      const route = 'createOpenrouterImage';
      return createImages({ operation, route, asked, caller, meta, presenter }, deps);
    },
  });
}

const presenter: ImagePresenter = {
  error: presentOpenrouterError,
  images({ images, facts }, { createdSeconds, warnings }) {
    const data = images.flatMap(({ url, base64 }, index) => [
      index === 0 ? '' : ',',
      ...(base64 === undefined
        ? [JSON.stringify({ url })]
        : withData({ media_type: imageTypeOf(base64) }, 'b64_json', { base64 })),
    ]);
    const tail = JSON.stringify({ usage: presentChatUsage(facts), ...presentWarnings(warnings) }).slice(1);
    return mergeText([`{"created":${createdSeconds},"data":[`, ...data, `],${tail}`]);
  },
};

import { z } from 'zod';
import { GatewayError } from '../../../errors/errors.ts';
import { defined } from '../../../base/defined.ts';
import { imageFields, namesOf } from '../../../intake/names.ts';
import { anyFields } from '../../body-fields.ts';
import { documentedGenerationBody, operationOf, understandImage } from '../../images/image-body.ts';
import { createImages, imageCreate } from '../../images/image-create.ts';
import { mergeText, presentWarnings, withData } from '../../presenters/image.ts';
import type { ImagePresenter } from '../../presenters/image.ts';
import { presentImageUsage } from '../../presenters/image-usage.ts';
import { keyRoute } from '../../route.ts';
import type { Route } from '../../route.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { arkDialect, presentArkError } from './ark-dialect.ts';

/** Source: volcengine-go-sdk@cf20b61b, `service/arkruntime/model/images.go`. */
const answerSchema = z
  .object({
    model: z.string(),
    created: z.int().meta({ description: 'Unix seconds.' }),
    data: z.array(
      z.object({ url: z.string().optional(), b64_json: z.string().optional(), size: z.string().optional() }),
    ),
    usage: z.object({
      generated_images: z.int(),
      output_tokens: z.number(),
      total_tokens: z.number(),
    }),
    warnings: z.array(z.string()).optional().meta({ description: 'Names of the fields that were ignored.' }),
  })
  .meta({ id: 'ArkImages' });

const names = namesOf({ prefix: '', others: 'body' }, imageFields);

export function createArkImage(deps: DialectDeps): Route {
  return keyRoute({
    ...imageCreate(deps.images),
    operationId: 'createArkImage',
    scope: 'create',
    summary: 'Generate images',
    description: 'Waits up to ten minutes for the images. Answers with links unless `b64_json` is requested.',
    dialect: arkDialect,
    paths: ['/api/v3/images/generations'],
    input: z.object({ body: anyFields }),
    documentedBody: documentedGenerationBody(deps.images.vendorFields),
    success: { description: 'The images.', schema: answerSchema },
    handle({ body, caller, meta }) {
      const { stream, ...fields } = body;
      if (stream === true)
        throw new GatewayError('unsupported_parameter', 'Images are not streamed here.', { param: 'stream' });
      const asked = understandImage({ response_format: 'url', ...fields }, names);
      const operation = operationOf(asked);
      const route = 'createArkImage';
      const presenter = presenterOf(String(asked.body['model']));
      return createImages({ operation, route, asked, caller, meta, presenter }, deps);
    },
  });
}

function presenterOf(model: string): ImagePresenter {
  return {
    error: presentArkError,
    images({ images, facts }, { createdSeconds, warnings }) {
      const data = images.flatMap(({ url, base64, size }, index) => [
        index === 0 ? '' : ',',
        ...(base64 === undefined
          ? [JSON.stringify(defined({ url, size }))]
          : withData(defined({ size }), 'b64_json', { base64 })),
      ]);
      const { output_tokens, total_tokens } = presentImageUsage(facts);
      const usage = { generated_images: images.length, output_tokens, total_tokens };
      const head = JSON.stringify({ model, created: createdSeconds }).slice(0, -1);
      const tail = JSON.stringify({ usage, ...presentWarnings(warnings) }).slice(1);
      return mergeText([`${head},"data":[`, ...data, `],${tail}`]);
    },
  };
}

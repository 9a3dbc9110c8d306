import { z } from 'zod';
import { GatewayError } from '../../../errors/errors.ts';
import { defined } from '../../../base/defined.ts';
import { imageFields, namesOf } from '../../../intake/names.ts';
import { documentedWaitingBody, understandImage } from '../../images/image-body.ts';
import { arrayOf, mergeText, presentWarnings, withData } from '../../presenters/image.ts';
import type { ImagePresenter } from '../../presenters/image.ts';
import { presentImageUsage } from '../../presenters/image-usage.ts';
import type { Route } from '../../route.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { refusedWithoutTasks, waitingImageRoute } from '../waiting-image-route.ts';
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

const names = namesOf({ prefix: '', others: 'body' }, refusedWithoutTasks, imageFields);

export function createArkImage(deps: DialectDeps): Route {
  return waitingImageRoute(
    {
      operationId: 'createArkImage',
      summary: 'Generate images',
      description:
        'Waits up to ten minutes for the images. Answers with links unless `b64_json` is requested.',
      dialect: arkDialect,
      paths: ['/api/v3/images/generations'],
      documentedBody: documentedWaitingBody(deps.images.vendorFields),
      success: { description: 'The images.', schema: answerSchema },
      read({ stream, ...fields }) {
        if (stream === true)
          throw new GatewayError('unsupported_parameter', 'Images are not streamed here.', {
            param: 'stream',
          });
        const asked = understandImage({ response_format: 'url', ...fields }, names);
        return { asked, presenter: presenterOf(String(asked.body['model'])) };
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
      const { output_tokens, total_tokens } = presentImageUsage(facts);
      const usage = { generated_images: images.length, output_tokens, total_tokens };
      const head = JSON.stringify({ model, created: createdSeconds }).slice(0, -1);
      const tail = JSON.stringify({ usage, ...presentWarnings(warnings) }).slice(1);
      return mergeText([`${head},"data":`, ...arrayOf(data), `,${tail}`]);
    },
  };
}

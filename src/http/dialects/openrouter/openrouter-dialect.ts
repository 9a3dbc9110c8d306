import { z } from 'zod';
import { errorTable, type GatewayError } from '../../../errors/errors.ts';
import { presentError } from '../../error-response.ts';
import type { Dialect } from '../dialect.ts';

const errorSchema = z
  .object({
    error: z.object({
      code: z.int().meta({ description: 'The status.' }),
      message: z.string(),
      metadata: z.object({
        code: z.string().meta({ description: 'One of the codes that the guide “Errors” explains.' }),
        param: z.string(),
      }),
    }),
  })
  .meta({ id: 'OpenrouterError' });

export const openrouterDialect: Dialect = {
  idName: 'jobId',
  tag: 'Videos as OpenRouter',
  description:
    'The same tasks as under `/v1/videos/generations`, in the format of OpenRouter’s video API. The guide “Dialects” describes the mapping.',
  errors: { schema: errorSchema, present: presentOpenrouterError },
};

export function presentOpenrouterError(error: GatewayError): z.output<typeof errorSchema> {
  const { message, param, code } = presentError(error).error;
  return { error: { code: errorTable[error.code].status, message, metadata: { code, param } } };
}

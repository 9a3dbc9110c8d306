import { z } from 'zod';
import { errorTable, type GatewayError } from '../../../errors/errors.ts';
import { presentError } from '../../error-response.ts';
import type { RequestMeta } from '../../route.ts';
import type { Dialect } from '../dialect.ts';

const errorSchema = z
  .object({
    title: z.string().meta({ description: 'One of the codes that the guide “Errors” explains.' }),
    detail: z.string(),
    status: z.int(),
    invalid_fields: z.array(z.object({ field: z.string(), description: z.string() })).optional(),
  })
  .meta({ id: 'ReplicateError' });

export const replicateDialect: Dialect = {
  idName: 'prediction_id',
  tag: 'Videos as Replicate',
  description:
    'The same tasks as under `/v1/videos/generations`, in the format of Replicate’s predictions. The guide “Dialects” describes the mapping.',
  errors: { schema: errorSchema, present: presentReplicateError },
};

function presentReplicateError(error: GatewayError): z.output<typeof errorSchema> {
  const { message: detail, param: field, code: title } = presentError(error).error;
  const problem = { title, detail, status: errorTable[error.code].status };
  return field === '' ? problem : { ...problem, invalid_fields: [{ field, description: detail }] };
}

/**
 * Returns true if a Replicate client sent the request. Our own API and Replicate's share some paths, at which these
 * clients expect a different response.
 */
export function isFromReplicate(meta: Pick<RequestMeta, 'header'>): boolean {
  return meta.header('user-agent')?.startsWith('replicate-') === true;
}

import { z } from 'zod';
import { errorTable, type ErrorCode, type GatewayError } from '../../../errors/errors.ts';
import { presentError } from '../../error-response.ts';
import type { Dialect } from '../dialect.ts';

export const falErrorSchema = z
  .object({
    message: z.string(),
    detail: z.union([
      z.string(),
      z.array(z.object({ loc: z.array(z.string()), msg: z.string(), type: z.string() })),
    ]),
    error_type: z.string().meta({ description: 'One of the codes that the guide “Errors” explains.' }),
  })
  .meta({ id: 'FalError' });

const idName = 'request_id';

export const falDialect: Dialect = {
  idName,
  tag: 'Videos as fal',
  description:
    'The same tasks as under `/v1/videos/generations`, in the format of fal’s queue. The guide “Dialects” describes the mapping.',
  errors: {
    schema: falErrorSchema,
    present: (error: GatewayError) => {
      const { message, code, param } = presentError(error).error;
      return presentFalError({ message, type: code, field: param });
    },
  },
};

/** The official client reads `message` and, for a 422, the `loc` of each issue. */
export function presentFalError({
  message,
  type,
  field,
}: Readonly<Record<'message' | 'type' | 'field', string>>): z.output<typeof falErrorSchema> {
  const place = field === idName ? 'path' : 'body';
  const detail = field === '' ? message : [{ loc: [place, ...field.split('.')], msg: message, type }];
  return { message, detail, error_type: type };
}

/** The official client turns this status into a ValidationError. */
export const invalidInput = 422;
const aboutInput = [
  'missing_parameter',
  'invalid_parameter',
  'unsupported_parameter',
  'content_policy_violation',
  'media_url_not_allowed',
  'callback_url_not_allowed',
] as const satisfies readonly ErrorCode[];
export const falStatuses: Readonly<Partial<Record<ErrorCode, number>>> = Object.fromEntries(
  aboutInput.map((code) => [code, errorTable[code].status === 400 ? invalidInput : errorTable[code].status]),
);

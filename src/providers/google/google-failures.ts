import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { optionalText, refusalError } from '../shared/http-outcome.ts';
import type { FailureTable, Refusal } from '../shared/failure-table.ts';
import type { HttpResponse, UpstreamError } from '../provider.ts';

/**
 * Covers the statuses of rejected requests, the gRPC codes of failed operations, and the reasons for content
 * rejections. Source: the vendor's error pages, 2026-09.
 */
export const googleFailures: FailureTable = [
  // The vendor also reports an invalid key with status 400.
  {
    words: /\bapi[ _]key\b.*(?:invalid|not valid|expired|not found)/i,
    outcome: 'unavailable',
    class: 'quota',
  },
  { code: /^(?:PERMISSION_DENIED|7)$/i, words: /\bsafety\b/i, class: 'moderation_output' },
  {
    code: /^(?:FAILED_PRECONDITION|UNAUTHENTICATED|PERMISSION_DENIED|NOT_FOUND|[579]|16)$/i,
    outcome: 'unavailable',
    class: 'quota',
  },
  { code: /\.PerDay$/, outcome: 'unavailable', class: 'quota' },
  { code: /^(?:RESOURCE_EXHAUSTED|UNAVAILABLE|8|14)$/i, outcome: 'throttled', class: 'capacity' },
  { code: /^budget_exceeded$/, class: 'quota' },
  {
    code: /^(?:IMAGE_)?(?:SAFETY|PROHIBITED_CONTENT|RECITATION)$|^(?:BLOCKLIST|SPII|rai_filtered|no_video)$/,
    outcome: 'rejected',
    class: 'moderation_output',
  },
  {
    code: /^(?:INVALID_ARGUMENT|invalid_request|3|400)$/,
    words: /safety|blocked|policy|usage guidelines|sensitive|responsible ai/i,
    outcome: 'rejected',
    class: 'moderation_input',
  },
  {
    code: /^(?:INVALID_ARGUMENT|OUT_OF_RANGE|invalid_request|3|11|400)$/,
    outcome: 'rejected',
    class: 'invalid_input',
  },
  { code: /^(?:INTERNAL|DEADLINE_EXCEEDED|13|NO_IMAGE|(?:IMAGE_)?OTHER|STOP)$/, class: 'internal' },
  // The code of an interaction's error is a URI.
  { words: /\bsafety\b|prohibited|usage guidelines|responsible ai/i, class: 'moderation_output' },
];

const detailSchema = z
  .object({
    retryDelay: optionalText,
    violations: z
      .array(z.object({ quotaId: optionalText }))
      .optional()
      .catch(undefined),
    fieldViolations: z
      .array(z.object({ field: optionalText }))
      .optional()
      .catch(undefined),
  })
  .catch({ retryDelay: undefined, violations: undefined, fieldViolations: undefined });

const errorSchema = z.object({
  code: z
    .union([z.string(), z.number().transform(String)])
    .optional()
    .catch(undefined),
  status: optionalText,
  message: optionalText,
  details: z.array(detailSchema).catch([]).default([]),
});
type GoogleError = z.infer<typeof errorSchema>;

const bodySchema = z.object({ error: errorSchema });

/** Reads `{"error": {…}}`, which the front end sometimes wraps in a list. */
function readGoogleError(json: unknown): GoogleError | undefined {
  const body: unknown = Array.isArray(json) ? json[0] : json;
  return bodySchema.safeParse(body).data?.error;
}

function refusalOf({ code, status, message = '', details }: GoogleError): Refusal {
  const isDaily = details.some(({ violations }) =>
    violations?.some(({ quotaId }) => /PerDay/i.test(quotaId ?? '')),
  );
  const field = details.flatMap(({ fieldViolations = [] }) => fieldViolations)[0]?.field;
  const delay = details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay ?? '';
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1];
  const retryAfterMs = seconds === undefined ? undefined : Number(seconds) * 1000;
  const word = status ?? code ?? '';
  return defined({ code: isDaily === true ? `${word}.PerDay` : word, message, field, retryAfterMs });
}

export function googleRefusal(answer: HttpResponse): UpstreamError {
  const error = readGoogleError(answer.json);
  return refusalError(answer, error === undefined ? undefined : refusalOf(error), googleFailures);
}

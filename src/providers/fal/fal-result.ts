import { z } from 'zod';
import { falFailures } from './fal-failures.ts';
import { billedUnits, readFalRefusal } from './fal-call.ts';
import { defined } from '../../base/defined.ts';
import type { Failure, ModeratedInput } from '../../errors/failure.ts';
import type { FieldMapping } from '../../models/field-mapping.ts';
import { findFailureRow, failureOfRow, knownWords, type Refusal } from '../shared/failure-table.ts';
import { signedUrlExpiry } from '../shared/http-outcome.ts';
import { endedJob } from '../shared/job-status.ts';
import { mappedCost, mappedFacts, mappedLinks } from '../shared/mapped-answer.ts';
import type { HttpResponse, OperationStatus } from '../provider.ts';

export interface Outcome {
  readonly kind: 'video' | 'image';
  readonly mapping: FieldMapping | undefined;
}

/** The output fields that most models use. Apply to tasks whose model has been removed from the channel. */
const unknownMappings = {
  video: { result: 'video.url', facts: {} },
  image: { result: 'images[].url', facts: {} },
} as const;

const flagsSchema = z.object({ has_nsfw_concepts: z.array(z.boolean().catch(false)).catch([]) });

export function falSuccess(
  answer: Pick<HttpResponse, 'json' | 'headers'>,
  { kind, mapping }: Outcome,
): OperationStatus | undefined {
  const { json } = answer;
  const map: Pick<FieldMapping, 'result' | 'facts' | 'cost'> = mapping ?? unknownMappings[kind];
  const links = mappedLinks(json, map);
  if (links.length === 0) return undefined;
  const cost = mappedCost(json, map, billedUnits(answer));
  const flags = flagsSchema.safeParse(json).data?.has_nsfw_concepts ?? [];
  // The vendor blanks flagged images. If the number of flags differs from the number of files, the files are withheld
  // only if all flags are set.
  const usable =
    flags.length === links.length || !flags.includes(false)
      ? links.filter((_, index) => (flags[index] ?? flags.at(-1)) !== true)
      : links;
  if (usable.length === 0) {
    const message = 'Everything that was rendered was withheld by the safety checker.';
    const failure = { class: 'moderation_output' } as const;
    return endedJob({ code: 'nsfw_content', message, failure }, { withheld: links, cost });
  }
  const facts = mappedFacts(json, map);
  return defined({
    state: 'succeeded' as const,
    items: usable.map((url) => defined({ url, expiresAt: signedUrlExpiry(url) })),
    facts: kind === 'image' ? { ...facts, images: usable.length } : facts,
    cost,
  });
}

/** A rejected request may be billed if a runner worked on it first. */
export function falFailure(
  answer: Pick<HttpResponse, 'json' | 'headers' | 'status'>,
  refusal: Refusal,
  { mapping }: Pick<Outcome, 'mapping'>,
): OperationStatus {
  const failure: Failure =
    answer.status === 499 ? { class: 'cancelled' } : failureOfResult(refusal, answer.status);
  const words =
    failure.class === 'cancelled'
      ? { code: 'upstream_cancelled', message: refusal.message }
      : knownWords(falFailures, refusal, `http_${answer.status}`);
  const cost = mapping === undefined ? undefined : mappedCost(answer.json, mapping, billedUnits(answer));
  return endedJob({ ...words, failure }, { cost, unbilled: answer.status >= 500 });
}

function failureOfResult(refusal: Refusal, status: number): Failure {
  // Table rows for other statuses apply only to submissions, so those statuses are ignored here.
  const ownStatus = status === 400 || status === 422 ? status : undefined;
  const row = findFailureRow(falFailures, refusal, ownStatus);
  if (row === undefined) return { class: 'internal' };
  const failure = failureOfRow(row, refusal);
  const input = failure.class === 'moderation_input' ? inputOf(refusal.field ?? '') : undefined;
  return { ...failure, ...defined({ input }) };
}

function inputOf(field: string): ModeratedInput | undefined {
  if (/prompt/.test(field)) return 'prompt';
  if (/image|frame/.test(field)) return 'image';
  if (/video/.test(field)) return 'video';
  return /audio/.test(field) ? 'audio' : undefined;
}

/**
 * Returns undefined if the response came from the queue or an intermediary, because it then says nothing about the
 * request. A model's own response has a distinctive body. If that body has no type, only statuses that models
 * themselves use are considered.
 */
export function readOutcomeRefusal(answer: HttpResponse): Refusal | undefined {
  const said = readFalRefusal(answer.json);
  const type = answer.headers['x-fal-error-type'];
  const { status } = answer;
  if (said === undefined || status === 401 || status === 403 || status === 429) return undefined;
  if (said.code !== '') return said;
  if (type !== undefined && type !== '') return { ...said, code: type };
  return [400, 422, 499, 500].includes(status) ? said : undefined;
}

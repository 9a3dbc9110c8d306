import { z } from 'zod';
import { callAboutJob, callGoogle, interactionsUrl, requireGoogleModel, storedFile } from './google-call.ts';
import { googleFacts } from './google-facts.ts';
import { googleFailures } from './google-failures.ts';
import { mediaTypeOf, readDataUrl } from './google-inputs.ts';
import { defined } from '../../base/defined.ts';
import { imagesOf } from '../../models/media-roles.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import { readFacts } from '../shared/read-facts.ts';
import {
  optionalNumber,
  optionalText,
  readableItems,
  reportedNumber,
  unreadableError,
} from '../shared/http-outcome.ts';
import { cancelledJob, failedJob, tokenUsage } from '../shared/job-status.ts';
import { UpstreamError } from '../provider.ts';
import type { Operation, OperationStatus, ProviderContext, SubmitContext, Submitted } from '../provider.ts';
import type { JsonObject, VideoRequest } from '../../models/request.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';

const createdSchema = z.object({ id: z.string().min(1).max(500) });

export async function submitOmni(request: VideoRequest, context: SubmitContext): Promise<Submitted> {
  const json = omniBody(request, context);
  const answer = await callGoogle({ method: 'POST', url: interactionsUrl(context), json }, context);
  const id = createdSchema.safeParse(answer.json).data?.id;
  if (id === undefined) throw unreadableError(answer, 'it has no id');
  return { operation: { id }, traceId: id };
}

function omniBody(request: VideoRequest, context: SubmitContext): JsonObject {
  const { name, store } = requireGoogleModel(context);
  const { prompt, videos, resolution, ratio, duration } = request;
  const facts = readFacts(request, googleFacts, context);
  const { fields = {} } = facts;
  const media = [
    ...imagesOf(request).map((url) => mediaPart(url, 'image')),
    ...videos.map((url) => mediaPart(url, 'video')),
  ];
  const text = prompt === '' ? [] : [{ type: 'text', text: prompt }];
  return defined({
    ...passedOn(request, facts),
    model: name,
    input: media.length === 0 ? prompt : [...media, ...text],
    // Without this field, the vendor would respond only after rendering.
    background: true,
    response_format: defined({
      type: 'video',
      delivery: 'uri',
      gcs_uri: store,
      aspect_ratio: fields.ratio === true ? ratio : undefined,
      resolution: resolution?.toLowerCase(),
      duration: fields.duration === true && typeof duration === 'number' ? `${duration}s` : undefined,
    }),
    generation_config: { video_config: { task: taskOf(request) } },
    // Interactions cannot be listed, so the label only helps operators who inspect a particular one.
    labels: { task: context.marker },
    webhook_config: context.callbackUrl === undefined ? undefined : { uris: [context.callbackUrl] },
  });
}

function taskOf({ firstFrame, references, videos, extra }: VideoRequest): string {
  const { video_task: task } = extra;
  if (videos.length > 0) return typeof task === 'string' ? task : 'edit';
  if (firstFrame !== undefined) return 'image_to_video';
  return references.length > 0 ? 'reference_to_video' : 'text_to_video';
}

function mediaPart(url: string, type: 'image' | 'video'): JsonObject {
  const inline = readDataUrl(url);
  return inline === undefined
    ? { type, uri: url, mime_type: mediaTypeOf(url, type) }
    : { type, data: inline.base64, mime_type: inline.mediaType };
}

const partSchema = z.object({ type: optionalText, uri: optionalText, text: optionalText });
const code = z
  .union([z.string(), z.number().transform(String)])
  .optional()
  .catch(undefined);
const errorSchema = z.object({
  code,
  message: optionalText,
  details: readableItems(z.object({ reason: optionalText }))
    .catch([])
    .default([]),
});
const stepSchema = z.object({
  type: optionalText,
  content: z.array(partSchema.catch({})).catch([]).default([]),
  error: errorSchema.optional().catch(undefined),
});
const interactionSchema = z.object({
  id: optionalText,
  status: optionalText,
  steps: z
    .array(stepSchema.catch({ content: [] }))
    .catch([])
    .default([]),
  finish_reason: optionalText,
  error: errorSchema.optional().catch(undefined),
  errors: readableItems(errorSchema).catch([]).default([]),
  usage: z
    .object({
      total_input_tokens: reportedNumber,
      total_output_tokens: reportedNumber,
      total_tokens: reportedNumber,
      output_tokens_by_modality: readableItems(z.object({ modality: optionalText, tokens: optionalNumber }))
        .catch([])
        .default([]),
    })
    .optional()
    .catch(undefined),
});
type Interaction = z.infer<typeof interactionSchema>;

const omniInteraction = ({ id }: Operation, context: ProviderContext): string =>
  `${interactionsUrl(context)}/${encodeURIComponent(id)}`;

export async function omniStatus(operation: Operation, context: ProviderContext): Promise<OperationStatus> {
  const answer = await callAboutJob(
    { method: 'GET', url: omniInteraction(operation, context), bodyBytesMax: interactionBytesMax },
    context,
    isUnknownInteraction,
  );
  const interaction = interactionSchema.safeParse(answer.json).data;
  if (interaction?.status === undefined) throw unreadableError(answer, 'it has no status');
  const status = readInteraction(interaction);
  if (status === undefined)
    throw unreadableError(answer, 'a video was rendered, but the response does not contain it');
  return status;
}

/** In bytes. This is large because responses repeat the input, which may contain images. */
const interactionBytesMax = 64 * 1024 * 1024;

/**
 * The vendor reports an unknown interaction with status 400. Other 400s have proved temporary and are treated as
 * ambiguous.
 */
function isUnknownInteraction({ status, words }: UpstreamError): boolean {
  return status === 400 && /invalid interaction/i.test(words);
}

/** Returns undefined for a complete interaction that was billed for a video but contains none. */
function readInteraction(interaction: Interaction): OperationStatus | undefined {
  const { status = '' } = interaction;
  switch (status) {
    case 'queued':
      return { state: 'pending', phase: 'submitted' };
    case 'completed':
      return completed(interaction);
    case 'cancelled':
      return cancelledJob();
    case 'failed':
    case 'incomplete':
    case 'budget_exceeded':
    case 'requires_action':
      return failedJob(googleFailures, reasonOf(interaction, status));
    default:
      // `in_progress` and unknown states are treated as running.
      return { state: 'pending', phase: 'running' };
  }
}

/** A step's error is the most specific. Its `reason` names what was prohibited, while its code is only a gRPC status. */
function reasonOf(interaction: Interaction, status: string) {
  const { steps, errors, error, finish_reason: finish } = interaction;
  const said = steps.findLast((step) => step.error !== undefined)?.error ?? errors[0] ?? error;
  const named = said?.details.find(({ reason }) => reason !== undefined)?.reason;
  return {
    code: finish ?? named ?? said?.code ?? status,
    message: said?.message ?? textOf(interaction) ?? `The interaction ended as ${status}.`,
  };
}

function completed(interaction: Interaction): OperationStatus | undefined {
  const parts = interaction.steps.flatMap(({ type, content }) => (type === 'model_output' ? content : []));
  const items = parts.flatMap(({ type, uri }) =>
    type === 'video' && uri !== undefined ? [{ url: storedFile(uri) }] : [],
  );
  if (items.length > 0) return { state: 'succeeded', items, facts: factsOf(interaction) };
  const tokens = interaction.usage?.output_tokens_by_modality.find(
    ({ modality }) => modality === 'video',
  )?.tokens;
  const isRendered = (tokens ?? 0) > 0 || parts.some(({ type }) => type === 'video');
  if (isRendered) return undefined;
  // The content was rejected, before or after rendering. The vendor does not report which, and bills nothing.
  const message = textOf(interaction) ?? 'The model responded without a video.';
  return failedJob(googleFailures, { code: 'no_video', message }, { unbilled: true });
}

function textOf({ steps }: Interaction): string | undefined {
  return steps.flatMap(({ content }) => content).find(({ text }) => text !== undefined)?.text;
}

function factsOf({ usage }: Interaction): SettleFacts {
  // All kinds of input cost the same, so the total is counted as text.
  const given = { inputTextTokens: usage?.total_input_tokens };
  return defined({ usage: tokenUsage(usage?.total_output_tokens, usage?.total_tokens, given) });
}

/** An interaction that the vendor refuses to cancel continues or has already finished. */
export async function cancelOmni(
  operation: Operation,
  context: ProviderContext,
): Promise<'cancelled' | 'refused'> {
  try {
    const url = `${omniInteraction(operation, context)}/cancel`;
    await callAboutJob({ method: 'POST', url, json: {} }, context, isUnknownInteraction);
    return 'cancelled';
  } catch (error) {
    if (error instanceof UpstreamError && isRefusedCancel(error)) return 'refused';
    throw error;
  }
}

/** True if the vendor refused to cancel. A 400 can also mean an invalid key, which is handled elsewhere. */
function isRefusedCancel({ gone, status, words }: UpstreamError): boolean {
  return !gone && !/\bapi[ _]key\b/i.test(words) && (status === 400 || status === 409);
}

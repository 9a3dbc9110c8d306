import { z } from 'zod';
import {
  callAboutJob,
  callGoogle,
  isVertex,
  readGoogleModel,
  requireGoogleModel,
  storedFile,
} from './google-call.ts';
import { googleFacts } from './google-facts.ts';
import { googleFailures } from './google-failures.ts';
import { readDataUrl } from './google-inputs.ts';
import { defined } from '../../base/defined.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import { readFacts } from '../shared/read-facts.ts';
import { optionalNumber, optionalText, unreadableError } from '../shared/http-outcome.ts';
import { endedJob, failedJob } from '../shared/job-status.ts';
import type { Operation, OperationStatus, ProviderContext, SubmitContext, Submitted } from '../provider.ts';
import type { JsonObject, VideoRequest } from '../../models/request.ts';

const namePattern = /^[\w-]+(?:\/[\w.-]+)+$/;
const createdSchema = z.object({ name: z.string().max(500).regex(namePattern) });

export async function submitVeo(request: VideoRequest, context: SubmitContext): Promise<Submitted> {
  const json = veoBody(request, context);
  const answer = await callGoogle(
    { method: 'POST', url: `${modelUrl(context)}:predictLongRunning`, json },
    context,
  );
  const name = createdSchema.safeParse(answer.json).data?.name;
  if (name === undefined || name.includes('..')) throw unreadableError(answer, 'it has no name');
  return { operation: { id: name }, traceId: name };
}

function modelUrl({ baseUrl, model }: ProviderContext): string {
  return `${baseUrl}/models/${encodeURIComponent(readGoogleModel(model).name)}`;
}

function veoBody(request: VideoRequest, context: SubmitContext): JsonObject {
  const { store } = requireGoogleModel(context);
  const { resolution, ratio, duration, seed, generateAudio } = request;
  const facts = readFacts(request, googleFacts, context);
  const { fields = {}, sound } = facts;
  return defined({
    instances: [veoInstance(request)],
    parameters: {
      ...passedOn(request, facts),
      sampleCount: 1,
      ...defined({
        aspectRatio: ratio,
        resolution: resolution?.toLowerCase(),
        durationSeconds: typeof duration === 'number' ? duration : undefined,
        seed: fields.seed === true ? seed : undefined,
        generateAudio: sound === 'choice' ? generateAudio : undefined,
        storageUri: store,
      }),
    },
    webhookConfig:
      store !== undefined || context.callbackUrl === undefined ? undefined : { uris: [context.callbackUrl] },
  });
}

function veoInstance({ prompt, firstFrame, lastFrame, references, videos }: VideoRequest): JsonObject {
  const [video] = videos;
  return defined({
    prompt: prompt === '' ? undefined : prompt,
    image: firstFrame === undefined ? undefined : veoImage(firstFrame),
    lastFrame: lastFrame === undefined ? undefined : veoImage(lastFrame),
    referenceImages:
      references.length === 0
        ? undefined
        : references.map((url) => ({ image: veoImage(url), referenceType: 'asset' })),
    video: video === undefined ? undefined : { [video.startsWith('gs://') ? 'gcsUri' : 'uri']: video },
  });
}

function veoImage(url: string): JsonObject {
  const inline = readDataUrl(url);
  return inline === undefined
    ? { gcsUri: url, mimeType: /\.png$/i.test(url) ? 'image/png' : 'image/jpeg' }
    : { bytesBase64Encoded: inline.base64, mimeType: inline.mediaType };
}

const fileSchema = z.object({ uri: optionalText, gcsUri: optionalText }).catch({});
const filesSchema = z
  .array(z.object({ video: fileSchema.optional() }).catch({}))
  .optional()
  .catch(undefined);
const resultSchema = {
  generatedSamples: filesSchema,
  generatedVideos: filesSchema,
  videos: z.array(fileSchema).optional().catch(undefined),
  raiMediaFilteredCount: optionalNumber,
  raiMediaFilteredReasons: z.array(z.string()).optional().catch(undefined),
};
const operationSchema = z.object({
  name: optionalText,
  done: z.boolean().optional().catch(undefined),
  error: z
    .object({
      code: z
        .union([z.string(), z.number().transform(String)])
        .optional()
        .catch(undefined),
      message: optionalText,
    })
    .optional()
    .catch(undefined),
  response: z
    .object({ ...resultSchema, generateVideoResponse: z.object(resultSchema).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

export async function veoStatus(operation: Operation, context: ProviderContext): Promise<OperationStatus> {
  const answer = await ask(operation, context);
  const job = operationSchema.safeParse(answer.json).data;
  if (job === undefined) throw unreadableError(answer, 'it is not an operation');
  const status = readOperation(job);
  if (status === undefined) throw unreadableError(answer, 'the operation is done, but contains no link');
  return status;
}

function ask({ id }: Operation, context: ProviderContext) {
  return isVertex(context)
    ? callAboutJob(
        { method: 'POST', url: `${modelUrl(context)}:fetchPredictOperation`, json: { operationName: id } },
        context,
      )
    : callAboutJob({ method: 'GET', url: `${context.baseUrl}/${id}` }, context);
}

/** Returns undefined for a finished operation without a video, an error or a filter result. */
function readOperation({
  done,
  error,
  response,
}: z.infer<typeof operationSchema>): OperationStatus | undefined {
  if (done !== true) return { state: 'pending', phase: 'running' };
  if (error !== undefined) {
    return failedJob(googleFailures, error);
  }
  const results = [response, response?.generateVideoResponse].filter((result) => result !== undefined);
  const files = results.flatMap(({ generatedSamples = [], generatedVideos = [], videos = [] }) => [
    ...[...generatedSamples, ...generatedVideos].map(({ video }) => video),
    ...videos,
  ]);
  const items = files.flatMap((file) => {
    const uri = file?.uri ?? file?.gcsUri;
    return uri === undefined ? [] : [{ url: storedFile(uri) }];
  });
  // The vendor does not report what it rendered.
  if (items.length > 0) return { state: 'succeeded', items, facts: {} };
  if (!results.some(({ raiMediaFilteredCount: count }) => (count ?? 0) > 0)) return undefined;
  const reasons = results.flatMap(({ raiMediaFilteredReasons = [] }) => raiMediaFilteredReasons);
  const message = reasons.length > 0 ? reasons.join(' ') : 'The video was filtered.';
  return endedJob(
    { code: 'rai_filtered', message, failure: { class: 'moderation_output' } },
    { unbilled: true },
  );
}

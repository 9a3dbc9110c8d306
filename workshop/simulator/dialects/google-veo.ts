import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { base64, json, linesOf, link, sizeOf, taken, word, type Call, type Reply } from '../engine.ts';
import { bucketUri, fileUri, googleError, googleProblems, mimeType as videoType } from './google-task.ts';
import type { GoogleDesk, GoogleJob } from './google-task.ts';

/** Veo's long-running operations. The two APIs have different schemas, both of them strict. */

type Api = 'gemini' | 'vertex';

const mimeType = z.string().min(1);
const bucket = z.string().startsWith('gs://');
const bytesForm = z.strictObject({ bytesBase64Encoded: base64, mimeType });
const bucketForm = z.strictObject({ gcsUri: bucket, mimeType });
const media = {
  gemini: z.union([
    bytesForm,
    z.strictObject({ inlineData: z.strictObject({ mimeType, data: base64 }) }),
    z.strictObject({ uri: link, mimeType: mimeType.optional() }),
  ]),
  vertex: z.union([bytesForm, bucketForm]),
};
const parameters = {
  ...taken({ text: 'negativePrompt personGeneration', flag: 'enhancePrompt' }),
  durationSeconds: z.int().default(8),
  aspectRatio: z.string().default('16:9'),
  resolution: word('720p 1080p 4k').default('720p'),
  storageUri: z.undefined().optional(),
};
const vertexOnly = {
  ...taken({ int: 'seed fps', flag: 'generateAudio', text: 'compressionQuality pubsubTopic resizeMode' }),
  storageUri: bucket.optional(),
};
const webhook = z.strictObject({
  uris: z.array(link).min(1),
  userMetadata: z.record(z.string(), z.unknown()).optional(),
});

function instances(api: Api) {
  const some = media[api].optional();
  // The documentation says lower case here, but the SDK sends upper case.
  const reference = z.strictObject({ image: media[api], referenceType: z.enum(['asset', 'ASSET']) });
  const referenceImages = z.array(reference).optional();
  const prompt = z.string().min(1).optional();
  return z.tuple([z.strictObject({ prompt, image: some, lastFrame: some, video: some, referenceImages })]);
}

const schemas = {
  gemini: z.strictObject({
    instances: instances('gemini'),
    parameters: z.strictObject({ ...parameters, sampleCount: z.literal(1).default(1) }).prefault({}),
    webhookConfig: webhook.optional(),
  }),
  vertex: z.strictObject({
    instances: instances('vertex'),
    parameters: z
      .strictObject({ ...parameters, ...vertexOnly, sampleCount: z.int().min(1).default(1) })
      .prefault({}),
    labels: z.record(z.string(), z.string()).optional(),
    webhookConfig: z.undefined().optional(),
  }),
};
type Body = z.infer<typeof schemas.gemini> | z.infer<typeof schemas.vertex>;
const models = { gemini: /^veo-\d.*-preview$/, vertex: /^veo-\d.*-\d{3}$/ };

export function createVideo(
  desk: GoogleDesk,
  { request }: Call,
  { model, api, parents }: { readonly model: string; readonly api: Api; readonly parents: readonly string[] },
): Promise<Reply> {
  const { webhookConfig, ...body } = desk.read<Body>(schemas[api], request);
  const { durationSeconds: seconds, aspectRatio, resolution, sampleCount: samples } = body.parameters;
  const { storageUri } = body.parameters;
  return desk.create(request, { model, prompt: body.instances[0].prompt ?? '' }, async (submission) => {
    if (!models[api].test(submission.model)) throw googleProblems['not-found'];
    refuseOfLite(body, submission.model);
    const id = randomUUID();
    const name = [...parents, 'models', submission.model, 'operations', id].join('/');
    const atVertex = storageUri === undefined ? ('inline' as const) : ('bucket' as const);
    const detail = {
      ...sizeOf(linesOf(resolution), aspectRatio),
      seconds,
      name,
      samples,
      api: 'veo' as const,
      delivery: api === 'gemini' ? ('uri' as const) : atVertex,
      bucket: storageUri,
      userMetadata: webhookConfig?.userMetadata,
    };
    await desk.accept(submission, { id, detail, callbackUrl: webhookConfig?.uris[0] });
    return json(200, { name });
  });
}

function refuseOfLite({ instances: [{ video, referenceImages }], parameters }: Body, model: string): void {
  if (!model.includes('-lite-')) return;
  const asked = {
    resolution: parameters.resolution === '4k',
    video: video !== undefined,
    referenceImages: referenceImages !== undefined,
  };
  const foreign = Object.entries(asked).find(([, isAsked]) => isAsked)?.[0];
  if (foreign !== undefined)
    throw googleError(400, 'INVALID_ARGUMENT', `${foreign} is not supported by this model.`);
}

export function pollVideo(desk: GoogleDesk, call: Call): Promise<Reply> {
  return operation(desk, call, decodeURIComponent(call.request.path.slice('/v1beta/'.length)));
}

const fetchSchema = z.strictObject({ operationName: z.string() });

export function fetchVideo(desk: GoogleDesk, call: Call): Promise<Reply> {
  const { operationName } = desk.read(fetchSchema, call.request);
  return operation(desk, call, operationName);
}

function operation(desk: GoogleDesk, { request }: Call, name: string): Promise<Reply> {
  const known = desk.find(name.split('/').at(-1) ?? '');
  const job = known?.detail.name === name ? known : undefined;
  return desk.about('poll', { request, job }, (found) => json(200, present(found)));
}

const responseType = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse';

function present(job: GoogleJob): object {
  const { detail, phase, faults } = job;
  const { name, delivery, samples } = detail;
  const isFiltered = faults.has('moderation-in-task');
  if (phase === 'queued' || phase === 'running') return { name };
  if (phase === 'unknown') return { name, metadata: { state: 'POST_PROCESSING' } };
  if (phase === 'failed' && !isFiltered)
    return { name, done: true, error: { code: 13, message: 'An internal error has occurred.' } };
  if (phase === 'expired' || phase === 'cancelled')
    return { name, done: true, error: { code: 4, message: 'The operation took too long.' } };
  const filtered = {
    raiMediaFilteredCount: samples,
    raiMediaFilteredReasons: ['The video was filtered, because it violates the policy of use.'],
  };
  const indexes = Array.from({ length: faults.has('missing-url') ? 0 : samples }, (_, index) => index);
  if (delivery !== 'uri') {
    const videos = indexes.map((index) => vertexVideo(job, index));
    return { name, done: true, response: isFiltered ? filtered : { videos } };
  }
  const field = faults.has('docs-shape') ? 'generatedVideos' : 'generatedSamples';
  const generated = indexes.map(() => ({ video: { uri: fileUri(job) } }));
  const generateVideoResponse = isFiltered ? filtered : { [field]: generated };
  return { name, done: true, response: { '@type': responseType, generateVideoResponse } };
}

function vertexVideo(job: GoogleJob, sample: number): object {
  if (job.detail.delivery === 'bucket') return { gcsUri: bucketUri(job, sample), mimeType: videoType };
  return { bytesBase64Encoded: job.file(sample).toString('base64'), mimeType: videoType };
}

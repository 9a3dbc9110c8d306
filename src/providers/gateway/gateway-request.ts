import type { JsonObject, VideoRequest } from '../../models/request.ts';
import { defined } from '../../base/defined.ts';
import { commonParameters, passedOn } from '../../models/facts-of-request.ts';
import { everyField } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import type { SubmitContext } from '../provider.ts';
import { sizeOfShape } from '../../models/video-shapes.ts';
import { framesOf, imagesOf, inputTypeOf } from '../../models/media-roles.ts';
import { readFacts } from '../shared/read-facts.ts';

export interface GatewayEndpoints {
  readonly dialect: 'task' | 'videos';
  readonly submit: string;
  readonly images: string;
  job(id: string): string;
}

/**
 * If `base_url` ends in `/v1`, videos are created at `/video/generations`. Any other `base_url` already contains the
 * video path: `…/v1/videos` means the OpenAI dialect, and `…/v1/videos/generations` is another spelling of the task
 * dialect.
 */
export function gatewayEndpoints(baseUrl: string): GatewayEndpoints {
  const named = /^(.*)\/(videos|videos?\/generations)$/.exec(baseUrl);
  const submit = named === null ? `${baseUrl}/video/generations` : baseUrl;
  return {
    dialect: named?.[2] === 'videos' ? 'videos' : 'task',
    submit,
    images: named?.[1] ?? baseUrl,
    job: (id) => `${submit}/${encodeURIComponent(id)}`,
  };
}

export const gatewayFacts: FactsTable = {
  origin: { source: 'the interface of this gateway and of similar ones', read: '2026-11' },
  models: [],
  others: {
    fields: everyField,
    parameters: Object.fromEntries(commonParameters.map((name) => [name, {}])),
    reserved: [
      'model',
      'content',
      'callback_url',
      'execution_expires_after',
      'resolution',
      'ratio',
      'duration',
      'seconds',
      'size',
      'seed',
      'watermark',
      'generate_audio',
      'draft',
      'return_last_frame',
      'tools',
      'safety_identifier',
    ],
    other_parameters: true,
  },
};

/**
 * Writes the fields twice, for both families of gateways: at the top level for those that share our API, and in
 * `metadata` for those that pass on nothing else to the vendor.
 */
export function buildGatewayVideo(
  request: VideoRequest,
  context: Pick<SubmitContext, 'model' | 'facts'>,
  dialect: GatewayEndpoints['dialect'],
): JsonObject {
  const { prompt, mode, videos, audios, resolution, ratio } = request;
  const images = imagesOf(request);
  const facts = readFacts(request, gatewayFacts, context);
  const duration = request.duration === 'auto' ? -1 : request.duration;
  const common = defined({
    model: context.model,
    prompt,
    mode,
    images: images.length === 0 ? undefined : [...images],
    videos: videos.length === 0 ? undefined : [...videos],
    audios: audios.length === 0 ? undefined : [...audios],
    metadata: {
      ...passedOn(request, facts),
      ...buildMetadata(request, duration),
    },
  });
  if (dialect === 'task')
    return defined({ ...common, input_type: inputTypeOf(request), resolution, ratio, duration });
  return defined({
    ...common,
    // The OpenAI dialect expects the seconds as text, a size, and a single reference.
    seconds: typeof duration === 'number' && duration > 0 ? String(duration) : undefined,
    size: request.size ?? sizeOfShape(request, [facts]),
    input_reference: images[0],
  });
}

function buildMetadata(request: VideoRequest, duration: number | undefined): JsonObject {
  return defined({
    resolution: request.resolution,
    ratio: request.ratio,
    duration,
    seed: request.seed,
    watermark: request.watermark,
    generate_audio: request.generateAudio,
    draft: request.draft,
    return_last_frame: request.returnLastFrame,
    tools: request.tools,
    safety_identifier: request.safetyIdentifier,
    content: referenceContent(request),
  });
}

function referenceContent(request: VideoRequest): JsonObject[] | undefined {
  const { references, videos, audios } = request;
  if (videos.length + audios.length === 0) return undefined;
  const image = (role: string) => (url: string) => ({ type: 'image_url', image_url: { url }, role });
  return [
    ...framesOf(request).map((url, index) => image(index === 0 ? 'first_frame' : 'last_frame')(url)),
    ...references.map(image('reference_image')),
    ...videos.map((url) => ({ type: 'video_url', video_url: { url }, role: 'reference_video' })),
    ...audios.map((url) => ({ type: 'audio_url', audio_url: { url }, role: 'reference_audio' })),
  ];
}

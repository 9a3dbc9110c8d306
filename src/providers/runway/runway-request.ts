import type { JsonObject, VideoRequest } from '../../domain/request.ts';
import type { Consumption } from '../../domain/consumption.ts';
import { defined } from '../../domain/defined.ts';
import { runwayModel } from './runway-models.ts';
import { runwayInputs, shapeFields } from './runway-shape.ts';
import type { RunwayModel } from './runway-models.ts';
import type { RunwayInputs } from './runway-shape.ts';
import type { RunwaySubmission } from './runway-task.ts';

/** Every name in `metadata` that the gateway decides: the media, and what changes what is rendered or charged. */
export const runwayOwnFields = [
  'model',
  'promptText',
  'promptImage',
  'promptVideo',
  'videoUri',
  'references',
  'referenceVideos',
  'referenceAudio',
  'referenceImages',
  'ratio',
  'targetAspectRatio',
  'resolution',
  'duration',
  'audio',
  'seed',
  'refer_type',
  'outputFormat',
  'outputCount',
  'mode',
];
const ownFields = new Set(runwayOwnFields);

/** An edit may have the length and the shape of its video; what cannot be chosen of the sound is refused. */
export function runwayConsumes(request: VideoRequest, name: string): Consumption {
  const model = runwayModel(name);
  const inputs = runwayInputs(request, model);
  const isLikeInput = hasOwnLength(model, inputs);
  return {
    fields: [
      ...(['generateAudio', 'seed'] as const),
      ...(isLikeInput && model.edit?.targets === undefined ? [] : (['ratio'] as const)),
      ...(isLikeInput ? [] : (['resolution', 'duration'] as const)),
    ],
    metadata: (field) => !ownFields.has(field) || field === 'refer_type',
  };
}

const paths: Readonly<Record<RunwayInputs['operation'], string>> = {
  text: '/v1/text_to_video',
  image: '/v1/image_to_video',
  references: '/v1/text_to_video',
  edit: '/v1/video_to_video',
};

export function buildRunwayVideo(request: VideoRequest, name: string): RunwaySubmission {
  const model = runwayModel(name);
  const inputs = runwayInputs(request, model);
  const { prompt, generateAudio, seed } = request;
  const extra = Object.entries(request.extra).filter(([field]) => !ownFields.has(field));
  return {
    path: paths[inputs.operation],
    json: {
      ...Object.fromEntries(extra),
      model: name,
      ...(prompt === '' ? {} : { promptText: prompt }),
      ...media(request, model, inputs),
      ...shapeFields(request, model, inputs.operation),
      ...defined({
        duration: secondsField(request, model, inputs),
        audio: model.sound === 'choice' ? generateAudio : undefined,
        seed: model.seed ? seed : undefined,
      }),
    },
    // The upstream generates sound unless the request forbids it.
    ...(model.sound === 'choice' ? { sound: generateAudio ?? true } : {}),
  };
}

/** An edit is as long as its video, but where the vendor makes a new one after it. */
export function hasOwnLength({ edit }: RunwayModel, { operation }: RunwayInputs): boolean {
  return operation === 'edit' && edit?.likeInput === true;
}

export const secondsUnsaid = 5;

function secondsField(
  { duration }: VideoRequest,
  model: RunwayModel,
  inputs: RunwayInputs,
): number | undefined {
  if (hasOwnLength(model, inputs)) return undefined;
  if (typeof duration === 'number') return duration;
  return model.demandsSeconds ? Math.max(secondsUnsaid, model.seconds.min) : undefined;
}

function media(
  { references: images, videos, audios, ratio }: VideoRequest,
  { bareVideos, edit }: RunwayModel,
  { operation, frames }: RunwayInputs,
): JsonObject {
  const references = images.length === 0 ? {} : { references: images.map((uri) => ({ uri })) };
  switch (operation) {
    case 'text':
      return {};
    case 'image':
      // Without a position some models take an image for a reference.
      return {
        promptImage: frames.map((uri, index) => ({ uri, position: index === 0 ? 'first' : 'last' })),
      };
    case 'references':
      return {
        ...references,
        ...(videos.length === 0
          ? {}
          : {
              referenceVideos: videos.map((uri) => (bareVideos === true ? { uri } : { type: 'video', uri })),
            }),
        ...(audios.length === 0 ? {} : { referenceAudio: audios.map((uri) => ({ type: 'audio', uri })) }),
      };
    case 'edit':
      return {
        ...defined({
          [edit?.field ?? 'videoUri']: videos[0],
          targetAspectRatio: edit?.targets?.find((target) => target === ratio),
        }),
        ...edit?.says,
        ...references,
      };
    default:
      return operation satisfies never;
  }
}

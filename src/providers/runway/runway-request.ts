import type { JsonObject, VideoRequest } from '../../models/request.ts';
import { defined } from '../../base/defined.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import { readFacts } from '../shared/read-facts.ts';
import { runwayModel, type RunwayModel } from './runway-models.ts';
import { runwayFacts } from './runway-facts.ts';
import { runwayInputs, secondsUnsaid, shapeFields, type RunwayInputs } from './runway-shape.ts';
import type { SubmitContext } from '../provider.ts';
import type { RunwaySubmission } from './runway-task.ts';

const paths: Readonly<Record<RunwayInputs['operation'], string>> = {
  text: '/v1/text_to_video',
  image: '/v1/image_to_video',
  references: '/v1/text_to_video',
  edit: '/v1/video_to_video',
  extend: '/v1/video_to_video',
};

export function buildRunwayVideo(
  request: VideoRequest,
  context: Pick<SubmitContext, 'model' | 'facts'>,
): RunwaySubmission {
  const { model: name } = context;
  const model = runwayModel(name);
  const inputs = runwayInputs(request, model);
  const { prompt, generateAudio, seed } = request;
  const facts = readFacts(request, runwayFacts, context);
  const { sound = 'unknown' } = facts;
  const audio = sound === 'choice' || sound === 'unknown' ? generateAudio : undefined;
  return {
    path: paths[inputs.operation],
    json: {
      ...passedOn(request, facts),
      model: name,
      ...(prompt === '' ? {} : { promptText: prompt }),
      ...media(request, model, inputs),
      ...shapeFields(request, model, inputs.operation),
      ...defined({ duration: secondsField(request, model, inputs), audio, seed }),
    },
    // The upstream generates sound by default, so a request that leaves this open is treated as having sound.
    ...defined({ sound: sound === 'choice' ? (audio ?? true) : audio }),
  };
}

function keepsInputLength({ edit }: RunwayModel, { operation }: RunwayInputs): boolean {
  return operation === 'edit' && edit?.likeInput === true;
}

function secondsField(
  { duration }: VideoRequest,
  model: RunwayModel,
  inputs: RunwayInputs,
): number | undefined {
  if (keepsInputLength(model, inputs)) return undefined;
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
      // An explicit position is necessary, because some models treat an image without a position as a reference.
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
    case 'extend':
      return { [edit?.field ?? 'videoUri']: videos[0] ?? '', mode: 'extend', ...references };
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

import type { VideoRequest } from '../../domain/request.ts';
import { defined } from '../../domain/defined.ts';
import { checkRunwayVideo } from './runway-check.ts';
import { runwayImage, runwayImageFields } from './runway-image.ts';
import { runwayInputs, runwayModel, runwayRoles, usualFirst } from './runway-models.ts';
import { buildRunwayVideo, hasOwnLength, runwayConsumes, secondsUnsaid } from './runway-request.ts';
import { cancelRunway, runwayStatus, submitRunway } from './runway-task.ts';
import type { PossibleOutput, Provider, VideoProvider } from '../provider.ts';

/**
 * Videos of Runway: text, frames, references, edits. Not covered: `act_two`, uploads of our own, the model router,
 * and guidance for an edit beyond what `metadata.keyframes` holds.
 */
const runwayVideo: VideoProvider = {
  cancelUntil: 'running',
  check: checkRunwayVideo,
  consumes: runwayConsumes,
  roles: (_, model) => runwayRoles(runwayModel(model)),
  submit: async (request, context) => submitRunway(buildRunwayVideo(request, context.model), context),
  status: (operation, context) => runwayStatus(operation, context, 'video'),
  cancel: cancelRunway,
  renders,
};

/** Where nothing is said, the vendor chooses, and how is not documented: any size and length that the model has. */
function renders(request: VideoRequest, name: string): PossibleOutput {
  const model = runwayModel(name);
  const inputs = runwayInputs(request, model);
  const { seconds, demandsRatio, demandsSeconds, shapes, imageShapes } = model;
  const sold = usualFirst(inputs.operation === 'image' ? (imageShapes ?? shapes) : shapes);
  const isSent = demandsRatio || request.ratio !== undefined;
  const unsaid = Math.max(secondsUnsaid, seconds.min);
  const asked = demandsSeconds ? { min: unsaid, max: unsaid } : { min: seconds.min, max: seconds.max };
  return defined({
    resolutions:
      request.resolution !== undefined || sold.length === 0 ? undefined : isSent ? sold.slice(0, 1) : sold,
    seconds: hasOwnLength(model, inputs) || request.duration === undefined ? asked : undefined,
  });
}

export const runway: Provider = {
  about: {
    vendor: 'Runway',
    inputs:
      'text; a first frame, for some models a last one; Seedance: reference images, videos and audio; a video to edit (`metadata.refer_type: base` where the model takes references, too); images with references, which a prompt of gen4 names `@image_1`. A resolution and a ratio are sent as a pair of pixels. Nothing of ours comes back and there is no list, so that a person looks a lost job up in the portal',
    costUnit: 'credits',
    unbilled: { classes: ['internal'] },
    unverified: [
      'whether what is refused for its content is billed: the documents say so, Seedance reported a cost of zero; the cost in the answer counts',
      'models beyond the SDK of 2026-07 (seedance2_5, wan3, grok_imagine_1_5, hailuo3, h3_max, kling…): their lengths, sizes and fields',
      'the field of the video that `gemini_omni_flash` edits; whether a model without a switch makes sound',
      'whether a job that was cancelled is still known, as `CANCELLED`; both are read',
    ],
  },
  video: runwayVideo,
  imageTask: runwayImage,
  imageFields: runwayImageFields,
};

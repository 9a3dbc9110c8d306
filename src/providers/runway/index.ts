import type { VideoRequest } from '../../domain/request.ts';
import { defined } from '../../domain/defined.ts';
import { checkRunwayVideo } from './runway-check.ts';
import { runwayImage } from './runway-image.ts';
import { runwayImageFields } from './runway-image-models.ts';
import { runwayModel } from './runway-models.ts';
import { runwayInputs, runwayRoles, shapeFields, shapesOf, usualFirst } from './runway-shape.ts';
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
  const { seconds, demandsSeconds } = model;
  const shapes = shapesOf(model, inputs.operation);
  const sold = usualFirst(shapes);
  const isSent = 'pairs' in shapes && shapeFields(request, model, inputs.operation)?.ratio !== undefined;
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
      'text; a first frame, for some models a last one; Seedance, Wan 3, Hailuo 3, Grok and Gemini Omni 1.1: references; a video to edit (`metadata.refer_type: base` where the model takes reference videos, too); images with references, which a prompt of gen4 names `@image_1`. A resolution and a ratio are sent as a pair of pixels, or in the model’s own words. Nothing of ours comes back and there is no list, so that a person looks a lost job up in the portal',
    costUnit: 'credits',
    unbilled: { classes: ['internal'] },
    unverified: [
      'whether what is refused for its content is billed: the documents say so, Seedance reported a cost of zero; the cost in the answer counts',
      'fields, sizes and words are those of `@runwayml/sdk`; it does not say the lengths of Seedance 2.5, Wan 3, Grok Imagine, Hailuo 3 and H3 Max, and it does not have `veo3`, `gen4_aleph` and Kling',
      'whether a model without a switch makes sound',
      'whether a job that was cancelled is still known, as `CANCELLED`; both are read',
    ],
  },
  video: runwayVideo,
  imageTask: runwayImage,
  imageFields: runwayImageFields,
};

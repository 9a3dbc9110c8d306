import { uploadToRunway } from './runway-files.ts';
import { runwayFacts } from './runway-facts.ts';
import { runwayImage } from './runway-image.ts';
import { buildRunwayVideo } from './runway-request.ts';
import { cancelRunway, runwayStatus, submitRunway } from './runway-task.ts';
import type { Provider, VideoProvider } from '../provider.ts';

/**
 * Videos of Runway: text, frames, references, edits. Not covered: `act_two`, the model router, and guidance for an edit
 * beyond what `metadata.keyframes` holds.
 */
const runwayVideo: VideoProvider = {
  cancelUntil: 'running',
  facts: runwayFacts,
  submit: async (request, context) => submitRunway(buildRunwayVideo(request, context), context),
  status: (operation, context) => runwayStatus(operation, context, 'video'),
  cancel: cancelRunway,
};

export const runway: Provider = {
  about: {
    vendor: 'Runway',
    inputs:
      'text; a first frame, for some models a last one; Seedance, Wan 3, Hailuo 3, Grok and Gemini Omni 1.1: references; a video to edit (`metadata.video_task: edit` where the model takes reference videos, too), or to continue (`metadata.video_task: extend`, Seedance 2.5 and Gemini Omni 1.1); images with references, which a prompt of gen4 names `@image_1`. A resolution and a ratio are sent as a pair of pixels, or in the model’s own words. Nothing of ours comes back and there is no list, so that a person looks a lost job up in the portal',
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
  upload: uploadToRunway,
};

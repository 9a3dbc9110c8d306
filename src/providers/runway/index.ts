import { runwayBalance } from './runway-balance.ts';
import { uploadToRunway } from './runway-files.ts';
import { runwayFacts } from './runway-facts.ts';
import { runwayImage } from './runway-image.ts';
import { buildRunwayVideo } from './runway-request.ts';
import { cancelRunway, runwayStatus, submitRunway } from './runway-task.ts';
import type { Provider, VideoProvider } from '../provider.ts';

/**
 * Runway videos from text, frames or references, and edits. `act_two`, the model router, and guidance for edits beyond
 * `metadata.keyframes` are not supported.
 */
const runwayVideo: VideoProvider = {
  cancelUntil: 'queued',
  facts: runwayFacts,
  submit: async (request, context) => submitRunway(buildRunwayVideo(request, context), context),
  status: (operation, context) => runwayStatus(operation, context, 'video'),
  cancel: cancelRunway,
};

export const runway: Provider = {
  about: {
    vendor: 'Runway',
    inputs:
      'text; a first frame, and for some models a last frame; references (Seedance, Wan 3, Hailuo 3, Grok and Gemini Omni 1.1); a video to edit (`metadata.video_task: edit` if the model also accepts reference videos), or to continue (`metadata.video_task: extend`, Seedance 2.5 and Gemini Omni 1.1); images with references, which gen4 prompts refer to as `@image_1`. The resolution and ratio are sent as a size in pixels or in the model’s own terms. A lost job must be looked up in the vendor’s portal',
    costUnit: 'credits',
    unbilled: { classes: ['internal', 'capacity'] },
    unverified: [
      'whether jobs rejected for their content are billed: the documentation says so, but Seedance reported a cost of zero, so the cost in the response applies',
      'the lengths of Seedance 2.5, Wan 3, Grok Imagine, Hailuo 3 and H3 Max, and all facts about `veo3`, `gen4_aleph` and Kling: `@runwayml/sdk`, from which all other facts come, lacks them',
      'whether a model without a sound switch generates sound',
      'whether a cancelled job still exists, as `CANCELLED`: both cases are handled',
    ],
  },
  video: runwayVideo,
  imageTask: runwayImage,
  balance: runwayBalance,
  upload: uploadToRunway,
};

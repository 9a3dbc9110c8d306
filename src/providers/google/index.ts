import { googleImage } from './google-image.ts';
import { googleVideo } from './google-video.ts';
import type { Provider } from '../provider.ts';

export const google: Provider = {
  about: {
    vendor: 'Google (Gemini API and Vertex AI)',
    inputs:
      'Omni: text; a first frame; up to 7 reference images (10 on Vertex); a video to edit or, with `metadata.video_task`, to `extend` or `upscale`. Veo: text; first and last frame and up to 3 reference images as data URLs; a video to extend. Nano Banana: text and up to 14 images. On Vertex the key is an access token, and the upstream name of a video model names the folder of its results: `<model>@gs://<bucket>/<folder>`',
    unbilled: { classes: ['moderation_output'] },
    unverified: [
      'what an upscale of Omni takes and renders: the SDK names the task alone',
      'how callbacks are wrapped and signed: each is only a reason to ask; a lost submission of either family is found by nobody but a person, as nothing lists jobs',
      'whether Omni fetches addresses of other hosts; whether Veo reads `bytesBase64Encoded` everywhere (some clients send `inlineData`)',
      'whether a refusal without a video was made before or after the rendering: it is reported as moderation of the output',
      'how many images Nano Banana 2.1 takes',
      'whether `gemini-3.1-flash-image` still answers: its end was announced for 2026-10-29, and the SDK of 2026-11 names it; what Veo 3.1 Lite takes beside text and frames',
    ],
  },
  video: googleVideo,
  image: googleImage,
};

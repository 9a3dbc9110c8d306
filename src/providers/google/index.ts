import { googleImage } from './google-image.ts';
import { googleVideo } from './google-video.ts';
import type { Provider } from '../provider.ts';

export const google: Provider = {
  about: {
    vendor: 'Google (Gemini API and Vertex AI)',
    inputs:
      'Omni: text; a first frame; up to 7 reference images (10 on Vertex); a video to edit or, if `metadata.video_task` says so, to `extend` or `upscale`. Veo: text; first and last frame and up to 3 reference images as data URLs; a video to extend. Nano Banana: text and up to 14 images. On Vertex the key is an access token, and a video model’s upstream name includes the directory for its results: `<model>@gs://<bucket>/<folder>`',
    unbilled: { classes: ['moderation_output'] },
    unverified: [
      'the inputs and results of upscaling with Omni, which the SDK mentions only by name',
      'how callbacks are wrapped and signed: each only triggers a poll',
      'whether Omni fetches URLs on other hosts; whether Veo reads `bytesBase64Encoded` everywhere (some clients send `inlineData`)',
      'whether a rejection without a video comes before or after rendering: it is treated as output moderation',
      'whether a cancelled interaction is billed for what it has rendered: it counts as free',
      'how many images Nano Banana 2.1 accepts',
      'whether `gemini-3.1-flash-image` still works: its end was announced for 2026-10-29, but the SDK of 2026-11 still has it',
      'which inputs Veo 3.1 Lite accepts besides text and frames',
    ],
  },
  video: googleVideo,
  image: googleImage,
};

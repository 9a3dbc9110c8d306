import { xaiImage } from './xai-image.ts';
import { xaiVideo } from './xai-video.ts';
import type { Provider } from '../provider.ts';

export const xai: Provider = {
  about: {
    vendor: 'xAI (Grok Imagine)',
    inputs:
      'text; a first frame, and with 1.5 also a last one; up to 7 reference images; with 1.5, also up to 3 audio files or vendor voices (`metadata.reference_audios`: `[{ voice_id }]`); a video to edit or, if `metadata.video_task` is `extend`, to continue; up to 5 images to edit',
    costUnit: 'USD',
    unverified: [
      'whether moderation may come with status 403, and the names of the options that store a result',
      'how long links to images work, so copy the results',
      'the price of `high` quality images: the vendor’s pages list only `low` and `medium`',
    ],
  },
  video: xaiVideo,
  image: xaiImage,
};

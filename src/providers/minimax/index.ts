import { minimaxImage } from './minimax-image.ts';
import { minimaxVideo } from './minimax-video.ts';
import type { Provider } from '../provider.ts';

export const minimax: Provider = {
  about: {
    vendor: 'MiniMax',
    inputs:
      'text; first and last frame (H3, Hailuo 02); a first frame (Hailuo, I2V); reference images, videos and audio (H3); a subject (S2V-01); images with up to 16 references (H3-Image) or one character reference (image-01). `MiniMax-H3…` is sent to v2, all other names to v1. If the key has the form `<group id>:<key>`, the group is sent when files are retrieved',
    unbilled: { classes: 'all', models: 'MiniMax-H3' },
    unverified: [
      'whether older accounts need their group to retrieve files from v1',
      'the status of 2056 (plan limit); in v2, the envelope of callbacks and how long links work (a few hours)',
      'H3-Image: the image field of edits (`images[].image_url`, as in OpenAI’s JSON, is sent), the error format, how long links work, and how many tokens an image has, so set a price per image',
      'how to find a lost H3 job reliably: only its model and time are known, so an operator decides',
      'how many seconds of reference videos are billed: `input_second` counts those in the response',
    ],
  },
  video: minimaxVideo,
  image: minimaxImage,
};

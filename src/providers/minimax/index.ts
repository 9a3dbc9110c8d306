import { minimaxImage } from './minimax-image.ts';
import { minimaxVideo } from './minimax-video.ts';
import type { Provider } from '../provider.ts';

export const minimax: Provider = {
  about: {
    vendor: 'MiniMax',
    inputs:
      'text; first and last frame (H3, Hailuo 02); a first frame (Hailuo, I2V); H3: reference images, videos and audio; a subject (S2V-01); images of H3-Image from up to 16 references, of image-01 from one of a character. `MiniMax-H3…` goes to v2, other names to v1. A key written `<group id>:<key>` sends the group when files are retrieved',
    unbilled: { classes: 'all', models: 'MiniMax-H3' },
    unverified: [
      'whether older accounts need their group to retrieve files of v1',
      'the status of 2056 (plan limit), the envelope of callbacks of v2, the life of its links (a few hours)',
      'of H3-Image: the field of an image in an edit (`images[].image_url`, as in OpenAI’s JSON, is sent), the shape of its errors, how long its links live, and how many tokens an image has: price it by the image',
      'a lost job could be found by model and time only (H3), which is not safe: an operator decides (decision 0003)',
      'a reference video is billed by its seconds too; answers report them, prices cannot count them: give `video_input` a rule of its own',
    ],
  },
  video: minimaxVideo,
  image: minimaxImage,
};

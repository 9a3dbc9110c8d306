import { dashscopeImage, dashscopeImageTask } from './dashscope-image.ts';
import { dashscopeVideo } from './dashscope-video.ts';
import type { Provider } from '../provider.ts';

export const dashscope: Provider = {
  about: {
    vendor: 'Alibaba Model Studio (DashScope, Bailian)',
    inputs: 'text; first and last frame; reference images, videos and audio; a video to edit or continue',
    unbilled: { classes: 'all' },
    unverified: [
      'whether the hosts without a workspace serve Wan 3.0',
      'the prices and error codes of Wan 3.0, and the limits of qwen-image-3.0',
    ],
  },
  video: dashscopeVideo,
  image: dashscopeImage,
  imageTask: dashscopeImageTask,
};

import { dashscopeImage, dashscopeImageTask } from './dashscope-image.ts';
import { dashscopeVideo } from './dashscope-video.ts';
import type { Provider } from '../provider.ts';

/** Alibaba Model Studio (Bailian). */
export const dashscope: Provider = {
  video: dashscopeVideo,
  image: dashscopeImage,
  imageTask: dashscopeImageTask,
};

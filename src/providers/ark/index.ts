import { arkBill } from './ark-bill.ts';
import { arkImage } from './ark-image.ts';
import { arkVideo } from './ark-video.ts';
import type { Provider } from '../provider.ts';

export const ark: Provider = {
  about: {
    vendor: 'Volcengine Ark, BytePlus ModelArk',
    inputs: 'text; first and last frame; reference images, videos and audio (2.0 and later)',
    unbilled: { classes: 'all' },
    unverified: [
      'which field of a list item contains the failure: both `failure_reason` and `error` are read',
      'whether `safety_identifier` may differ for each task, because it is the marker by which lost jobs are found',
      'the price of a 2.5 draft, and of 1080p in CNY; whether 2.5 accepts `priority`',
    ],
  },
  video: arkVideo,
  image: arkImage,
  bill: arkBill,
};

import { createKlingCall } from './kling-call.ts';
import { createKlingImage } from './kling-image.ts';
import { createKlingVideo } from './kling-video.ts';
import type { Provider } from '../provider.ts';

/** Kling, by a clock: signatures of key pairs carry the time, in Unix milliseconds. */
export function createKling(now: () => number): Provider {
  const call = createKlingCall(now);
  return {
    about: {
      vendor: 'Kling (Kuaishou)',
      inputs:
        'text; first and last frame; omni: up to 7 reference images and elements (`metadata.element_list`), which a prompt names `@image_1`, and a video to follow or to edit (`metadata.video_task: edit`); 3.0 and 2.6: the motion of a video for the figure of a reference image, from the side of either (`metadata.character_orientation`: `image`, `video`); legacy names (`kling-v…`) go to `/v1`, which accepts `<access key>:<secret key>` as the key, too',
      costUnit: 'video or image units, or the currency of a payment in cash',
      unverified: [
        'that failed jobs are refunded, as the price list says: only a cost of zero in the answer counts',
        'the path and the fields of 4.0',
        'what a second creation with the same `external_task_id` answers: nothing relies on it',
        'how many ids one question takes; the lengths of 2.x in the new standard; the fields of images in `multi-image2video` and `omni-image`',
        'the words of a job that fails in moderation, which has no code',
      ],
    },
    video: createKlingVideo(call),
    imageTask: createKlingImage(call),
  };
}

export const kling = createKling(Date.now);

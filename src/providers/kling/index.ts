import { createKlingBalance } from './kling-balance.ts';
import { createKlingCall } from './kling-call.ts';
import { createKlingImage } from './kling-image.ts';
import { createKlingVideo } from './kling-video.ts';
import type { Provider } from '../provider.ts';

/** @param now - Returns Unix milliseconds. Needed because key pair signatures include the time. */
export function createKling(now: () => number): Provider {
  const call = createKlingCall(now);
  return {
    about: {
      vendor: 'Kling (Kuaishou)',
      inputs:
        'text; first and last frame; with omni, up to 7 reference images and elements (`metadata.element_list`), which the prompt refers to as `@image_1`, and a video to follow or to edit (`metadata.video_task: edit`); with 3.0 and 2.6, a video whose motion is transferred to the figure in a reference image, in the orientation of the image or the video (`metadata.character_orientation`: `image`, `video`). Legacy names (`kling-v…`) are sent to `/v1`, which also accepts `<access key>:<secret key>` as the key',
      costUnit: 'video or image units, or the currency if the account pays in cash',
      unverified: [
        'whether failed jobs are refunded, as the price list promises: only a reported cost of zero is treated as a refund',
        'the path and the fields of 4.0',
        'whether `/account/costs`, which reports the balance, accepts API keys: its page shows only a bearer token',
        'what a second create request with the same `external_task_id` returns (nothing relies on it)',
        'how many ids one request can contain; the lengths of 2.x in the new standard; the image fields in `multi-image2video` and `omni-image`',
        'the wording of the message of a job that fails moderation, because such a job has no code',
      ],
    },
    video: createKlingVideo(call),
    imageTask: createKlingImage(call),
    balance: createKlingBalance(call, now),
  };
}

export const kling = createKling(Date.now);

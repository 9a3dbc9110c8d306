import { createBflImage } from './bfl-image.ts';
import { createBflVideo } from './bfl-video.ts';
import type { Provider } from '../provider.ts';

/** Black Forest Labs, by a clock: links die within minutes. `now` in Unix milliseconds. */
export function createBfl(now: () => number): Provider {
  return {
    about: {
      vendor: 'Black Forest Labs',
      inputs:
        'text; videos: a first image, first and last frame, up to 10 images at `metadata.keyframe_seconds`, or a video to continue; images: up to 10 references, `flux-pro-1.0-fill` with a mask',
      costUnit: 'credits',
      unbilled: { classes: ['moderation_input', 'moderation_output'] },
      unverified: [
        'how callbacks are signed: both ways are read where `callback_secret` is set, and without it every callback is a hint',
        'that links of FLUX 3 live an hour',
        'prices of 1440p and 4k',
        'whether a 503 at a submission may have been accepted: one that explains itself is retried',
        'a lost job cannot be found: the vendor has no list and no marker',
      ],
    },
    video: createBflVideo(now),
    imageTask: createBflImage(now),
  };
}

export const bfl = createBfl(Date.now);

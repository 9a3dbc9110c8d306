import { createBflImage } from './bfl-image.ts';
import { bflBalance } from './bfl-job.ts';
import { createBflVideo } from './bfl-video.ts';
import type { Provider } from '../provider.ts';

/** @param now - Returns Unix milliseconds. Needed because links expire within minutes. */
export function createBfl(now: () => number): Provider {
  return {
    about: {
      vendor: 'Black Forest Labs',
      inputs:
        'text; videos: a first frame, first and last frames, up to 10 keyframes at the times in `metadata.keyframe_seconds`, or a video to continue; images: up to 10 references or, for `flux-pro-1.0-fill`, a mask',
      costUnit: 'credits',
      unbilled: { classes: ['moderation_input', 'moderation_output'] },
      unverified: [
        'how callbacks are signed: if `callback_secret` is set, both known ways are accepted; otherwise, a callback only triggers a poll',
        'whether FLUX 3 links work for an hour',
        'the prices of 1440p and 4k',
        'whether a submission that got a 503 might have been accepted: a 503 with an explanation is retried',
      ],
    },
    video: createBflVideo(now),
    imageTask: createBflImage(now),
    balance: bflBalance,
  };
}

export const bfl = createBfl(Date.now);

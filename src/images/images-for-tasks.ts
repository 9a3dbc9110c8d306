import { GatewayError, mayBeRepeated } from '../errors/errors.ts';
import type { ImageRequest } from '../models/request.ts';
import type { GuardedClient } from '../http-client/index.ts';
import { UpstreamError } from '../providers/provider.ts';
import { callChannel, type ChannelAnswer, type ChannelCall } from './call-channel.ts';
import { createImageConverter } from './convert.ts';
import type { FetchedImages } from './fetched-images.ts';
import { openImageWorkspaces } from './workspace.ts';

export interface ImagesForTasksOptions {
  readonly now: () => number;
  readonly openMedia: GuardedClient['openMedia'];
  readonly pixelsMax: number;
  readonly fetchedImages: FetchedImages;
}

export interface TaskCall extends ChannelCall {
  readonly account: string;
}

export interface ImagesForTasks {
  readonly render: (call: TaskCall) => Promise<ChannelAnswer>;
  close(): Promise<void>;
}

export async function openImagesForTasks(options: ImagesForTasksOptions): Promise<ImagesForTasks> {
  const { openMedia, pixelsMax, now, fetchedImages } = options;
  const workspaces = await openImageWorkspaces(now);
  return {
    async render(call) {
      const workspace = workspaces.open();
      const space = fetchedImages.open(call.account);
      const { reserve } = space;
      try {
        const converter = createImageConverter({ openMedia, workspace, pixelsMax, reserve });
        const request = await converted(call, (asked) => converter.convert(asked, call.provider.imageForms));
        return request instanceof UpstreamError
          ? { kind: 'failed', error: request, ambiguous: 0 }
          : await callChannel({ ...call, request });
      } finally {
        space.release();
        await workspace.dispose();
      }
    },
    close: () => workspaces.close(),
  };
}

/** A failed fetch is the request's fault, but a full disk is not. Nothing has been sent upstream yet. */
async function converted(
  { request }: ChannelCall,
  convert: (request: ImageRequest) => Promise<ImageRequest>,
): Promise<ImageRequest | UpstreamError> {
  try {
    return await convert(request);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const outcome = mayBeRepeated(error) ? 'not_sent' : 'rejected';
    return new UpstreamError(outcome, error.message, { code: error.code, cause: error });
  }
}

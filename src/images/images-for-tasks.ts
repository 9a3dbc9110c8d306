import { GatewayError } from '../errors/errors.ts';
import type { ImageRequest } from '../models/request.ts';
import type { GuardedClient } from '../http-client/index.ts';
import { UpstreamError } from '../providers/provider.ts';
import { callChannel } from './call-channel.ts';
import type { ChannelAnswer, ChannelCall } from './call-channel.ts';
import { createImageConverter } from './convert.ts';
import { openImageWorkspaces } from './workspace.ts';

export interface ImagesForTasksOptions {
  readonly now: () => number;
  readonly openMedia: GuardedClient['openMedia'];
  /** Pixels of one reference image. */
  readonly pixelsMax: number;
}

/** A worker's way to channels that answer with the images. */
export interface ImagesForTasks {
  /** Rejects only for what is a fault of ours. */
  readonly render: (call: ChannelCall) => Promise<ChannelAnswer>;
  close(): Promise<void>;
}

export async function openImagesForTasks(options: ImagesForTasksOptions): Promise<ImagesForTasks> {
  const { openMedia, pixelsMax, now } = options;
  const workspaces = await openImageWorkspaces(now);
  return {
    async render(call) {
      const workspace = workspaces.open();
      try {
        const converter = createImageConverter({ openMedia, workspace, pixelsMax });
        const request = await converted(call, (asked) => converter.convert(asked, call.provider.imageForms));
        return request instanceof UpstreamError
          ? { kind: 'failed', error: request, ambiguous: 0 }
          : await callChannel({ ...call, request });
      } finally {
        await workspace.dispose();
      }
    },
    close: () => workspaces.close(),
  };
}

/** An image that cannot be fetched is the request's fault: nothing was sent. */
async function converted(
  { request }: ChannelCall,
  convert: (request: ImageRequest) => Promise<ImageRequest>,
): Promise<ImageRequest | UpstreamError> {
  try {
    return await convert(request);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return new UpstreamError('rejected', error.message, { code: error.code, cause: error });
  }
}

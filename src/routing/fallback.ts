import type { ModelConfig } from '../config/gateway-file.ts';
import { imagesOf } from '../models/media-roles.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { Fallback } from '../task/rescue.ts';

/** A channel that can serve the request, as far as a fallback needs to know it. */
export interface FallbackChannel {
  /** In service, and with an open circuit: it may have closed by the time that a job has failed. */
  readonly credentials: readonly string[];
  /** The channel renders the request as a task. */
  readonly canWait: boolean;
}

/** Where a task of this request may go when its job has failed; undefined: nowhere. */
export function planFallback(
  { fallback: config, expected_seconds: neededSeconds }: ModelConfig,
  request: GenerationRequest,
  channels: ReadonlyMap<string, FallbackChannel>,
): Fallback | undefined {
  if (config === undefined || !isMovable(request)) return undefined;
  const usable = config.channels.flatMap((id) => {
    const channel = channels.get(id);
    return channel?.canWait === true ? [{ id, ...channel }] : [];
  });
  if (usable.length === 0) return undefined;
  return {
    candidates: usable.flatMap(({ id, credentials }) =>
      credentials.map((credential) => ({ channel: id, credential })),
    ),
    on: config.on,
    neededSeconds,
  };
}

const portableMedia = /^(?:https?|data):/i;

/** What names something that one vendor keeps (a file's id, a draft) means nothing to another. */
function isMovable(request: GenerationRequest): boolean {
  if (request.kind === 'image') {
    return request.images.every((image) => image.form !== 'url' || portableMedia.test(image.url));
  }
  const media = [...imagesOf(request), ...request.videos, ...request.audios];
  return request.draft !== true && media.every((address) => portableMedia.test(address));
}

import type { ModelConfig } from '../config/gateway-file.ts';
import { imagesOf } from '../models/media-roles.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { Fallback } from '../task/rescue.ts';

export interface FallbackChannel {
  /** Includes credentials with an open circuit, which may have closed by the time a job fails. */
  readonly credentials: readonly string[];
  readonly canWait: boolean;
}

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

/** Returns false for a request that refers to a file id or a draft, because those exist only at one vendor. */
function isMovable(request: GenerationRequest): boolean {
  if (request.kind === 'image') {
    return request.images.every((image) => image.form !== 'url' || portableMedia.test(image.url));
  }
  const media = [...imagesOf(request), ...request.videos, ...request.audios];
  return request.draft !== true && media.every((address) => portableMedia.test(address));
}

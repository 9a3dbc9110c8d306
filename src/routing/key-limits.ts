import type { Caller } from '../access/caller.ts';
import { parseSize } from '../base/image-sizes.ts';
import type { GenerationRequest } from '../models/request.ts';
import { linesOf } from '../models/video-shapes.ts';
import type { RequestIssue } from '../providers/provider.ts';
import type { Quote } from './quote.ts';

export const resolutionLimitPattern = /^(?:[1-9]\d{2,3}p|[1-8]k)$/i;

/**
 * Checks the key's limits against everything that the upstream may render. An unknown length or resolution exceeds any
 * limit.
 */
export function keyLimitIssue(
  request: GenerationRequest,
  { secondsMax, resolutions, fixed }: Pick<Quote, 'secondsMax' | 'resolutions' | 'fixed'>,
  { secondsMax: longest, resolutionMax: largest }: Caller,
): RequestIssue | undefined {
  const isVideo = request.kind === 'video';
  if (isVideo && longest !== undefined && (secondsMax ?? Infinity) > longest) {
    return { param: 'duration', message: `This API key is limited to videos of at most ${longest} seconds.` };
  }
  if (largest === undefined) return undefined;
  const named = isVideo ? fixed.resolution : fixed.size;
  const possible = named === undefined ? (resolutions ?? ['']) : [named];
  const limit = shorterSide(largest, request.kind) ?? 0;
  if (possible.every((one) => (shorterSide(one, request.kind) ?? Infinity) <= limit)) return undefined;
  const param = isVideo ? 'resolution' : 'size';
  return {
    param,
    message: `This API key is limited to ${largest}${named === undefined ? `, so the request must specify ${param}` : ''}.`,
  };
}

const imagePixelsPerK = 1024;

function shorterSide(word: string, kind: GenerationRequest['kind']): number | undefined {
  const pixels = parseSize(word);
  if (pixels !== undefined) return Math.min(pixels.width, pixels.height);
  const [, count] = /^(\d{1,4})k$/i.exec(word) ?? [];
  return kind === 'image' && count !== undefined ? Number(count) * imagePixelsPerK : linesOf(word);
}

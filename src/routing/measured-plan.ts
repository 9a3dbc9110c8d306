import type { Buyer, Caller } from '../access/caller.ts';
import type { AskedRequest } from '../models/request.ts';
import type { Catalogue, RoutePlan } from './catalogue.ts';
import { countedSeconds } from './counted-seconds.ts';

/**
 * In seconds. `unreadable` means that the server denies access or that the file has no readable length. Undefined means
 * that measuring failed this time, possibly because of a problem on our side.
 */
export type VideoLength = number | 'unreadable' | undefined;

/** Resolves to the videos' lengths in order, within a limited time. Rejects only if our own data cannot be read. */
export type MeasureVideos = (
  urls: readonly string[],
  caller: Pick<Caller, 'account'>,
) => Promise<readonly VideoLength[]>;

export interface InputMedia {
  readonly measureVideos?: MeasureVideos;
  /**
   * Puts the media into the form that upstreams accept.
   * @throws GatewayError
   */
  readonly linkMedia?: (request: AskedRequest, caller: Caller) => Promise<AskedRequest>;
}

interface Asking {
  readonly request: AskedRequest;
  readonly buyer: Buyer;
}

/**
 * Measures the videos only if a channel charges for their length, so that other requests need not wait. If a length
 * stays unknown, each price assumes the longest video that its channel accepts, and the plan contains a warning.
 */
export async function planMeasured(
  plan: Catalogue['plan'],
  { request: asked, buyer }: Asking,
  { measureVideos, linkMedia }: InputMedia,
): Promise<RoutePlan> {
  const request = linkMedia === undefined ? asked : await linkMedia(asked, buyer);
  const planned = plan(request, buyer);
  if (!planned.pricesInput || request.kind !== 'video' || measureVideos === undefined) return planned;
  const seconds = await measureVideos(request.videos, buyer);
  const inputSeconds = totalSeconds(seconds);
  if (inputSeconds !== undefined) return plan(request, buyer, { inputSeconds });
  const unknown = seconds.flatMap((each, index) => (typeof each === 'number' ? [] : [index]));
  return { ...planned, warnings: [...planned.warnings, ...unknown.map(notMeasured)] };
}

export function totalSeconds(seconds: readonly VideoLength[]): number | undefined {
  return seconds.reduce<number | undefined>(
    (sum, each) => (sum === undefined || typeof each !== 'number' ? undefined : sum + countedSeconds(each)),
    0,
  );
}

function notMeasured(index: number): string {
  return `videos[${index}]: the length could not be read in time. The hold covers the longest video that the model accepts.`;
}

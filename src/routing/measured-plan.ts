import type { Caller } from '../access/caller.ts';
import type { AskedRequest } from '../models/request.ts';
import type { Catalogue, RoutePlan } from './catalogue.ts';

/** Of each video, in order, its seconds; undefined: they could not be found out. Takes a bounded time, never rejects. */
export type MeasureVideos = (
  urls: readonly string[],
  caller: Caller,
) => Promise<readonly (number | undefined)[]>;

/** What is done with the media that requests name. What is absent is left undone. */
export interface InputMedia {
  readonly measureVideos?: MeasureVideos;
  /** The media as upstreams get them. Throws GatewayError. */
  readonly linkMedia?: (request: AskedRequest, caller: Caller) => Promise<AskedRequest>;
}

interface Asking {
  readonly request: AskedRequest;
  readonly caller: Caller;
}

/**
 * The plan of a request, priced by the length of the videos that it gives where some channel charges for them. Nobody
 * else waits. One video whose length is not known: the most that each channel takes counts, and a warning says so.
 */
export async function planMeasured(
  plan: Catalogue['plan'],
  { request: asked, caller }: Asking,
  { measureVideos, linkMedia }: InputMedia,
): Promise<RoutePlan> {
  const request = linkMedia === undefined ? asked : await linkMedia(asked, caller);
  const planned = plan(request, caller);
  if (!planned.pricesInput || request.kind !== 'video' || measureVideos === undefined) return planned;
  const seconds = await measureVideos(request.videos, caller);
  const unknown = seconds.flatMap((each, index) => (each === undefined ? [index] : []));
  if (unknown.length === 0)
    return plan(request, caller, {
      inputSeconds: seconds.reduce<number>((sum, each) => sum + (each ?? 0), 0),
    });
  return { ...planned, warnings: [...planned.warnings, ...unknown.map(notMeasured)] };
}

function notMeasured(index: number): string {
  return `videos[${index}]: its length could not be read; the hold is for the longest that the model takes.`;
}

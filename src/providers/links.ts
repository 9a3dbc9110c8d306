import type { Provider, ResultLinks } from './provider.ts';

/**
 * The minimum lifetime of a link, in seconds. It suits a caller who polls every few minutes and downloads the result
 * only when someone wants to see it.
 */
export const linkLifeMinSeconds = 2 * 3600;

/**
 * Whether part of the adapter delivers links that callers cannot use, so its results must be copied to our own storage.
 */
export function needsStorage({ video, imageTask }: Provider): boolean {
  return [video, imageTask].some((part) => part !== undefined && isUnusable(part));
}

/** Whether callers cannot use the links, because they need the vendor's key or expire too soon. */
export function isUnusable({ linkLifeSeconds, linkHeaders }: ResultLinks): boolean {
  return linkHeaders !== undefined || (linkLifeSeconds ?? Infinity) < linkLifeMinSeconds;
}

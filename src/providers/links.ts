import type { Provider, ResultLinks } from './provider.ts';

/** A caller who polls every few minutes, and downloads when a person looks, needs a link at least this long. */
export const linkLifeMinSeconds = 2 * 3600;

/** Whether some part of the vendor delivers links that callers cannot use: its results must be copied to our own storage. */
export function needsStorage({ video, imageTask }: Provider): boolean {
  return [video, imageTask].some((part) => part !== undefined && isUnusable(part));
}

/** Callers cannot use the links: they need the vendor's key, or do not live long enough. */
export function isUnusable({ linkLifeSeconds, linkHeaders }: ResultLinks): boolean {
  return linkHeaders !== undefined || (linkLifeSeconds ?? Infinity) < linkLifeMinSeconds;
}

import type { Provider, ResultLinks } from './provider.ts';

/** A caller who polls every few minutes, and downloads when a person looks, needs a link at least this long. */
const linkLifeMinSeconds = 2 * 3600;

/** Whether results must be copied to a storage of our own, because callers cannot use the links of this vendor. */
export function needsStorage({ video, imageTask }: Provider): boolean {
  return [video, imageTask].some((part) => part !== undefined && isUnusable(part));
}

function isUnusable({ linkLifeSeconds, linkHeaders }: ResultLinks): boolean {
  return linkHeaders !== undefined || (linkLifeSeconds ?? Infinity) < linkLifeMinSeconds;
}

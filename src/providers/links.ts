import type { Provider, ResultLinks } from './provider.ts';

/**
 * A link that expires sooner is useless to callers. They may poll only every few minutes, and download a result only
 * when someone wants to see it.
 */
export const linkLifeMinSeconds = 2 * 3600;

export function needsStorage({ video, imageTask }: Provider): boolean {
  return [video, imageTask].some((part) => part !== undefined && isUnusable(part));
}

/** Callers cannot use links that need the vendor's key or expire too soon. */
export function isUnusable({ linkLifeSeconds, linkHeaders, someNeedKey }: ResultLinks): boolean {
  return (
    (linkHeaders !== undefined && someNeedKey !== true) || (linkLifeSeconds ?? Infinity) < linkLifeMinSeconds
  );
}

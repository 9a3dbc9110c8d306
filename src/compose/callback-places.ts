import { createHostPlaces } from '../capacity/host-places.ts';
import type { HostPlaces } from '../capacity/host-places.ts';
import type { Core } from './core.ts';

/**
 * A host that is down can occupy no more slots than its own limit, and all hosts of an account no more than the
 * account's limit.
 */
const callbacksPerHostMax = 16;
const callbacksPerAccountMax = 100;

export function openCallbackPlaces({ now, random }: Pick<Core, 'now' | 'random'>): HostPlaces {
  return createHostPlaces({
    requestsPerHostMax: callbacksPerHostMax,
    requestsPerAccountMax: callbacksPerAccountMax,
    waitMs: 1_000,
    now,
    random,
  });
}

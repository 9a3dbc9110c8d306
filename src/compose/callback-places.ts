import { createHostPlaces } from '../capacity/host-places.ts';
import type { HostPlaces } from '../capacity/host-places.ts';
import type { Core } from './core.ts';

/** The most slots that one host can occupy, in case it does not respond. */
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

import { createHostPlaces, type HostPlaces } from '../capacity/host-places.ts';
import type { Core } from './core.ts';

/** Limits how many slots a host that does not respond can occupy. */
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

import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { StayPlace } from '../src/capacity/stay-places.ts';

/** One signal for what ends an attempt early: the activity's cancellation, the worker's shutdown, a wake. */
export function attemptSignal(place: StayPlace | undefined) {
  const { cancellationSignal } = Context.current();
  const sources = [cancellationSignal, ...(place === undefined ? [] : [place.ending])];
  const controller = new AbortController();
  const end = (): void => controller.abort(new Error('the attempt ends'));
  // Not AbortSignal.any, which keeps what it made for as long as its sources live.
  for (const source of sources) {
    if (source.aborted) end();
    source.addEventListener('abort', end, { once: true });
  }
  return {
    signal: controller.signal,
    forget(): void {
      for (const source of sources) source.removeEventListener('abort', end);
    },
  };
}

/** Rejects when the signal aborts. */
export async function restFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal });
}

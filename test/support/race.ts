import { onTestFinished } from 'vitest';
import { onRacePoint } from '../../src/base/race-point.ts';
import type { RacePoint } from '../../src/base/race-point.ts';

export interface Paused {
  /** Resolves when somebody stands at the point; only then has the test hit its window. */
  readonly reached: Promise<void>;
  readonly release: () => void;
}

/** Stops the first that comes to `point` (about `subject`, if named) until `release`; everybody else passes. */
export function pauseFirstAt(point: RacePoint, subject?: string): Paused {
  const arrived = gate();
  const released = gate();
  let taken = false;
  onRacePoint((at, about) => {
    if (taken || at !== point || (subject !== undefined && subject !== about)) return undefined;
    taken = true;
    arrived.resolve();
    return released.promise;
  });
  onTestFinished(() => {
    released.resolve();
    onRacePoint(undefined);
  });
  return { reached: arrived.promise, release: () => released.resolve() };
}

/** A promise that a test resolves. */
export function gate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

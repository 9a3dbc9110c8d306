import { onTestFinished } from 'vitest';
import { onRacePoint, type RacePoint } from '../../src/base/race-point.ts';

export interface Paused {
  /** Resolves with the subject that reached the point. Only then is the test in the window it wants. */
  readonly reached: Promise<string>;
  readonly release: () => void;
}

/** Stops the first caller that reaches `point` (for `subject`, if given) until `release` is called. All others pass. */
export function pauseFirstAt(point: RacePoint, subject?: string): Paused {
  const arrived = gate<string>();
  const released = gate();
  let taken = false;
  onRacePoint((at, about) => {
    if (taken || at !== point || (subject !== undefined && subject !== about)) return undefined;
    taken = true;
    arrived.resolve(about);
    return released.promise;
  });
  onTestFinished(() => {
    released.resolve();
    onRacePoint(undefined);
  });
  return { reached: arrived.promise, release: () => released.resolve() };
}

export function gate<Value = void>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve };
}

import { onTestFinished } from 'vitest';
import { onRacePoint, type RacePoint } from '../../src/base/race-point.ts';

export interface Paused {
  /** Resolves with the subject of the paused caller. From then on, the race window is open. */
  readonly reached: Promise<string>;
  readonly release: () => void;
}

/**
 * Pauses the first caller that reaches `point` (for `subject`, if given) until `release` is called. Other callers are
 * not paused.
 */
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

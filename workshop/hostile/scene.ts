import { setTimeout as delay } from 'node:timers/promises';
import { shootOn } from '../../test/support/hostile-wire.ts';
import type { Framing, WireConnection, WireRequest } from '../../test/support/hostile-wire.ts';
import type { Random } from '../stand/random.ts';

export interface Scene {
  readonly keys: readonly string[];
  readonly random: Random;
  readonly signal: AbortSignal;
  open(reads?: boolean): Promise<WireConnection>;
}

export interface Attack {
  readonly name: string;
  readonly hasBodies: boolean;
  /** Set only if the attackers and the victim share an IP address, as they would behind a proxy. */
  readonly isFromVictimsAddress?: true;
  /** The minimum duration. A shorter attack has no visible effect. */
  readonly secondsLeast?: number;
  readonly parts: readonly ((scene: Scene) => Promise<void>)[];
}

export const kibibyte = 1024;
export const mebibyte = 1024 * kibibyte;
export const answeredWithinMs = 30_000;
const repeatAfterMs = 5;
export const dripEveryMs = 50;

export async function onLanes(
  { signal }: Scene,
  lanes: number,
  act: (lane: number) => Promise<void>,
): Promise<void> {
  const repeat = async (lane: number): Promise<void> => {
    while (!signal.aborted) {
      await act(lane);
      await delay(repeatAfterMs);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => repeat(lane)));
}

interface Fire {
  readonly request: WireRequest;
  readonly framing: Framing;
  readonly copies?: number;
  readonly reads?: boolean;
}

export async function fire(scene: Scene, { reads = true, ...shot }: Fire): Promise<void> {
  const wire = await scene.open(reads);
  await shootOn(wire, { ...shot, withinMs: answeredWithinMs });
  wire.destroy();
}

export async function drip(
  wire: WireConnection,
  bytes: Iterable<Buffer>,
  bytesPerSecond: number,
): Promise<void> {
  const size = Math.ceil((bytesPerSecond * dripEveryMs) / 1000);
  for (const piece of bytes) {
    for (let from = 0; from < piece.length; from += size) {
      if (!wire.isOpen() || wire.answers.length > 0) return;
      await wire.write(piece.subarray(from, from + size));
      await delay(dripEveryMs);
    }
  }
  await wire.answered(1, answeredWithinMs);
}

export const withKey = (request: WireRequest, key: string): WireRequest => ({
  ...request,
  headers: { authorization: `Bearer ${key}`, ...request.headers },
});
export const firstKey = ({ keys }: Scene): string => keys[0] ?? '';
export const get = (path: string): WireRequest => ({ method: 'GET', path, headers: {} });

export const document = get('/openapi.json');
export const json = { 'content-type': 'application/json' };
export const create: WireRequest = { path: '/v1/videos/generations', headers: json };

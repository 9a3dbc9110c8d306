import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../errors/errors.ts';
import { createSightings } from '../process/sightings.ts';
import type { AnswerHead, RepeatRecord, RepeatStore } from '../store/repeats.ts';

export interface Answer extends AnswerHead {
  readonly parts?: readonly (string | Uint8Array)[];
}

export type RepeatEnd =
  | { readonly kind: 'answered'; readonly answer: Answer }
  /** The first request was answered, but its response could not be kept. */
  | { readonly kind: 'not_kept' }
  /** The process that handled the request died or is suspended. `isPaid` is true if the ledger contains a charge. */
  | { readonly kind: 'abandoned'; readonly isPaid: boolean }
  | { readonly kind: 'forgotten' };

interface Waiting {
  readonly closed: AbortSignal;
  /** Reserves memory for the bytes of a stored response, before they are read. */
  readonly reserve: (bytes: number) => void;
}

/**
 * Waits for the response to the first request, also in other processes. Throws if the caller disconnects first, or if
 * `reserve` throws.
 */
export type WaitForRepeat = (record: RepeatRecord, waiting: Waiting) => Promise<RepeatEnd>;

interface WaitForRepeatDeps {
  readonly store: Pick<RepeatStore, 'find' | 'complete' | 'readBody'>;
  readonly isPaid: (made: string) => Promise<boolean>;
  readonly now: () => number;
}

/** Measured by the waiting process's own clock, because the clocks of processes differ. */
const abandonedAfterMs = 60_000;
const lookEveryMs = 200;
/** Sightings are kept for roughly this long. After that, a repeat has to wait the whole of `abandonedAfterMs` again. */
const sightingsKeptMs = 10 * 60_000;

export function createWaitForRepeat(deps: WaitForRepeatDeps): WaitForRepeat {
  const { store, now } = deps;
  // Shared by all requests. A caller may stop waiting and repeat its request before `abandonedAfterMs` has passed, and
  // the time it has already waited must count.
  const sightings = createSightings(now);
  const nextLook = createNextLook(store);
  let tidiedAt = now();

  function isAbandoned({ id, made, beat }: RepeatRecord): boolean {
    if (now() - tidiedAt > sightingsKeptMs) {
      sightings.forgetOthers();
      tidiedAt = now();
    }
    return sightings.unchangedMs(id, `${made}/${beat}`) >= abandonedAfterMs;
  }

  return async (record, { closed, reserve }) => {
    for (let found: RepeatRecord | undefined = record; found !== undefined;) {
      if (found.state === 'done') return replay(found, reserve, deps);
      if (isAbandoned(found)) return recoverAbandoned(found, reserve, deps);
      if (closed.aborted) throw new GatewayError('service_unavailable', 'The caller disconnected.');
      found = await nextLook(record.id);
    }
    return { kind: 'forgotten' };
  };
}

/** All repeats that wait for the same request share the next look at its record, however many they are. */
function createNextLook(store: Pick<RepeatStore, 'find'>) {
  const looks = new Map<string, Promise<RepeatRecord | undefined>>();
  const look = async (id: string): Promise<RepeatRecord | undefined> => {
    await sleep(lookEveryMs);
    return store.find(id).finally(() => looks.delete(id));
  };
  return (id: string): Promise<RepeatRecord | undefined> => {
    const next = looks.get(id) ?? look(id);
    looks.set(id, next);
    return next;
  };
}

/** If the response was stored and charged, repeats receive it. Otherwise, what happened upstream is unknown. */
async function recoverAbandoned(
  record: RepeatRecord,
  reserve: Waiting['reserve'],
  deps: WaitForRepeatDeps,
): Promise<RepeatEnd> {
  const isPaid = await deps.isPaid(record.made);
  if (record.state !== 'stored' || !isPaid) return { kind: 'abandoned', isPaid };
  await deps.store.complete(record);
  return replay(record, reserve, deps);
}

async function replay(
  { made, answer }: RepeatRecord,
  reserve: Waiting['reserve'],
  { store }: WaitForRepeatDeps,
): Promise<RepeatEnd> {
  if (answer === undefined) return { kind: 'not_kept' };
  const { status, mayRetry, documents, bytes = 0 } = answer;
  if (documents === undefined) return { kind: 'answered', answer: { status, mayRetry } };
  reserve(bytes);
  return { kind: 'answered', answer: { status, mayRetry, parts: await store.readBody(made, documents) } };
}

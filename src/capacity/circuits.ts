import type { DroppedChannel } from '../domain/routing.ts';
import type { JsonObject } from '../domain/request.ts';
import type { Circuit, ChannelHealthStore } from '../store/channel-health.ts';
import { createSnapshot } from '../store/snapshot.ts';
import { circuitRules, closedAfter, openedBy, signOf } from '../domain/circuit-rules.ts';
import type { CircuitRecord, Failure, HealthSign, JudgedError } from '../domain/circuit-rules.ts';

/** What a circuit protects: one credential of a channel, and within it one model. */
export interface CircuitTarget {
  readonly channel: string;
  readonly credential: string;
  readonly model: string;
}

export type CircuitDecision =
  | { readonly open: false }
  | { readonly open: true; readonly retryAfterMs: number; readonly detail: string };

/** An upstream's refusal, as adapters throw it. */
export interface UpstreamFailure extends JudgedError {
  readonly code: string;
  readonly retryAfterMs: number | undefined;
}

/**
 * The circuits of all credentials. Failures are counted in the memory of each process; a circuit that opens or closes
 * is written to MongoDB, which all processes read every two seconds. While all are closed nothing is written.
 */
export interface Circuits {
  /** Whether a request may be sent now. An open circuit lets one request through once its cool-down is over. */
  enter(target: CircuitTarget, probeMs: number): Promise<CircuitDecision>;
  /** Records the upstream's response. Never throws: health is a side effect of the response. */
  report(target: CircuitTarget, failure: UpstreamFailure | undefined): Promise<void>;
  /** For the catalogue: from memory, as last read. */
  outage(target: CircuitTarget): DroppedChannel | undefined;
  /** For operators. */
  describe(channel: string): JsonObject;
  /** Rejects when MongoDB does not answer. */
  refresh(): Promise<void>;
  start(): void;
  stop(): void;
}

export interface CircuitsDeps {
  readonly store: ChannelHealthStore;
  readonly now: () => number;
  readonly onChange: (id: string, record: CircuitRecord) => void;
  /** The last known circuits stay in force. */
  readonly onError: (error: unknown) => void;
  readonly intervalMs?: number;
}

const intervalMsDefault = 2_000;
/** Another process probes; its answer is known by then, or the next one may. */
const probeElsewhereMs = 2_000;

export function createCircuits(deps: CircuitsDeps): Circuits {
  const { store, now } = deps;
  const streaks = createStreaks();
  const known = createSnapshot<Circuit>({
    list: () => store.list(),
    intervalMs: deps.intervalMs ?? intervalMsDefault,
    onError: deps.onError,
  });
  const openCircuits = (target: CircuitTarget): Circuit[] =>
    idsOf(target).flatMap((id) => {
      const circuit = known.find(id);
      return circuit?.state === 'open' ? [circuit] : [];
    });

  async function change(id: string, record: CircuitRecord): Promise<void> {
    known.put({ ...record, id });
    deps.onChange(id, record);
    await store.write(id, record);
  }

  async function succeeded(target: CircuitTarget): Promise<void> {
    for (const id of idsOf(target)) streaks.end(id);
    for (const circuit of openCircuits(target)) {
      const { id, ...record } = circuit;
      await change(id, closedAfter(record, now()));
    }
  }

  async function failed(target: CircuitTarget, failure: Failure): Promise<void> {
    const [credentialId, modelId] = idsOf(target);
    const id = failure.sign === 'model' ? modelId : credentialId;
    const before = known.find(id);
    // Requests that were in flight when it opened add no information.
    if (before?.state === 'open' && before.until > now()) return;
    const consecutiveFailures = streaks.count(id, failure.sign);
    if (before?.state !== 'open' && consecutiveFailures < circuitRules[failure.sign].consecutiveFailures)
      return;
    streaks.end(id);
    await change(id, openedBy(failure, before, now()));
  }

  return {
    refresh: known.refresh,
    start: known.start,
    stop: known.stop,
    async enter(target, probeMs) {
      for (const circuit of openCircuits(target)) {
        const { until, id, sign, code } = circuit;
        if (until <= now() && (await store.takeProbe(id, probeMs))) continue;
        const retryAfterMs = Math.max(until - now(), probeElsewhereMs);
        return { open: true, retryAfterMs, detail: `${sign}: ${code}` };
      }
      return { open: false };
    },
    async report(target, failure) {
      const sign = failure === undefined ? 'alive' : signOf(failure);
      try {
        if (sign === 'alive' || failure === undefined) await succeeded(target);
        else await failed(target, { sign, code: failure.code, retryAfterMs: failure.retryAfterMs });
      } catch (error) {
        deps.onError(error);
      }
    },
    outage(target) {
      const circuit = openCircuits(target).find(({ until }) => until > now());
      if (circuit === undefined) return undefined;
      const { channel, credential } = target;
      const seconds = Math.ceil((circuit.until - now()) / 1000);
      const detail = `credential ${credential}: ${circuit.sign} (${circuit.code}), retried in ${seconds} s`;
      return { channel, reason: 'circuit_open', detail };
    },
    describe: (channel) => describeCircuits(channel, known.all()),
  };
}

/** The circuit of the credential, and that of one model behind it. */
function idsOf({ channel, credential, model }: CircuitTarget): readonly [string, string] {
  const id = `${channel}/${credential}`;
  return [id, `${id}/${model}`];
}

/** Consecutive failures of a circuit's target, by kind of failure. */
function createStreaks() {
  const counts = new Map<string, Partial<Record<HealthSign, number>>>();
  return {
    count(id: string, sign: HealthSign): number {
      const consecutiveFailures = (counts.get(id)?.[sign] ?? 0) + 1;
      counts.set(id, { ...counts.get(id), [sign]: consecutiveFailures });
      return consecutiveFailures;
    },
    end: (id: string): void => void counts.delete(id),
  };
}

function describeCircuits(channel: string, known: Iterable<Circuit>): JsonObject {
  const own = [...known].filter(({ id }) => id.startsWith(`${channel}/`));
  return Object.fromEntries(
    own.map(({ id, state, sign, code, until, at }) => [
      id.slice(channel.length + 1),
      { circuit: state, sign, code, until, since: at },
    ]),
  );
}

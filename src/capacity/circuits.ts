import type { DroppedChannel } from '../domain/routing.ts';
import type { JsonObject } from '../domain/request.ts';
import type { Circuit, ChannelHealthStore } from '../store/channel-health.ts';
import { createSnapshot } from '../store/snapshot.ts';
import { defined } from '../domain/defined.ts';
import {
  circuitRules,
  closedAfter,
  closedTo,
  failedAgain,
  isSuspect,
  openedBy,
  orderedBy,
  scopeOf,
  signOf,
} from '../domain/circuit-rules.ts';
import type {
  CircuitOrder,
  CircuitRecord,
  Failure,
  HealthSign,
  JudgedError,
} from '../domain/circuit-rules.ts';

/** What a circuit protects: one credential of a channel, and within it one model. */
export interface CircuitTarget {
  readonly channel: string;
  readonly credential: string;
  readonly model: string;
}

/** A task, or an image request, that wants to be sent there. */
export interface CircuitRequest extends CircuitTarget {
  readonly task: string;
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
  /**
   * Whether a request may be sent now. An open circuit lets one request through once its cool-down is over: not one of
   * a task that failed there, unless for one more cool-down no other task came.
   */
  enter(request: CircuitRequest, probeMs: number): Promise<CircuitDecision>;
  /** Records the upstream's response. Never throws: health is a side effect of the response. */
  report(request: CircuitRequest, failure: UpstreamFailure | undefined): Promise<void>;
  /** An operator's decision for a credential, or for one model behind it. False: it is already closed. */
  override(
    target: Omit<CircuitTarget, 'model'> & { readonly model?: string },
    order: CircuitOrder,
  ): Promise<boolean>;
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
    // A read that began before it was written does not contain it.
    known.put({ ...record, id });
  }

  async function succeeded(target: CircuitTarget): Promise<void> {
    for (const id of idsOf(target)) streaks.end(id);
    for (const circuit of openCircuits(target)) {
      const { id, ...record } = circuit;
      // What was in flight when an operator opened it does not close it.
      if (record.by !== undefined && record.until > now()) continue;
      await change(id, closedAfter(record, now()));
    }
  }

  async function failed(request: CircuitRequest, failure: Omit<Failure, 'tasks'>): Promise<void> {
    const { task } = request;
    const open = openCircuits(request);
    for (const { id, ...record } of open) {
      // Requests that were in flight when it opened add no information.
      if (record.until > now()) continue;
      const failedTrial = isSuspect(record, task)
        ? failedAgain(record, now())
        : openedBy({ ...failure, tasks: [task] }, record, now());
      await change(id, failedTrial);
    }
    if (open.length > 0) return;
    const [credentialId, modelId] = idsOf(request);
    const id = scopeOf(failure.sign) === 'model' ? modelId : credentialId;
    const before = known.find(id);
    // It failed while the circuit was open, and others then succeeded: the fault is the task's.
    if (isSuspect(before, task)) return;
    const tasks = streaks.count(id, failure.sign, task);
    if (tasks.length < circuitRules[failure.sign].consecutiveFailures) return;
    streaks.end(id);
    await change(id, openedBy({ ...failure, tasks }, before, now()));
  }

  return {
    refresh: known.refresh,
    start: known.start,
    stop: known.stop,
    async enter(request, leaseMs) {
      const { task } = request;
      for (const circuit of openCircuits(request)) {
        const { id, sign, code } = circuit;
        const until = closedTo(circuit, task);
        const probe = { task, isSuspect: isSuspect(circuit, task), leaseMs };
        if (until <= now() && (await store.takeProbe(id, probe))) continue;
        const retryAfterMs = Math.max(until - now(), probeElsewhereMs);
        return { open: true, retryAfterMs, detail: `${sign}: ${code}` };
      }
      return { open: false };
    },
    async override({ model, ...target }, order) {
      await known.refresh();
      const [credentialId, modelId] = idsOf({ ...target, model: model ?? '' });
      const id = model === undefined ? credentialId : modelId;
      const before = known.find(id);
      if (order.state === 'closed' && before?.state !== 'open') return false;
      streaks.end(id);
      await change(id, orderedBy(order, before, now()));
      return true;
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

/** As in the whole operators' API: Unix seconds. */
function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** The circuit of the credential, and that of one model behind it. */
function idsOf({ channel, credential, model }: CircuitTarget): readonly [string, string] {
  const id = `${channel}/${credential}`;
  return [id, `${id}/${model}`];
}

/** Consecutive failures of a circuit's target, by kind of failure. */
function createStreaks() {
  const counts = new Map<string, Partial<Record<HealthSign, readonly string[]>>>();
  return {
    /** The task of each consecutive failure, this one included. */
    count(id: string, sign: HealthSign, task: string): readonly string[] {
      const tasks = [...(counts.get(id)?.[sign] ?? []), task];
      counts.set(id, { ...counts.get(id), [sign]: tasks });
      return tasks;
    },
    end: (id: string): void => void counts.delete(id),
  };
}

function describeCircuits(channel: string, known: Iterable<Circuit>): JsonObject {
  const own = [...known].filter(({ id }) => id.startsWith(`${channel}/`));
  return Object.fromEntries(
    own.map(({ id, state, sign, code, until, at, failedTasks = [], by, reason, openings = [] }) => [
      id.slice(channel.length + 1),
      {
        circuit: state,
        sign,
        code,
        retry_at: state === 'open' ? toSeconds(until) : null,
        changed_at: toSeconds(at),
        failed_tasks: [...failedTasks],
        ...defined({ by, reason }),
        openings: openings.map((opening) => ({ ...opening, at: toSeconds(opening.at) })),
      },
    ]),
  );
}

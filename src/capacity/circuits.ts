import type { Pace } from '../process/pace.ts';
import type { DroppedChannel } from '../task/candidates.ts';
import type { ChannelHealthStore } from '../store/channel-health.ts';
import { causeOf } from '../health/health-words.ts';
import { historyMs, isConcerned, orderedBy, signOf } from '../health/circuit-rules.ts';
import type {
  Circuit,
  CircuitOrder,
  CircuitRecord,
  CircuitUser,
  JudgedError,
} from '../health/circuit-rules.ts';
import { createCircuitBook, idsOf } from './circuit-book.ts';
import { createOwnHealth } from './own-health.ts';

/** What a circuit protects (a credential of a channel, and one of its models) and which account wants to use it. */
export interface CircuitTarget extends CircuitUser {
  readonly channel: string;
  readonly credential: string;
}

/** A task, or an image request, that wants to be sent there. */
export interface CircuitRequest extends CircuitTarget {
  readonly account: string;
  readonly task: string;
}

export type CircuitDecision =
  | { readonly open: false }
  /**
   * Without `retryAfterMs`, another process may be able to send the request at once. `isTried`: another request is
   * probing the circuit.
   */
  | {
      readonly open: true;
      readonly retryAfterMs?: number | undefined;
      readonly detail: string;
      readonly isTried?: boolean;
    };

/** An upstream's refusal, as adapters throw it. */
export interface UpstreamFailure extends JudgedError {
  readonly retryAfterMs: number | undefined;
}

/**
 * The circuits of all credentials. What an upstream answers is counted in the memory of each process; a circuit that
 * opens or closes is written to MongoDB, which all processes read every two seconds. While all are closed nothing is
 * written. An upstream that a process does not reach has a circuit in the memory of that process alone.
 */
export interface Circuits {
  /**
   * Decides whether a request may be sent now. When its cool-down is over, an open circuit lets one request through
   * as a probe. Tasks that failed there can be that probe only after one more cool-down. Requests of models and
   * accounts outside its evidence need not wait for the cool-down, but are let through one at a time.
   */
  enter(request: CircuitRequest, probeMs: number): Promise<CircuitDecision>;
  /** Records what came of a request. Never throws: health is a side effect. */
  report(request: CircuitRequest, failure: UpstreamFailure | undefined): Promise<void>;
  /** An operator's decision for a credential, or for one model behind it. False: it is already closed. */
  override(
    target: Pick<CircuitTarget, 'channel' | 'credential'> & { readonly model?: string },
    order: CircuitOrder,
  ): Promise<boolean>;
  /** For the catalogue: from memory, as last read, and only what all processes share. */
  outage(target: CircuitTarget): DroppedChannel | undefined;
  /** Whether the circuit is open for all processes or for this one, according to this process's memory. */
  isOpen(id: string): boolean;
  /** Circuits of this process alone that are open or changed within the last day. Bounded, as processes report them. */
  unreached(): readonly Circuit[];
  /** Rejects when MongoDB does not answer. */
  refresh(): Promise<void>;
  start(pace: Pace): void;
  stop(): void;
}

export interface CircuitsDeps {
  readonly store: ChannelHealthStore;
  readonly now: () => number;
  /** Once for each opening and closing that this process brings about: a trial that fails is neither. */
  readonly onChange: (id: string, record: CircuitRecord) => void;
  /** The last known circuits stay in force. */
  readonly onError: (error: unknown) => void;
}

const unreachedMax = 20;
const reportedOpeningsMax = 20;

function unreachedOf(known: Iterable<Circuit>, now: number): readonly Circuit[] {
  const recent = [...known].filter(({ state, at }) => state === 'open' || now - at < historyMs);
  return recent
    .toSorted((a, b) => b.at - a.at)
    .slice(0, unreachedMax)
    .map(toReported);
}

function toReported({ failedTasks: _failedTasks, openings = [], ...circuit }: Circuit): Circuit {
  return { ...circuit, openings: openings.slice(-reportedOpeningsMax) };
}

export function createCircuits(deps: CircuitsDeps): Circuits {
  const { now } = deps;
  const shared = createCircuitBook(deps);
  const own = createCircuitBook({ ...deps, store: createOwnHealth(now) });

  async function succeeded(request: CircuitRequest): Promise<void> {
    await own.succeeded(request);
    await shared.succeeded(request);
  }

  async function failed(request: CircuitRequest, failure: UpstreamFailure): Promise<void> {
    const sign = signOf(failure);
    if (sign === undefined) return;
    if (sign === 'alive') return succeeded(request);
    if (sign === 'unreachable') return own.failed(request, { ...failure, sign });
    await own.succeeded(request);
    await shared.failed(request, { ...failure, sign });
  }

  return {
    refresh: shared.known.refresh,
    start: shared.known.start,
    stop: shared.known.stop,
    async enter(request, leaseMs) {
      const here = await own.enter(request, leaseMs);
      return here.open ? { open: true, detail: here.detail } : shared.enter(request, leaseMs);
    },
    async override({ model, ...target }, order) {
      await shared.known.refresh();
      const [credentialId, modelId] = idsOf({ ...target, model: model ?? '' });
      const id = model === undefined ? credentialId : modelId;
      const before = shared.known.find(id);
      if (order.state === 'closed' && before?.state !== 'open') return false;
      await shared.replace(id, orderedBy(order, before, now()));
      return true;
    },
    async report(request, failure) {
      try {
        if (failure === undefined) await succeeded(request);
        else await failed(request, failure);
      } catch (error) {
        deps.onError(error);
      }
    },
    outage(target) {
      const circuit = shared
        .open(target)
        .find((record) => record.until > now() && isConcerned(record, target));
      if (circuit === undefined) return undefined;
      const { channel, credential } = target;
      const seconds = Math.ceil((circuit.until - now()) / 1000);
      const detail = `credential ${credential}: ${causeOf(circuit)}, retried in ${seconds} s`;
      return { channel, credential, reason: 'circuit_open', detail };
    },
    isOpen: (id) => [own, shared].some(({ known }) => known.find(id)?.state === 'open'),
    unreached: () => unreachedOf(own.known.all(), now()),
  };
}

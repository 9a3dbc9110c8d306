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

export interface CircuitTarget extends CircuitUser {
  readonly channel: string;
  readonly credential: string;
}

export interface CircuitRequest extends CircuitTarget {
  readonly account: string;
  readonly task: string;
}

export type CircuitDecision =
  | { readonly open: false }
  /**
   * If `retryAfterMs` is undefined, another process may be able to send the request immediately. `isTried` means that
   * another request is already probing the circuit.
   */
  | {
      readonly open: true;
      readonly retryAfterMs?: number | undefined;
      readonly detail: string;
      readonly isTried?: boolean;
    };

/** Functions that each release a probe taken for the request. `enter` adds to this list even if it fails halfway. */
export type TakenProbes = (() => Promise<unknown>)[];

export interface UpstreamFailure extends JudgedError {
  readonly retryAfterMs: number | undefined;
}

/**
 * Each process counts upstream results in memory. Only openings and closings are written to MongoDB, which every
 * process reads every two seconds. If only this process cannot reach an upstream, the circuit stays in its own memory.
 */
export interface Circuits {
  /**
   * Decides whether a request may be sent now. After the cool-down, an open circuit lets one request through as a
   * probe. A task that failed at this circuit must wait for another cool-down. Models that have not failed are tried
   * one at a time without a cool-down. If all failures came from one account, requests of other accounts are sent as
   * usual. Call this only through `throughCircuits`, which releases every probe.
   */
  enter(request: CircuitRequest, probeMs: number, taken: TakenProbes): Promise<CircuitDecision>;
  /** Never throws, because a request must not fail if its outcome cannot be recorded. */
  report(request: CircuitRequest, failure: UpstreamFailure | undefined): Promise<void>;
  /**
   * Releases the probes whose outcome was not reported. Never throws, because a probe that cannot be released expires.
   */
  leave(taken: TakenProbes): Promise<void>;
  /**
   * Opens or closes the circuit of a credential, or of one of its models, for an operator. Returns undefined if the
   * circuit to close is not open.
   */
  override(
    target: Pick<CircuitTarget, 'channel' | 'credential'> & { readonly model?: string },
    order: CircuitOrder,
  ): Promise<CircuitOrder['state'] | undefined>;
  /**
   * Returns why the catalogue should hide the channel, or undefined if no circuit is open. Does no I/O, and considers
   * only circuits that all processes share.
   */
  outage(target: CircuitTarget): DroppedChannel | undefined;
  isOpen(id: string): boolean;
  /**
   * Returns circuits that only this process knows, if they are open or changed in the last day. Their number is
   * limited, because the process includes them in its report.
   */
  unreached(): readonly Circuit[];
  refresh(): Promise<void>;
  start(pace: Pace): void;
  stop(): void;
}

export interface CircuitsDeps {
  readonly store: ChannelHealthStore;
  readonly now: () => number;
  /** Not called for a failed probe. */
  readonly onChange: (id: string, record: CircuitRecord) => void;
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
    async enter(request, leaseMs, taken) {
      const here = await own.enter(request, leaseMs, taken);
      return here.open ? { open: true, detail: here.detail } : shared.enter(request, leaseMs, taken);
    },
    async override({ model, ...target }, order) {
      await shared.known.refresh();
      const [credentialId, modelId] = idsOf({ ...target, model: model ?? '' });
      const id = model === undefined ? credentialId : modelId;
      const before = shared.known.find(id);
      if (order.state === 'closed' && before?.state !== 'open') return undefined;
      await shared.replace(id, orderedBy(order, before, now()));
      return before?.state ?? 'closed';
    },
    report: (request, failure) =>
      (failure === undefined ? succeeded(request) : failed(request, failure)).catch(deps.onError),
    leave: (taken) => Promise.all(taken.map((giveBack) => giveBack())).then(() => undefined, deps.onError),
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

import { failureClasses, type FailureClass } from '../errors/failure.ts';
import type { Micros } from '../money/money.ts';

export interface Flow {
  /** Unix milliseconds at the start of the period. */
  readonly at: number;
  readonly channel: string;
  readonly model: string;
  readonly created: number;
  readonly held: Micros;
  readonly succeeded: number;
  readonly failures: Readonly<Partial<Record<FailureClass, number>>>;
  /** One count per bound in `lateBounds`, and a last count for everything later. */
  readonly late: readonly number[];
  readonly charged: Micros;
  readonly refunded: Micros;
  readonly cost: Micros;
}

/** Bounds in seconds, for the time from the end of a render to the end of its task. */
export const lateBounds = [1, 2, 5, 10, 30, 60, 300] as const;

export const trendSpans = ['hour', 'day', 'week'] as const;
export type TrendSpan = (typeof trendSpans)[number];

export interface FlowsAsked {
  /** Unix milliseconds. `before` is exclusive, and the period must lie within one UTC day. */
  readonly from: number;
  readonly before: number;
  readonly stepMs: number;
}

export function emptyFlow(of: Pick<Flow, 'at' | 'channel' | 'model'>): Flow {
  const counts = { created: 0, succeeded: 0, failures: {}, late: [] };
  return { ...of, ...counts, held: 0n, charged: 0n, refunded: 0n, cost: 0n };
}

function plusFlow(one: Flow, other: Flow): Flow {
  const failures: Partial<Record<FailureClass, number>> = { ...one.failures };
  for (const [name, count] of failureCounts(other)) failures[name] = (failures[name] ?? 0) + count;
  const length = Math.max(one.late.length, other.late.length);
  return {
    ...one,
    created: one.created + other.created,
    held: one.held + other.held,
    succeeded: one.succeeded + other.succeeded,
    failures,
    late: Array.from({ length }, (_, n) => (one.late[n] ?? 0) + (other.late[n] ?? 0)),
    charged: one.charged + other.charged,
    refunded: one.refunded + other.refunded,
    cost: one.cost + other.cost,
  };
}

export function addFlows(flows: Iterable<Flow>, nameOf: (flow: Flow) => string): Map<string, Flow> {
  const sums = new Map<string, Flow>();
  for (const flow of flows) {
    const name = nameOf(flow);
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? flow : plusFlow(sum, flow));
  }
  return sums;
}

export function failureCounts({ failures }: Pick<Flow, 'failures'>): [FailureClass, number][] {
  return failureClasses.flatMap((name) => {
    const count = failures[name] ?? 0;
    return count === 0 ? [] : [[name, count]];
  });
}

export function failedOf(flow: Pick<Flow, 'failures'>): number {
  return failureCounts(flow).reduce((sum, [, count]) => sum + count, 0);
}

/**
 * Returns the smallest bound in seconds that covers this share of the tasks. Returns null if no bound does, and
 * undefined if there are no tasks.
 */
export function latenessAt({ late }: Pick<Flow, 'late'>, share: number): number | null | undefined {
  const all = late.reduce((sum, count) => sum + count, 0);
  if (all === 0) return undefined;
  let within = 0;
  const index = late.findIndex((count) => (within += count) >= all * share);
  return lateBounds[index] ?? null;
}

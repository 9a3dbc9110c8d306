import type { FailureClass } from '../domain/failure.ts';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Labels carry names of the configuration and codes of ours: never an account, a key, a task or a prompt. */
export interface Metrics {
  observeRequest(operation: string, status: number, seconds: number): void;
  /** `outcome`: `created`, `replayed`, or the error code. */
  countCreate(outcome: string): void;
  /** Of synchronous images; the worker counts failed tasks (`mediary_task_failures`). */
  countImageFailure(failure: FailureClass): void;
  /** Answered on every scrape. */
  setWaiting(read: () => number): void;
  /** Prometheus text. */
  render(): Promise<string>;
  readonly contentType: string;
}

const requestSecondsBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** One registry of its own: several gateways in one process do not share numbers. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'mediary_http_request_seconds',
    help: 'Duration of HTTP requests by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: requestSecondsBuckets,
    registers: [registry],
  });
  // Found by name once: as many as there are operations and statuses.
  const observers = new Map<string, Histogram.Internal<string>>();
  const observerOf = (operation: string, status: number): Histogram.Internal<string> => {
    const name = `${operation} ${status}`;
    const known = observers.get(name) ?? requests.labels({ operation, status });
    observers.set(name, known);
    return known;
  };
  const creates = new Counter({
    name: 'mediary_create_requests_total',
    help: 'Creates by outcome: created, replayed, or the error code.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const imageFailures = new Counter({
    name: 'mediary_image_failures_total',
    help: 'Synchronous image requests that no channel served, by class of the failure.',
    labelNames: ['class'],
    registers: [registry],
  });
  let readWaiting = (): number => 0;
  new Gauge({
    name: 'mediary_http_waiting_requests',
    help: 'GET requests with ?wait= that are waiting for a change.',
    registers: [registry],
    collect() {
      this.set(readWaiting());
    },
  });
  return {
    observeRequest: (operation, status, seconds) => observerOf(operation, status).observe(seconds),
    countCreate: (outcome) => creates.inc({ outcome }),
    countImageFailure: (failure) => imageFailures.inc({ class: failure }),
    setWaiting: (read) => {
      readWaiting = read;
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

import { formatMicros, type Micros } from '../money/money.ts';
import type { UpstreamCost } from '../task/cost.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { LedgerMeter, UpstreamMeter } from './meter.ts';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics, type LabelValues } from 'prom-client';
import { createCensusGauges, type CensusGauges } from './census-gauges.ts';

/**
 * Covers this process's own work and, while it takes the census, the whole system. Labels contain names from the
 * configuration and our own codes, but never an account, a key, a task, a model or a prompt.
 */
export interface Metrics extends CensusGauges, UpstreamMeter, LedgerMeter {
  observeRequest(operation: string, status: number, seconds: number): void;
  /** @param outcome - `created`, `replayed`, or the error code. */
  countCreate(outcome: string): void;
  countImageFailure(failure: FailureClass): void;
  /** @param channel - The job's channel. Undefined if no upstream ever had the job. */
  countEnded(channel: string | undefined, outcome: 'succeeded' | FailureClass): void;
  /** Adds a task's charge and cost, in micro-units, to the totals of the channel that caused the cost. */
  countMargin(charge: Micros, upstream: Omit<UpstreamCost, 'model'>): void;
  setWaiting(read: () => number): void;
  render(): Promise<string>;
  readonly contentType: string;
}

const requestSecondsBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const upstreamSecondsBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180];
const appendSecondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export interface MetricsOptions {
  readonly configVersion: () => string;
}

/** Uses its own registry, so that several gateways in one process do not share metrics. */
export function createMetrics({ configVersion }: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    ...apiMetrics(registry),
    ...workMetrics(registry),
    ...createCensusGauges(registry),
    ...readOnScrape(registry, configVersion),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function apiMetrics(
  registry: Registry,
): Pick<Metrics, 'observeRequest' | 'countCreate' | 'countImageFailure'> {
  const requests = new Histogram({
    name: 'mediary_http_request_seconds',
    help: 'Duration of HTTP requests by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: requestSecondsBuckets,
    registers: [registry],
  });
  const request = foundOnce(requests);
  const creates = new Counter({
    name: 'mediary_create_requests_total',
    help: 'Create requests by outcome: created, replayed, or the error code.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const imageFailures = new Counter({
    name: 'mediary_image_failures_total',
    help: 'Synchronous image requests that no channel served, by class of the failure.',
    labelNames: ['class'],
    registers: [registry],
  });
  return {
    observeRequest: (operation, status, seconds) =>
      request(`${operation} ${status}`, { operation, status }).observe(seconds),
    countCreate: (outcome) => creates.inc({ outcome }),
    countImageFailure: (failure) => imageFailures.inc({ class: failure }),
  };
}

function workMetrics(
  registry: Registry,
): UpstreamMeter & LedgerMeter & Pick<Metrics, 'countEnded' | 'countMargin'> {
  const ended = new Counter({
    name: 'mediary_tasks_ended_total',
    help: 'Tasks that have ended, by channel and outcome: succeeded, or the class of the failure.',
    labelNames: ['channel', 'outcome'],
    registers: [registry],
  });
  const calls = new Counter({
    name: 'mediary_upstream_requests_total',
    help: 'Requests to upstreams by channel, step and class: ok, or what kind of failure.',
    labelNames: ['channel', 'step', 'class'],
    registers: [registry],
  });
  const callSeconds = new Histogram({
    name: 'mediary_upstream_request_seconds',
    help: 'Duration of requests to upstreams by channel and step.',
    labelNames: ['channel', 'step'],
    buckets: upstreamSecondsBuckets,
    registers: [registry],
  });
  const duration = foundOnce(callSeconds);
  const appends = new Histogram({
    name: 'mediary_ledger_append_seconds',
    help: 'Time taken by a batch of ledger operations, until every operation has an outcome.',
    buckets: appendSecondsBuckets,
    registers: [registry],
  });
  const collisions = new Counter({
    name: 'mediary_ledger_collisions_total',
    help: 'Appends that lost a race against another process.',
    registers: [registry],
  });
  const margin = marginMetrics(registry);
  return {
    ...margin,
    countEnded: (channel = '', outcome) => ended.inc({ channel, outcome }),
    beginUpstream(channel, step) {
      const begunAt = performance.now();
      return (result) => {
        duration(`${channel} ${step}`, { channel, step }).observe((performance.now() - begunAt) / 1000);
        calls.inc({ channel, step, class: result });
      };
    },
    beginAppend() {
      const begunAt = performance.now();
      return () => appends.observe((performance.now() - begunAt) / 1000);
    },
    countCollision: () => collisions.inc(),
  };
}

function marginMetrics(registry: Registry): Pick<Metrics, 'countMargin'> {
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ['channel'], registers: [registry] });
  const charged = counter(
    'mediary_charged_total',
    'Total charged for finished tasks, in units of the currency.',
  );
  const cost = counter(
    'mediary_cost_total',
    'Known upstream costs of finished tasks, in units of the currency.',
  );
  const unknown = counter('mediary_cost_unknown_total', 'Attempts whose cost is unknown.');
  return {
    countMargin(charge, upstream) {
      const { channel } = upstream;
      charged.inc({ channel }, Number(formatMicros(charge)));
      cost.inc({ channel }, Number(formatMicros(upstream.cost)));
      unknown.inc({ channel }, upstream.unknown);
    },
  };
}

function readOnScrape(registry: Registry, configVersion: () => string): Pick<Metrics, 'setWaiting'> {
  let readWaiting = (): number => 0;
  new Gauge({
    name: 'mediary_http_waiting_requests',
    help: 'GET requests with ?wait= that are waiting for a change.',
    registers: [registry],
    collect() {
      this.set(readWaiting());
    },
  });
  new Gauge({
    name: 'mediary_config_info',
    help: 'Always 1, by the version of the configuration that this process has loaded.',
    labelNames: ['version'],
    registers: [registry],
    collect() {
      this.reset();
      this.set({ version: configVersion() }, 1);
    },
  });
  return {
    setWaiting: (read) => {
      readWaiting = read;
    },
  };
}

/** Caches a histogram's children by name. There are few, because the labels come from two short lists. */
function foundOnce<Label extends string>(histogram: Histogram<Label>) {
  const known = new Map<string, Histogram.Internal<Label>>();
  return (name: string, labels: LabelValues<Label>): Histogram.Internal<Label> => {
    const found = known.get(name) ?? histogram.labels(labels);
    known.set(name, found);
    return found;
  };
}

import type { OtlpTracerOptions } from './otlp-tracer.ts';
import { createTaskSpans, type TaskSpans } from './task-spans.ts';

/**
 * Names follow OpenTelemetry conventions or start with `mediary.`. Attributes must never contain keys, prompts, or URL
 * query strings.
 */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface NewSpan {
  readonly name: string;
  readonly kind?: 'server' | 'client';
  readonly attributes?: Attributes;
  /** Unix milliseconds. Defaults to the current time. */
  readonly startedAt?: number;
}

export interface SpanEnd {
  /** One of our own codes, never a message. Undefined unless the span failed. */
  readonly failed?: string | undefined;
  /** Unix milliseconds. Defaults to the current time. */
  readonly at?: number;
}

export interface Span {
  /** The span's W3C `traceparent`. Children in this or another process use it as their parent. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  end(end?: SpanEnd): void;
}

/**
 * Callers pass spans on explicitly instead of through promise hooks, which would slow down every promise. `enter` and
 * `start` never throw.
 */
export interface Tracer {
  /**
   * Starts a request's first span. `header` is the request's `traceparent`, which is ignored if invalid. The span
   * continues the caller's trace, but the gateway decides whether to record it. Returns undefined if there is nothing
   * to pass on.
   */
  enter(header: string | undefined, span: NewSpan): Span | undefined;
  /** Returns undefined if the parent, and therefore the child, is not recorded. */
  start(parent: string | undefined, span: NewSpan): Span | undefined;
  close(): Promise<void>;
}

export interface TracingSettings {
  readonly OTEL_SDK_DISABLED: boolean;
  readonly OTEL_TRACES_EXPORTER?: 'otlp' | 'none' | undefined;
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  readonly OTEL_TRACES_SAMPLER: string;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
}

export interface Tracing {
  readonly tracer: Tracer;
  readonly tasks: TaskSpans;
}

/** Returns undefined if the environment does not enable tracing. OpenTelemetry is then not loaded at all. */
export async function openTracing(
  settings: TracingSettings,
  process: Pick<OtlpTracerOptions, 'node' | 'log'>,
): Promise<Tracing | undefined> {
  if (!isAskedFor(settings)) return undefined;
  const { createOtlpTracer } = await import('./otlp-tracer.ts');
  const tracer = createOtlpTracer({ ...process, ratio: ratioOf(settings), random: Math.random });
  return { tracer, tasks: createTaskSpans(tracer) };
}

function isAskedFor(settings: TracingSettings): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = settings;
  if (OTEL_SDK_DISABLED || OTEL_TRACES_EXPORTER === 'none') return false;
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = settings;
  return OTEL_TRACES_EXPORTER === 'otlp' || all !== undefined || traces !== undefined;
}

function ratioOf({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: part }: TracingSettings): number {
  if (sampler.endsWith('always_off')) return 0;
  return sampler.endsWith('always_on') ? 1 : part;
}

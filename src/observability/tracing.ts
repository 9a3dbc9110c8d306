import type { OtlpTracerOptions } from './otlp-tracer.ts';
import { createTaskSpans } from './task-spans.ts';
import type { TaskSpans } from './task-spans.ts';

/** Names of OpenTelemetry's conventions, and `mediary.…`: never a key, a prompt, an address with its query. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface NewSpan {
  readonly name: string;
  readonly kind?: 'server' | 'client';
  readonly attributes?: Attributes;
  /** Unix milliseconds; absent: now. */
  readonly startedAt?: number;
}

export interface SpanEnd {
  /** A code of ours, never a message: absent unless it failed. */
  readonly failed?: string | undefined;
  /** Unix milliseconds; absent: now. */
  readonly at?: number;
}

export interface Span {
  /** W3C's `traceparent` of this span: what is below it, in whichever process, names it as its parent. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** Once: what comes later changes nothing. */
  end(end?: SpanEnd): void;
}

/** Spans are handed on explicitly: nothing hooks promises. No method throws, and none waits for anybody. */
export interface Tracer {
  /**
   * The first span here of somebody's request. `header` is its `traceparent`: its trace is continued, but whether that is
   * recorded is decided here; one that is not valid is ignored. Undefined: there is nothing to pass on.
   */
  enter(header: string | undefined, span: NewSpan): Span | undefined;
  /** A span below one of ours. Undefined: that one is not recorded, and neither is this. */
  start(parent: string | undefined, span: NewSpan): Span | undefined;
  /** Sends what is left, within a few seconds. */
  close(): Promise<void>;
}

/** Of the environment. */
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

/** Undefined: the environment asks for no traces, and nothing of OpenTelemetry's is loaded. */
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

/** The part of the requests of which traces are recorded. */
function ratioOf({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: part }: TracingSettings): number {
  if (sampler.endsWith('always_off')) return 0;
  return sampler.endsWith('always_on') ? 1 : part;
}

import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import type { Context, Span as SdkSpan, SpanContext } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { messageOf } from '../base/caught.ts';
import type { Logger } from './log.ts';
import type { NewSpan, Span, Tracer } from './tracing.ts';

export interface OtlpTracerOptions {
  readonly node: string;
  readonly ratio: number;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  readonly random: () => number;
}

const flushMs = 3_000;

/**
 * Sends spans in batches, as OTLP protobuf over HTTP. The exporter reads its URL from the OTEL_EXPORTER_OTLP_…
 * variables. Spans beyond a queue of 2,048 are dropped. Sets no OpenTelemetry globals, so nothing else in the process
 * is traced.
 */
export function createOtlpTracer({ node, ratio, log, random }: OtlpTracerOptions): Tracer {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'mediary',
      'service.instance.id': node,
    }).merge(detectResources({ detectors: [envDetector] })),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor({ exporter: quiet(new OTLPTraceExporter(), log) })],
  });
  const tracer = provider.getTracer('mediary');
  const start = (span: NewSpan, parent: Context): Span =>
    spanOf(
      tracer.startSpan(
        span.name,
        {
          kind: kindOf(span),
          ...(span.attributes === undefined ? {} : { attributes: span.attributes }),
          ...(span.startedAt === undefined ? {} : { startTime: span.startedAt }),
        },
        parent,
      ),
    );

  return {
    enter(header, span) {
      const caller = read(header);
      if (random() < ratio) return start(span, below(caller));
      return caller === undefined ? undefined : unrecorded(caller);
    },

    start(parent, span) {
      const above = read(parent);
      return above === undefined || !isRecorded(above) ? undefined : start(span, below(above));
    },

    async close() {
      let timer: NodeJS.Timeout | undefined;
      const tooLate = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, flushMs);
      });
      await Promise.race([provider.shutdown().catch(() => undefined), tooLate]);
      clearTimeout(timer);
    },
  };
}

function read(traceparent: string | undefined): SpanContext | undefined {
  const context = traceparent === undefined ? null : parseTraceParent(traceparent);
  return context === null ? undefined : { ...context, isRemote: true };
}

function below(parent: SpanContext | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

function kindOf({ kind }: NewSpan): SpanKind {
  if (kind === undefined) return SpanKind.INTERNAL;
  return kind === 'server' ? SpanKind.SERVER : SpanKind.CLIENT;
}

function spanOf(span: SdkSpan): Span {
  return {
    traceparent: traceparentOf(span.spanContext()),
    set: (attributes) => void span.setAttributes(attributes),
    end({ failed, at } = {}) {
      if (failed !== undefined) {
        span.setAttribute('error.type', failed);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end(at);
    },
  };
}

/** Continues the caller's trace without recording a span. The flags in its `traceparent` say so. */
function unrecorded(caller: SpanContext): Span {
  const nothing = (): void => undefined;
  const traceparent = traceparentOf({ ...caller, traceFlags: TraceFlags.NONE });
  return { traceparent, set: nothing, end: nothing };
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags === TraceFlags.NONE ? '00' : '01'}`;
}

function isRecorded({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}

/** Hides the errors of an unavailable receiver. Logs once when an outage begins and once when it ends. */
function quiet(exporter: SpanExporter, log: OtlpTracerOptions['log']): SpanExporter {
  let isFailing = false;
  const note = (error: Error | undefined): void => {
    if (isFailing === (error !== undefined)) return;
    isFailing = error !== undefined;
    if (error === undefined) log.info({}, 'traces are received again');
    else
      log.warn(
        { detail: messageOf(error) },
        'traces could not be sent; they are dropped until the receiver responds',
      );
  };
  return {
    export(spans, done) {
      exporter.export(spans, ({ code, error }) => {
        note(code === 0 ? undefined : (error ?? new Error('unknown')));
        done({ code: 0 });
      });
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

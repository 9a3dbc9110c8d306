import type { Attributes, NewSpan, Span, Tracer } from './tracing.ts';

/** Each span becomes a child of the task's current step in this process, so callers need not pass spans along. */
export interface TaskSpans {
  /**
   * Runs a step in its own span. Without a `parent`, the span is a child of the task's current step in this process. If
   * there is none, nothing is recorded.
   */
  run<Result>(task: string, step: Step, work: (span: Span | undefined) => Promise<Result>): Promise<Result>;
  note(task: string, call: EndedCall): void;
}

export interface Step extends NewSpan {
  readonly parent?: string | undefined;
}

export interface EndedCall extends Step {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  readonly failed?: string | undefined;
}

export function createTaskSpans(tracer: Pick<Tracer, 'start'>): TaskSpans {
  const open = new Map<string, Span>();
  const start = (task: string, { parent, ...span }: Step): Span | undefined =>
    tracer.start(parent ?? open.get(task)?.traceparent, span);

  return {
    async run(task, step, work) {
      const span = start(task, step);
      if (span === undefined) return work(undefined);
      const outer = open.get(task);
      open.set(task, span);
      try {
        const result = await work(span);
        span.end();
        return result;
      } catch (error) {
        endOf(span, error);
        throw error;
      } finally {
        if (open.get(task) === span) reopen(task, outer);
      }
    },

    note: (task, { endedAt, failed, ...call }) => start(task, call)?.end({ at: endedAt, failed }),
  };

  function reopen(task: string, outer: Span | undefined): void {
    if (outer === undefined) open.delete(task);
    else open.set(task, outer);
  }
}

/**
 * Ends the span as failed, unless Temporal treats the error as benign. A benign error means that the step is waiting
 * for its next attempt.
 */
function endOf(span: Span, error: unknown): void {
  const code = codeOf(error);
  const isWait = error instanceof Error && 'category' in error && error.category === 'BENIGN';
  if (isWait) span.set({ 'mediary.again': code });
  span.end({ failed: isWait ? undefined : code });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if ('type' in error && typeof error.type === 'string') return error.type;
  return error.name;
}

import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { defined } from '../base/defined.ts';
import { taskIdPattern } from '../base/ids.ts';
import type { TaskSpans } from '../observability/task-spans.ts';

/**
 * A span for each run of a task's activity, local ones included, in the trace that the task's record names. Nothing of it
 * passes through Temporal. A record that cannot be read only costs the span.
 */
export function tracedActivities(
  spans: TaskSpans | undefined,
  tasks: { look(task: string): Promise<{ readonly traceparent?: string } | undefined> },
): ActivityInterceptorsFactory[] {
  if (spans === undefined) return [];
  // What the activity reads next: it finds it in this process' memory.
  const recordOf = (task: string) => tasks.look(task).catch(() => undefined);
  return [
    ({ info }) => ({
      inbound: {
        async execute(input, next) {
          const task = [info.workflowExecution?.workflowId, input.args[0]].find(isTaskId);
          const parent = task === undefined ? undefined : (await recordOf(task))?.traceparent;
          if (task === undefined || parent === undefined) return next(input);
          const attributes = defined({
            'mediary.task': task,
            'temporal.activity.attempt': info.attempt,
            'temporal.run_id': info.workflowExecution?.runId,
          });
          return spans.run(task, { name: info.activityType, parent, attributes }, () => next(input));
        },
      },
    }),
  ];
}

/** A redelivery has a workflow of its own, whose activities name the task first. */
function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && taskIdPattern.test(value);
}

import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { defined } from '../base/defined.ts';
import { taskIdPattern } from '../base/ids.ts';
import type { TaskSpans } from '../observability/task-spans.ts';

/**
 * Creates a span for each run of a task's activity, including local ones, in the trace recorded with the task. No
 * tracing data passes through Temporal. If the record cannot be read, only the span is lost.
 */
export function tracedActivities(
  spans: TaskSpans | undefined,
  tasks: { look(task: string): Promise<{ readonly traceparent?: string } | undefined> },
): ActivityInterceptorsFactory[] {
  if (spans === undefined) return [];
  // This read costs nothing extra. The activity needs the record next and then finds it in this process's memory.
  const recordOf = (task: string) => tasks.look(task).catch(() => undefined);
  return [
    ({ info }) => ({
      inbound: {
        async execute(input, next) {
          // A redelivery runs in a workflow of its own. Its activities receive the task as their first argument.
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

function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && taskIdPattern.test(value);
}

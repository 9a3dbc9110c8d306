import { expect, it } from 'vitest';
import { createTaskSpans } from '../../src/observability/task-spans.ts';
import { tracedActivities } from '../../src/temporal/traced-activities.ts';

const task = 'task_abcdefghijklmnopqrstuvwx';
const parent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

async function spansOf(workflowId: string, first: unknown, look: () => Promise<object | undefined>) {
  const begun: unknown[] = [];
  const spans = createTaskSpans({
    start: (above, { name, attributes }) =>
      void begun.push([above, name, attributes?.['mediary.task'], attributes?.['temporal.activity.attempt']]),
  });
  const [interceptor] = tracedActivities(spans, { look });
  const info = {
    workflowExecution: { workflowId, runId: 'run' },
    activityType: 'deliverCallback',
    attempt: 3,
  };
  const execute = interceptor?.({ info } as never).inbound?.execute;
  const ran = await execute?.({ args: [first], headers: {} }, () => Promise.resolve('done'));
  return [ran, begun];
}

it.each([
  ['a task', task, undefined],
  ['a redelivery, whose activities name the task', `redeliver-${task}`, task],
])('an activity of %s is in the trace of the task', async (_, workflow, first) => {
  const ended = await spansOf(workflow, first, () => Promise.resolve({ traceparent: parent }));
  expect(ended).toEqual(['done', [[parent, 'deliverCallback', task, 3]]]);
});

it.each([
  ['of no task', 'reconcile-tasks', () => Promise.reject(new Error('is not asked'))],
  ['of a task without a trace', task, () => Promise.resolve({})],
  ['of a task whose record is gone', task, () => Promise.resolve(undefined)],
  ['of a task whose record cannot be read', task, () => Promise.reject(new Error('away'))],
])('an activity %s runs without one', async (_, workflow, look) => {
  expect(await spansOf(workflow, undefined, look)).toEqual(['done', []]);
});

it('without traces, a worker has no interceptor', () => {
  expect(tracedActivities(undefined, { look: () => Promise.resolve(undefined) })).toEqual([]);
});

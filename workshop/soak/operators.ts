import { z } from 'zod';
import type { OperatorActionName } from '../../src/operating/acts.ts';
import { queuePrefix, type Stand } from './stand.ts';
import { ask } from '../stand/http.ts';

export interface Operators {
  readonly done: readonly { readonly task: string; readonly action: OperatorActionName | 'reset' }[];
  act(task: string, action: OperatorActionName): Promise<boolean>;
  reset(task: string): Promise<void>;
  /** Resubmits every task that needs an operator, or polls its upstream once more. Resolves to the number of tasks. */
  answerAttention(): Promise<number>;
}

const listed = z.object({
  data: z.array(z.object({ id: z.string(), needs_attention: z.string().nullable() })),
});

const planned = z.object({ result: z.object({ plan: z.string() }) });

export function createOperators(stand: Stand): Operators {
  const done: { task: string; action: OperatorActionName | 'reset' }[] = [];
  const { client } = stand.core;

  async function act(task: string, action: OperatorActionName): Promise<boolean> {
    done.push({ task, action });
    const url = `${stand.url}/admin/v1/tasks/${task}/actions`;
    const post = (body: object) => ask(url, { method: 'POST', token: stand.adminToken, body });
    const asked = { action, reason: 'the soak' };
    const tried = await post({ ...asked, dry_run: true });
    if (tried.status !== 200) return false;
    const { plan } = planned.parse(tried.body).result;
    return (await post({ ...asked, plan })).status === 200;
  }

  return {
    done,
    act,
    async reset(task) {
      const handle = client.workflow.getHandle(task);
      const { events } = await handle.fetchHistory();
      const first = (events ?? []).find((event) => Boolean(event.workflowTaskCompletedEventAttributes));
      if (first?.eventId === undefined) return;
      done.push({ task, action: 'reset' });
      await client.workflowService.resetWorkflowExecution({
        namespace: client.options.namespace,
        workflowExecution: { workflowId: task },
        reason: 'the soak',
        requestId: `${queuePrefix}${task}-${done.length}`,
        workflowTaskFinishEventId: first.eventId ?? null,
      });
    },
    async answerAttention() {
      const url = `${stand.url}/admin/v1/tasks?needs_attention=true&limit=100`;
      const { status, body } = await ask(url, { token: stand.adminToken });
      if (status !== 200) return 0;
      const { data } = listed.parse(body);
      for (const { id } of data) {
        if (!(await act(id, 'resubmit'))) await act(id, 'retry_now');
      }
      return data.length;
    },
  };
}

export const actionsInFlight = ['retry_now', 'cancel', 'fail', 'redeliver'] as const;

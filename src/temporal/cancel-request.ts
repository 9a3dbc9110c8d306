import type { Client } from '@temporalio/client';
import { defined } from '../base/defined.ts';
import { plainText } from '../base/plain-text.ts';

/** Who has cancelled a task's workflow with Temporal's own tools, and why, as they say. Absent: they say nothing. */
export interface CancelRequest {
  readonly by?: string;
  readonly reason?: string;
}

/** The cancellation waits for it. */
const callDeadlineMs = 5_000;
const eventsMax = 500;
const byCharactersMax = 64;
const reasonCharactersMax = 500;

/** Undefined: its history does not say, or Temporal does not answer. Never throws. */
export async function findCancelRequest(client: Client, task: string): Promise<CancelRequest | undefined> {
  const { namespace } = client.options;
  try {
    const { history } = await client.withDeadline(Date.now() + callDeadlineMs, () =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace,
        execution: { workflowId: task },
        maximumPageSize: eventsMax,
      }),
    );
    const requested = history?.events?.find((event) => event.workflowExecutionCancelRequestedEventAttributes);
    const { identity, cause } = requested?.workflowExecutionCancelRequestedEventAttributes ?? {};
    return defined({
      by: plainText(identity ?? '', byCharactersMax) || undefined,
      reason: plainText(cause ?? '', reasonCharactersMax) || undefined,
    });
  } catch {
    return undefined;
  }
}

import type { Client } from '@temporalio/client';
import { defined } from '../base/defined.ts';
import { plainText } from '../base/plain-text.ts';
import { readDeadlineMs } from './connection.ts';

/** A user of Temporal's own tools cancelled the task's workflow. Both fields come from that user and may be missing. */
export interface CancelRequest {
  readonly by?: string;
  readonly reason?: string;
  readonly at?: number;
}

const eventsMax = 500;
const byCharactersMax = 64;
const reasonCharactersMax = 500;

/** Returns the latest request, or undefined if the history contains none or Temporal does not respond. Never throws. */
export async function findCancelRequest(client: Client, task: string): Promise<CancelRequest | undefined> {
  const { namespace } = client.options;
  try {
    const { history } = await client.withDeadline(Date.now() + readDeadlineMs, () =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace,
        execution: { workflowId: task },
        maximumPageSize: eventsMax,
      }),
    );
    const requested = history?.events?.find((event) => event.workflowExecutionCancelRequestedEventAttributes);
    const { seconds } = requested?.eventTime ?? {};
    const { identity, cause } = requested?.workflowExecutionCancelRequestedEventAttributes ?? {};
    return defined({
      by: plainText(identity ?? '', byCharactersMax) || undefined,
      reason: plainText(cause ?? '', reasonCharactersMax) || undefined,
      at: seconds === undefined || seconds === null ? undefined : Number(seconds) * 1000,
    });
  } catch {
    return undefined;
  }
}

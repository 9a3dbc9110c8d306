import type { Client } from '@temporalio/client';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';

type Described = Awaited<ReturnType<Client['workflowService']['describeWorkflowExecution']>>;
export type PendingActivity = NonNullable<Described['pendingActivities']>[number];

export async function lastHeartbeat(
  { options }: Client,
  pending: Pick<PendingActivity, 'heartbeatDetails'> | undefined,
): Promise<unknown> {
  const { payloads } = pending?.heartbeatDetails ?? {};
  if (payloads === undefined || payloads === null || payloads.length === 0) return undefined;
  return decodeFromPayloadsAtIndex(options.loadedDataConverter, 0, payloads);
}

import {
  CancellationScope,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { searchAttributes } from '../../../workflows/search-attributes.ts';
import type { StepsActivities, StepsInput } from './steps-activities.ts';

/** A workflow of nothing but steps that do nothing: what each costs is Temporal's own. */
export async function stepsWorkflow(input: StepsInput): Promise<void> {
  const { locals, timer, queue, seconds = 0, heartbeat = false, heartbeatTimeout, upsert } = input;
  const local = proxyLocalActivities<StepsActivities>({ startToCloseTimeout: '10s' });
  if (locals) await local.step(0, false);
  const scope = new CancellationScope();
  if (timer) scope.run(() => sleep('48h')).catch(() => undefined);
  if (queue !== undefined) {
    const { step } = proxyActivities<StepsActivities>({
      taskQueue: queue,
      startToCloseTimeout: '48h',
      ...(heartbeatTimeout ? { heartbeatTimeout: '2s' } : {}),
    });
    await step(seconds, heartbeat);
  }
  scope.cancel();
  if (locals) await local.step(0, false);
  if (upsert) upsertSearchAttributes([{ key: searchAttributes.status, value: 'succeeded' }]);
}

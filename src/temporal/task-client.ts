import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ApplicationFailure,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import type { Client, WorkflowHandle, WorkflowStartOptions } from '@temporalio/client';
import { defined } from '../base/defined.ts';
import { GatewayError, type ErrorCode } from '../errors/errors.ts';
import { callbacksQueue, pollingActivities, tasksQueue, workflowTypes } from '../base/queues.ts';
import type { ActionResult } from '../operating/acts.ts';
import type { TaskInput } from '../task/input.ts';
import type { TaskPort } from '../commands/task-port.ts';
import { callDeadlineMs, updateDeadlineMs } from './connection.ts';
import { createRedelivery } from './redelivery.ts';
import { createTaskSearch } from './search-tasks.ts';
import { findWaiting } from './waiting-activity.ts';
import { wakeActivity } from './wake-activity.ts';
import { within } from '../process/running-time.ts';
import { isRunning } from './workflow-lookup.ts';
import { actionUpdate, cancelUpdate, refusedAction } from '../../workflows/messages.ts';
import { searchAttributes } from '../../workflows/search-attributes.ts';

/**
 * After this time, the caller gets a 503 and the creation is abandoned. There is always a second attempt, because the
 * first one exceeds the deadline if this process was suspended, even though Temporal responds.
 */
const startDeadlineMs = 8_000;
const startTriesMin = 2;
const startRetryMs = 250;

export interface TaskClientOptions {
  readonly client: Client;
  readonly queuePrefix: string;
  readonly now: () => number;
  /** Creates an id that proves that the API authenticated this operator. */
  readonly newActId: (act: { task: string; action: string; by: string }) => string;
  /**
   * Returns what the update with this id did, according to the task's record (see `recordedAct`). Undefined if there is
   * no record to check.
   */
  readonly findAct?: (task: string, updateId: string) => Promise<{ readonly detail: string } | undefined>;
  /** Returns whether the task's record says that the task has not ended. */
  readonly isUnfinished?: (task: string) => Promise<boolean>;
  /** Stops an attempt of the task that is waiting inside a worker. Never rejects. */
  readonly endStay?: (task: string) => Promise<void>;
}

export function createTaskClient(options: TaskClientOptions): TaskPort {
  const { client, queuePrefix, now, newActId, findAct, endStay } = options;
  const taskQueue = tasksQueue(queuePrefix);
  const redeliver = createRedelivery(client, queuePrefix, { replaces: true });
  const search = createTaskSearch(client, queuePrefix);
  const unlessLost = createUnlessLost(options);

  async function start(input: TaskInput): Promise<void> {
    const endsAt = now() + startDeadlineMs;
    for (let tries = 1; ; tries += 1) {
      try {
        await client.workflow.start(workflowTypes.task, startOptions(input));
        return;
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return;
        const isOver = tries >= startTriesMin && now() + startRetryMs >= endsAt;
        if (!isOutcomeUnknown(error) || isOver) throw translate(error, 'task_not_found');
      }
      await delay(startRetryMs);
    }
  }

  function startOptions(input: TaskInput) {
    return {
      workflowId: input.task,
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: `${input.model} for ${input.account}`,
      priority: { fairnessKey: input.account.slice(0, 64) },
      typedSearchAttributes: [
        { key: searchAttributes.model, value: input.model },
        { key: searchAttributes.account, value: input.account },
        { key: searchAttributes.status, value: 'open' },
        ...channelOf(input),
      ],
    } as const satisfies WorkflowStartOptions;
  }

  async function ask<Result>(
    ms: number,
    call: () => Promise<Result>,
    { ended = 'task_not_cancellable', late = noAnswer }: Asking = {},
  ): Promise<Result> {
    try {
      return await within(ms, call(), late);
    } catch (error) {
      throw translate(error, ended);
    }
  }

  return {
    start,

    async cancel(task) {
      const asked = { task, updateId: randomUUID() };
      await ask(updateDeadlineMs, () =>
        unlessLost(task, () =>
          update(asked, (handle, once) => handle.executeUpdate(cancelUpdate, once), options),
        ),
      );
      await endStay?.(task);
    },

    async wake(task) {
      await wakeActivity(client, { task, activities: pollingActivities });
    },

    async act(task, action, input) {
      const updateId = newActId({ task, action, by: input.by });
      const call = () =>
        update(
          { task, updateId },
          (handle, once) => handle.executeUpdate(actionUpdate(action), { ...once, args: [input] }),
          options,
        );
      const recorded = async (error: unknown): Promise<ActionResult> => {
        // The action may be in the record even if its step was discarded or its response was lost. It may even have
        // finished the task.
        const isOpen = isEnded(error) || (isFailed(error) && refusalOf(error) === undefined);
        const done = isOpen ? await findAct?.(task, updateId) : undefined;
        if (done === undefined) throw error;
        return { did: { task: done.detail, money: '' } };
      };
      const result = await ask(updateDeadlineMs, () => unlessLost(task, () => call().catch(recorded)), {
        ended: 'action_not_possible',
      });
      // Stop an attempt that waits inside a worker. It would otherwise learn only at its next heartbeat that the
      // workflow has abandoned it.
      if ('did' in result && action !== 'retry_now') await endStay?.(task);
      return result;
    },

    waiting: (task) => findWaiting(client, task, now),

    search: (asked) => ask(callDeadlineMs, () => search(asked), { late: notRead }),

    redeliver: (task) => ask(callDeadlineMs, () => redeliver(task)),

    unpolledQueues: () => findUnpolled(client, queuePrefix),
  };
}

interface Asking {
  readonly ended?: ErrorCode;
  readonly late?: () => GatewayError;
}

interface Asked {
  readonly task: string;
  readonly updateId: string;
}

/**
 * If the update meets a discarded or failed workflow task, the response is FAILED_PRECONDITION. If it coincides with a
 * reset, the response is NOT_FOUND. In both cases, the update may have taken effect, so it is repeated under the same
 * id.
 */
async function update(
  { task, updateId }: Asked,
  execute: (handle: WorkflowHandle, once: { readonly updateId: string }) => Promise<ActionResult>,
  { client, now }: Pick<TaskClientOptions, 'client' | 'now'>,
): Promise<ActionResult> {
  const handle = client.workflow.getHandle(task);
  const endsAt = now() + updateDeadlineMs;
  for (;;) {
    try {
      return await execute(handle, { updateId });
    } catch (error) {
      const isCrossed = error instanceof WorkflowNotFoundError || grpcCodeOf(error) === grpcCrossed;
      if (!isCrossed || now() >= endsAt || !(await isRunning(client, task))) throw error;
    }
    await delay(startRetryMs);
  }
}

function channelOf({ candidates: [first] }: TaskInput) {
  return first === undefined ? [] : [{ key: searchAttributes.channel, value: first.channel }];
}

const workflowQueue = 1;
const activityQueue = 2;

async function findUnpolled(client: Client, queuePrefix: string): Promise<readonly string[]> {
  const queues = [
    { name: tasksQueue(queuePrefix), taskQueueType: workflowQueue },
    { name: callbacksQueue(queuePrefix), taskQueueType: activityQueue },
  ];
  const { namespace } = client.options;
  const unpolled: string[] = [];
  for (const { name, taskQueueType } of queues) {
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name },
      taskQueueType,
    });
    const recently = (pollers ?? []).some(
      ({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1000 < pollerMaxAgeMs,
    );
    if (!recently) unpolled.push(name);
  }
  return unpolled;
}

/** Pollers that have not been seen for this long are ignored, because a worker's poll returns within a minute. */
const pollerMaxAgeMs = 90_000;

/** gRPC statuses for a workflow that has finished and is no longer stored, or that finished during the call. */
const grpcEnded: ReadonlySet<number> = new Set([5, 9]);
/** A call that fails with one of these gRPC statuses may have taken effect, or may take effect when repeated. */
const grpcUnknownOutcomes = new Set([1, 2, 4, 8, 10, 13, 14, 15]);

const grpcCrossed = 9;

function isOutcomeUnknown(error: unknown): boolean {
  const code = grpcCodeOf(error);
  return code !== undefined && grpcUnknownOutcomes.has(code);
}

function isEnded(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || grpcEnded.has(grpcCodeOf(error) ?? 0);
}

function grpcCodeOf(error: unknown): number | undefined {
  const cause = error instanceof Error && !isGrpcServiceError(error) ? error.cause : error;
  return isGrpcServiceError(cause) ? cause.code : undefined;
}

/** The message must not claim that nothing happened, because a worker may still handle the request. */
function noAnswer(detail = 'no worker responded in time'): GatewayError {
  return new GatewayError(
    'service_unavailable',
    'The service did not respond in time. The request may still be carried out: check the task before you repeat it.',
    { retryAfterSeconds: 5, detail },
  );
}

function notRead(): GatewayError {
  return serviceBusy('temporal did not respond to a read in time');
}

function serviceBusy(detail: string, cause?: unknown): GatewayError {
  return new GatewayError('service_unavailable', 'The service is busy and did nothing. Try again shortly.', {
    retryAfterSeconds: 5,
    detail,
    ...defined({ cause }),
  });
}

/** If the workflow is missing although the task has not ended, the reconciler restarts it or ends the task. */
function createUnlessLost({ isUnfinished }: Pick<TaskClientOptions, 'isUnfinished'>) {
  return async <Result>(task: string, call: () => Promise<Result>): Promise<Result> => {
    try {
      return await call();
    } catch (error) {
      throw isEnded(error) && (await isUnfinished?.(task)) === true ? notRunning(error) : error;
    }
  };
}

const restartedWithinSeconds = 600;

function notRunning(cause: unknown): GatewayError {
  return new GatewayError(
    'service_unavailable',
    'The service is resuming this task and cannot change it now. Nothing was done. Try again in a few minutes.',
    { retryAfterSeconds: restartedWithinSeconds, detail: 'the task has no running workflow', cause },
  );
}

function isFailed(error: unknown): error is WorkflowUpdateFailedError {
  return error instanceof WorkflowUpdateFailedError;
}

function refusalOf(error: unknown): ApplicationFailure | undefined {
  const cause = isFailed(error) ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === refusedAction ? cause : undefined;
}

function translate(error: unknown, ended: ErrorCode): unknown {
  if (error instanceof GatewayError) return error;
  const refusal = refusalOf(error);
  if (refusal !== undefined) {
    const whose = ended === 'task_not_cancellable' ? 'The task cannot be cancelled. ' : '';
    return new GatewayError(ended, `${whose}${refusal.message}`, { cause: error });
  }
  const unavailable = (detail: string) => serviceBusy(detail, error);
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return noAnswer();
  if (error instanceof WorkflowNotFoundError) {
    return new GatewayError(ended, 'The task has already ended.', { cause: error });
  }
  if (isFailed(error))
    return noAnswer(`the update failed: ${String(error.cause)} ${String(error.cause?.cause)}`);
  if (isGrpcServiceError(error)) {
    return grpcEnded.has(error.code)
      ? new GatewayError(ended, 'The task has already ended.', { cause: error })
      : unavailable(`temporal: ${error.message}`);
  }
  if (grpcCodeOf(error) === grpcCrossed) return noAnswer();
  const cause = error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) ? unavailable(`temporal: ${cause.message}`) : error;
}

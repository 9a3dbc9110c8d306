import { z } from 'zod';
import { isTerminal } from '../../task/task.ts';
import { etaOf, type Eta } from '../../models/render-times.ts';
import type { TaskKind } from '../../base/task-kind.ts';
import type { Task } from '../../task/record.ts';
import { costHeaders } from '../cost-headers.ts';
import type { RouteDeps } from '../deps.ts';
import { etagOf, matchesEtag } from '../etag.ts';
import { expectedSecondsDefault } from '../../task/input.ts';
import { findOwnTask, taskParams } from './own-task.ts';
import { presentTask, taskSchemas } from '../presenters/video-task.ts';
import { queryNumber } from '../query-fields.ts';
import { jsonReply, keyRoute, notModified, type Reply, type RequestMeta, type Route } from '../route.ts';

export type QueryTaskDeps = PollDeps & Pick<RouteDeps, 'tasks' | 'watcher' | 'mediaUrl'>;

export type PollDeps = Pick<RouteDeps, 'catalogue' | 'renders' | 'now'>;

const waitSecondsMax = 30;
const shortestSeconds = 2;
const longestSeconds = 5;

const query = z.object({
  wait: queryNumber(z.number().min(0).max(waitSecondsMax).optional()).meta({
    description: 'Respond as soon as the status changes, or after this many seconds.',
  }),
});

export interface TaskRoute extends Pick<Route, 'operationId' | 'summary' | 'tag' | 'paths'> {
  readonly kind: TaskKind;
}

export function queryTask({ kind, ...route }: TaskRoute, deps: QueryTaskDeps): Route {
  return keyRoute({
    ...route,
    scope: 'read_own',
    description:
      'Poll every 2 to 5 seconds (`retry-after` states when), or wait with `?wait=`. Stop at `succeeded` or `failed`. The response has an `etag`. If you send it as `if-none-match` and nothing has changed, the response is a 304. If the task succeeded, its charge is also in the headers `x-mediary-cost` and, in US dollars, `x-litellm-response-cost`.',
    method: 'get',
    reads: 'one',
    input: z.object({ params: taskParams, query }),
    headers: z.object({ 'if-none-match': z.string().optional() }),
    success: { description: 'The task’s current state.', schema: taskSchemas[kind] },
    otherAnswers: {
      304: { description: 'The version in `if-none-match` is still current.', mediaType: 'none' },
    },
    errors: ['task_not_found', 'missing_parameter'],
    async handle({ params, query: { wait = 0 }, caller, reach, meta }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach, kind });
      const reply = replyWith(task, meta, deps);
      // If the caller's copy is outdated, respond immediately instead of waiting for a change.
      const isCurrent = meta.header('if-none-match') === undefined || reply.status === 304;
      if (wait === 0 || isTerminal(task.status) || !isCurrent) return reply;
      const { status } = task;
      const signal = meta.closed();
      const changed = await deps.watcher.waitForChange({
        task: task.id,
        account: caller.account,
        status,
        timeoutMs: wait * 1000,
        signal,
      });
      return changed === undefined ? reply : replyWith(changed, meta, deps);
    },
  });
}

function replyWith(task: Task, meta: RequestMeta, deps: QueryTaskDeps): Reply {
  const presented = presentTask(task, deps.mediaUrl);
  const reply = jsonReply(presented);
  // The ETag excludes the estimate, which changes every second even if the task does not.
  const etag = etagOf(reply.body);
  const isKnown = matchesEtag(meta.header('if-none-match'), etag);
  if (isTerminal(task.status)) {
    if (isKnown) return notModified({ etag });
    return { ...reply, headers: { etag, ...costHeaders(task.charge, deps.catalogue.current().currency) } };
  }
  const eta = etaOfTask(task, deps);
  const headers = { etag, 'retry-after': String(retryAfter(task, eta, deps)) };
  if (isKnown) return notModified(headers);
  return { ...(eta === undefined ? reply : jsonReply({ ...presented, eta_seconds: eta })), headers };
}

function etaOfTask(task: Task, { renders, now }: PollDeps): Eta | undefined {
  const { channel, model, output, createdAt } = task;
  if (channel === undefined) return undefined;
  return etaOf(renders.times({ channel, model, output }), now() - createdAt);
}

export function progressHeaders(task: Task, deps: PollDeps): Readonly<Record<string, string>> {
  return isTerminal(task.status)
    ? costHeaders(task.charge, deps.catalogue.current().currency)
    : { 'retry-after': String(pollAfterSeconds(task, deps)) };
}

export function pollAfterSeconds(task: Task, deps: PollDeps): number {
  return retryAfter(task, etaOfTask(task, deps), deps);
}

function retryAfter(task: Task, eta: Eta | undefined, { catalogue, now }: PollDeps): number {
  const elapsedSeconds = (now() - task.createdAt) / 1000;
  if (eta !== undefined) return retryAfterSeconds(elapsedSeconds, elapsedSeconds + eta.p50);
  const model = catalogue.current().models.find(({ id }) => id === task.model);
  return retryAfterSeconds(elapsedSeconds, model?.expected_seconds ?? expectedSecondsDefault);
}

/** A change is most likely near the expected end, so the interval grows with the distance from it. */
function retryAfterSeconds(elapsedSeconds: number, expectedSeconds: number): number {
  const distance = Math.abs(expectedSeconds - elapsedSeconds);
  return Math.min(Math.max(Math.round(distance / 10), shortestSeconds), longestSeconds);
}

import { z } from 'zod';
import type { Task } from '../../../task/record.ts';
import { eventStream, eventStreamType } from '../../event-stream.ts';
import { keyRoute, type Route } from '../../route.ts';
import { changesOf } from '../../task-changes.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { falDialect } from './fal-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { falRequestParams, presentFalRequest, type FalFacts } from './fal-request.ts';
import { namedReply } from './fal-result.ts';

/** Comments keep the connection alive. Proxies close a connection after a minute of silence, some after 30 s. */
const commentMs = 15_000;

export function streamFalStatus(deps: DialectDeps): Route {
  return keyRoute({
    operationId: 'streamFalStatus',
    scope: 'read_own',
    summary: 'Follow a queued request',
    description:
      'Sends the request’s current state as a server-sent event, and again whenever its status changes, until the request has ended. A comment line is sent every 15 seconds. If the gateway restarts, the stream ends before the request does.',
    dialect: falDialect,
    method: 'get',
    reads: 'one',
    paths: ['/fal/:owner/:name/requests/:task_id/status/stream'],
    input: z.object({ params: falRequestParams }),
    success: { description: 'Each event is a `FalRequest`.', mediaType: eventStreamType },
    errors: ['task_not_found'],
    async handle({ params, reach, meta }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach });
      const facts = { ...params, publicUrl: deps.publicUrl };
      return eventStream(events(task, { facts, signal: meta.closed() }, deps), namedReply(task));
    },
  });
}

async function* events(
  task: Task,
  { facts, signal }: { readonly facts: FalFacts; readonly signal: AbortSignal },
  deps: DialectDeps,
): AsyncGenerator<string> {
  for await (const changed of changesOf(task, { everyMs: () => commentMs, signal }, deps))
    yield changed === undefined
      ? ': waiting\n\n'
      : `data: ${JSON.stringify(presentFalRequest(changed, facts))}\n\n`;
}

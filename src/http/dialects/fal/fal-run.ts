import type { Task } from '../../../task/record.ts';
import { jsonReply, type TextReply } from '../../route.ts';
import { changesOf } from '../../task-changes.ts';
import { createFalTask, type FalCreate } from './fal-create.ts';
import { presentFalError } from './fal-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { namedReply, replyWithFalResult } from './fal-result.ts';

const lookMs = 15_000;

/** Creates a task and waits for its result. A dropped connection neither stops the task nor avoids the charge. */
export async function runFal(create: FalCreate, deps: DialectDeps): Promise<TextReply> {
  const { task, headers, warnings } = await createFalTask(create, deps);
  create.meta.concerns(task.id);
  let last = task;
  const wait = { everyMs: () => lookMs, signal: create.meta.closed() };
  for await (const changed of changesOf(task, wait, deps)) last = changed ?? last;
  const reply = (await replyWithFalResult(last, deps, warnings)) ?? unfinished(last, create.params);
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

/** A retry would create a second task, so this avoids statuses that the official client retries. */
function unfinished({ id }: Task, { owner, name }: FalCreate['params']): TextReply {
  const message = `The gateway is restarting. The request is not affected: GET /fal/${owner}/${name}/requests/${id} returns it.`;
  const body = presentFalError({ message, type: 'service_unavailable', field: '' });
  return { ...jsonReply(body, namedReply({ id })), status: 500 };
}

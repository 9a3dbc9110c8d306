import { isTerminal } from '../../../task/task.ts';
import type { Caller } from '../../../access/caller.ts';
import { presentWarnings } from '../../presenters/image.ts';
import { jsonReply } from '../../route.ts';
import type { Reply, RequestMeta } from '../../route.ts';
import { createVideoTask, videoCreate } from '../../videos/create-video-task.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import type { Understood } from '../../../intake/understand.ts';
import { predictionSchema, presentPrediction } from './prediction.ts';
import { replicateDialect } from './replicate-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

/** What both creates declare. */
export const predictionCreate = {
  ...videoCreate,
  description:
    '`Prefer: wait` is not read: the answer comes at once. `Idempotency-Key` works as with `POST /v1/videos/generations`.',
  dialect: replicateDialect,
  success: {
    status: 201,
    description: 'The task, its hold and its workflow exist.',
    schema: predictionSchema,
  },
} as const;

export interface PredictionCreate {
  readonly asked: Understood;
  readonly caller: Caller;
  readonly meta: RequestMeta;
}

export async function answerWithPrediction(
  { asked, caller, meta }: PredictionCreate,
  deps: DialectDeps,
): Promise<Reply> {
  const { tasks, requests, mediaUrl, publicUrl } = deps;
  const create = { route: 'createPrediction', asked, caller, meta };
  const { task, headers, warnings } = await createVideoTask(create, deps);
  const record = await findOwnTask(tasks, { id: task.id, reach: { account: caller.account }, kind: 'video' });
  const request = (await requests.find(task.id))?.request;
  const prediction = presentPrediction(record, { request, mediaUrl, publicUrl });
  // The official client takes anything but `starting` for the end, and hands out an output that is not there.
  const status = isTerminal(record.status) ? prediction.status : 'starting';
  const body = { ...prediction, status, ...presentWarnings(warnings) };
  return { ...jsonReply(body, headers), status: 201 };
}

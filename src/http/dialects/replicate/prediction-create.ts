import { isTerminal } from '../../../task/task.ts';
import type { TaskKind } from '../../../base/task-kind.ts';
import type { Caller } from '../../../access/caller.ts';
import { presentWarnings } from '../../presenters/image.ts';
import { jsonReply, type Reply, type RequestMeta } from '../../route.ts';
import { videoCreate } from '../../videos/create-video-task.ts';
import { createAnyTask } from '../create-any-task.ts';
import { predictionSchema, presentPrediction } from './prediction.ts';
import { understandPrediction } from './replicate-body.ts';
import { replicateDialect } from './replicate-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

export const predictionCreate = {
  ...videoCreate,
  description:
    '`Prefer: wait` is ignored: the response is immediate. `Idempotency-Key` works as it does for `POST /v1/videos/generations`.',
  dialect: replicateDialect,
  success: {
    status: 201,
    description: 'The task has been created and started, and its hold has been taken.',
    schema: predictionSchema,
  },
} as const;

export interface PredictionCreate {
  readonly model?: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly meta: RequestMeta;
}

export async function answerWithPrediction(
  { model, body: sent, caller, meta }: PredictionCreate,
  deps: DialectDeps,
): Promise<Reply> {
  const { requests, mediaUrl, publicUrl } = deps;
  const understand = (kind: TaskKind) => understandPrediction(sent, kind, model);
  const named = model ?? String(sent['version'] ?? sent['model']);
  const create = { route: 'createPrediction', model: named, understand, caller, meta };
  const { task, headers, warnings } = await createAnyTask(create, deps);
  const request = (await requests.find(task.id))?.request;
  const prediction = presentPrediction(task, { request, mediaUrl, publicUrl });
  // The official client treats any status except `starting` as final, and would return before the output exists.
  const status = isTerminal(task.status) ? prediction.status : 'starting';
  const body = { ...prediction, status, ...presentWarnings(warnings) };
  return { ...jsonReply(body, headers), status: 201 };
}

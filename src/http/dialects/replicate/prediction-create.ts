import type { z } from 'zod';
import { isTerminal } from '../../../task/task.ts';
import type { Caller } from '../../../access/caller.ts';
import { presentWarnings } from '../../presenters/image.ts';
import { jsonReply } from '../../route.ts';
import type { Reply, RequestMeta } from '../../route.ts';
import { createVideoTask, videoCreate } from '../../videos/create-video-task.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { inTheirWords } from '../their-words.ts';
import { predictionSchema, presentPrediction } from './prediction.ts';
import { decodePrediction, predictionFields, replicateName } from './replicate-body.ts';
import type { modelPredictionBody } from './replicate-body.ts';
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
  readonly body: z.output<typeof modelPredictionBody>;
  readonly model: string;
  readonly caller: Caller;
  readonly meta: RequestMeta;
}

export async function answerWithPrediction(
  { body: asked, model, caller, meta }: PredictionCreate,
  deps: DialectDeps,
): Promise<Reply> {
  const { tasks, requests, mediaUrl, publicUrl } = deps;
  const unread = meta.unknownFields(predictionFields);
  const nameOf = replicateName(asked);
  const { task, headers, warnings } = await inTheirWords(nameOf, async () => {
    const body = decodePrediction(asked, model);
    return createVideoTask({ route: 'createPrediction', body, unread, caller, meta }, deps);
  });
  const record = await findOwnTask(tasks, { id: task.id, reach: { account: caller.account }, kind: 'video' });
  const request = (await requests.find(task.id))?.request;
  const prediction = presentPrediction(record, { request, mediaUrl, publicUrl });
  // The official client takes anything but `starting` for the end, and hands out an output that is not there.
  const status = isTerminal(record.status) ? prediction.status : 'starting';
  const body = { ...prediction, status, ...presentWarnings(warnings.map(nameOf)) };
  return { ...jsonReply(body, headers), status: 201 };
}

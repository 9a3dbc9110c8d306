import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import { momentOf } from '../task.ts';
import { check, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import { invalidArgument } from './google-error.ts';
import { expiresAfterMs, fileUri, vertexVideo } from './google-task.ts';
import type { GoogleDesk, GoogleTask } from './google-task.ts';
import { readVeoBody, settleVeo } from './google-veo-request.ts';

/** Veo's long-running operations. */

export function createVideo(
  desk: GoogleDesk,
  { request }: Call,
  {
    model,
    api,
    parents,
  }: { readonly model: string; readonly api: 'gemini' | 'vertex'; readonly parents: readonly string[] },
): Promise<Reply> {
  const body = readVeoBody(request.body, api);
  return desk.create(request, { model, prompt: body.prompt }, async (submission) => {
    const id = randomUUID();
    const name = [...parents, 'models', submission.model, 'operations', id].join('/');
    const detail = settleVeo(body, submission.model, { api, name });
    const { callbackUrl } = body;
    await desk.accept(submission, { id, expiresAfterMs, detail, callbackUrl });
    return json(200, { name });
  });
}

/** `GET …/operations/{id}` of the Gemini API. */
export function pollVideo(desk: GoogleDesk, call: Call): Promise<Reply> {
  return operation(desk, call, decodeURIComponent(call.request.path.slice('/v1beta/'.length)));
}

const fetchSchema = z.strictObject({ operationName: z.string() });

/** `POST …:fetchPredictOperation` of Vertex. */
export function fetchVideo(desk: GoogleDesk, call: Call): Promise<Reply> {
  const { operationName } = check(fetchSchema, parseJson(call.request.body), invalidArgument);
  return operation(desk, call, operationName);
}

function operation(desk: GoogleDesk, { request }: Call, name: string): Promise<Reply> {
  const id = name.split('/').at(-1) ?? '';
  const known = desk.find(id);
  const task = known?.detail.name === name ? known : undefined;
  return desk.about(
    'poll',
    { request, task },
    { found: (operation) => json(200, presentOperation(operation, desk)) },
  );
}

const responseType = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse';

/** `done` is absent, and not false, until the end. */
function presentOperation(task: GoogleTask, desk: GoogleDesk): object {
  const { world } = desk;
  const { name, delivery, samples } = task.detail;
  const faults = FaultSet.of(task.faults);
  const { phase } = momentOf(task, world.now());
  const isFiltered = faults.has('moderation-in-task');
  if (phase === 'queued' || phase === 'running') return { name };
  if (phase === 'unknown') return { name, metadata: { state: 'POST_PROCESSING' } };
  if (phase !== 'succeeded' && !(phase === 'failed' && isFiltered)) {
    const error =
      phase === 'failed'
        ? { code: 13, message: 'An internal error has occurred.' }
        : { code: 4, message: 'The operation took too long.' };
    return { name, done: true, error };
  }
  const filtered = {
    raiMediaFilteredCount: samples,
    raiMediaFilteredReasons: ['The video was filtered, because it violates the policy of use.'],
  };
  const count = isFiltered || faults.has('missing-url') ? 0 : samples;
  const isVertex = delivery !== 'uri';
  if (isVertex) {
    const videos = Array.from({ length: count }, (_, sample) => vertexVideo(task, world, sample));
    return { name, done: true, response: isFiltered ? filtered : { videos } };
  }
  const generated = Array.from({ length: count }, () => ({ video: { uri: fileUri(task, world) } }));
  const field = faults.has('docs-shape') ? 'generatedVideos' : 'generatedSamples';
  const generateVideoResponse = isFiltered ? filtered : { [field]: generated };
  return { name, done: true, response: { '@type': responseType, generateVideoResponse } };
}

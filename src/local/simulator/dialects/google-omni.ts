import { randomBytes } from 'node:crypto';
import type { Call } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import { isFinal, momentOf, nextChangeAt } from '../task.ts';
import { json } from '../wire.ts';
import type { Reply } from '../wire.ts';
import { GoogleError, InteractionError } from './google-error.ts';
import { expiresAfterMs, videoPart } from './google-task.ts';
import type { GoogleDesk, GoogleTask } from './google-task.ts';
import { readOmniBody, settleOmni } from './google-omni-request.ts';

/** Interactions. */

export function omniRoutes(desk: GoogleDesk, path: string, vertex: boolean) {
  const { world } = desk;
  /** What is not there is a wrong name; Vertex answers 404. */
  const missing = (id: string) => () =>
    vertex
      ? new GoogleError([404, 'NOT_FOUND'], `Interaction ${id} was not found.`).reply()
      : new InteractionError(`Invalid interaction name: ${id}`).reply();
  const about = (stage: 'poll' | 'delete', call: Call, found: (task: GoogleTask) => Reply) => {
    const known = desk.find(call.id);
    const task = known?.detail.api === 'omni' ? known : undefined;
    return desk.about(stage, { request: call.request, task }, { found, missing: missing(call.id) });
  };
  return {
    [`POST ${path}`]: ({ request }: Call) => create(desk, request, vertex),
    [`GET ${path}/:id`]: (call: Call) =>
      about('poll', call, (task) => json(200, presentInteraction(task, desk))),
    [`DELETE ${path}/:id`]: (call: Call) =>
      about('delete', call, (task) => {
        desk.remove(task);
        return json(200, {});
      }),
    [`POST ${path}/:id/cancel`]: (call: Call) =>
      about('delete', call, (task) => {
        if (isFinal(momentOf(task, world.now()).phase))
          throw new InteractionError('The interaction has ended already.', 'failed_precondition');
        desk.cancel(task);
        return json(200, presentInteraction(task, desk));
      }),
  };
}

function create(desk: GoogleDesk, request: Call['request'], vertex: boolean): Promise<Reply> {
  const body = readOmniBody(request.body);
  return desk.create(request, body, async (submission) => {
    const id = `v1_${randomBytes(24).toString('base64url')}`;
    const isKnown = (earlier: string) => desk.find(earlier)?.detail.api === 'omni';
    const detail = settleOmni(body, { model: submission.model, id, vertex, isKnown });
    const callbackUrl = body.webhook_config?.uris[0];
    const task = await desk.accept(submission, { id, expiresAfterMs, detail, callbackUrl });
    if (!body.background) await untilEnded(desk, task);
    const answer = json(200, presentInteraction(task, desk));
    if (!body.store) desk.remove(task);
    return answer;
  });
}

/** Without `background` the answer waits for the whole rendering. */
async function untilEnded({ world }: GoogleDesk, task: GoogleTask): Promise<void> {
  for (;;) {
    const at = nextChangeAt(task, world.now());
    if (at === undefined) return;
    await new Promise<void>((resolve) => {
      world.parts.clock.at(at, resolve);
    });
  }
}

function presentInteraction(task: GoogleTask, desk: GoogleDesk): Record<string, unknown> {
  const { world } = desk;
  const { id, model, detail, createdAt } = task;
  const faults = FaultSet.of(task.faults);
  const { phase, since } = momentOf(task, world.now());
  const base = {
    id,
    created: new Date(createdAt).toISOString(),
    updated: new Date(since).toISOString(),
    model,
    ...(detail.labels === undefined ? {} : { labels: detail.labels }),
  };
  const usage = faults.has('missing-usage') ? {} : { usage: usageOf(task, faults) };
  const steps = (...content: readonly object[]) => ({ steps: [{ type: 'model_output', content }] });
  switch (phase) {
    case 'queued':
      return { ...base, status: waitsInLine(detail.tier) ? 'queued' : 'in_progress' };
    case 'running':
      return { ...base, status: 'in_progress' };
    case 'unknown':
      return { ...base, status: 'post_processing' };
    case 'cancelled':
      return { ...base, status: 'cancelled' };
    case 'expired':
      return { ...base, status: 'incomplete' };
    case 'failed':
      return { ...base, ...failureOf(task, faults, steps) };
    case 'succeeded': {
      const output = faults.has('missing-url') ? steps() : steps(videoPart(task, world));
      return { ...base, status: 'completed', ...output, ...usage };
    }
  }
}

function waitsInLine(tier: string | undefined): boolean {
  return tier === 'flex' || tier === 'deferred';
}

/** What was refused for safety is completed, with words only; `docs-shape`: it failed, with a code. */
function failureOf(
  task: GoogleTask,
  faults: FaultSet,
  steps: (...content: readonly object[]) => object,
): object {
  if (!faults.has('moderation-in-task')) {
    const status = faults.text('failed') ?? 'failed';
    const error = { code: 'internal', message: 'The video could not be generated.' };
    return status === 'failed' ? { status, error } : { status };
  }
  const words = 'I cannot create this video, because it violates the safety policy.';
  if (faults.has('docs-shape')) return { status: 'failed', error: { code: 'SAFETY', message: words } };
  const [input = 0] = task.detail.tokens ?? [];
  const usage = { total_input_tokens: input, total_output_tokens: 20, total_tokens: input + 20 };
  return { status: 'completed', ...steps({ type: 'text', text: words }), usage };
}

function usageOf({ detail }: GoogleTask, faults: FaultSet): object {
  const [input, reported] = detail.tokens ?? [0, 0];
  const output = Math.round(reported * faults.usageFactor());
  return {
    total_input_tokens: input,
    total_output_tokens: output,
    output_tokens_by_modality: [{ modality: 'video', tokens: output }],
    total_tokens: input + output,
  };
}

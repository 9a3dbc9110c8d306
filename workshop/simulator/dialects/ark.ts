import { z } from 'zod';
import { check, dialect, empty, inSeconds, json, pairIn, parseJson, taken } from '../engine.ts';
import type { Call, Desk, Job, Rendered, Reply, Submission, WireRequest } from '../engine.ts';
import { framesPerSecond } from '../media/clips.ts';
import { arkError, arkModel, arkProblems, arkRequestId, arkWords, modelNotFound } from './ark-request.ts';
import { outputModerated, readArkBody, refuseArk, settleArk } from './ark-request.ts';
import type { ArkDetail } from './ark-request.ts';

const statuses = ['queued', 'running', 'cancelled', 'succeeded', 'failed', 'expired'];
const tasks = '/contents/generations/tasks';
const both = {
  mistake: refuseArk,
  problems: arkProblems,
  noSuchRoute: ({ method, path }: WireRequest) =>
    arkError(404, 'NotFound', `No such operation: ${method} ${path}.`),
};

export const ark = dialect<ArkDetail>({
  ...both,
  name: 'ark',
  prefix: '/ark/api/v3',
  callbackBody: present,
  routes: (desk) => ({
    [`POST ${tasks}`]({ request }) {
      const body = parseJson(request.body);
      return desk.create(request, askedOfArk(body), (submission) => accept(desk, body, submission));
    },
    [`GET ${tasks}`]: (call) => list(desk, call),
    [`GET ${tasks}/:id`]: desk.shows(present),
    [`DELETE ${tasks}/:id`]: (call) =>
      desk.about('delete', call, (job, faults) => {
        remove(desk, job);
        // The documentation says that the body is `{}`, but the generated SDK expects a 204.
        return faults.has('no-content') ? empty(204) : json(200, {});
      }),
  }),
});

const outline = z.object({
  model: z.string().min(1),
  prompt: z.string().catch(''),
  content: z.array(z.object({ text: z.string().catch('') }).catch({ text: '' })).catch([]),
  safety_identifier: z.string().catch(''),
});

function askedOfArk(body: unknown) {
  const { model, prompt, content, safety_identifier: endUser } = check(outline, body, refuseArk);
  const texts = content.flatMap(({ text }) => (text === '' ? [] : [text]));
  return { model, prompt: texts.length === 0 ? prompt : texts.join('\n'), endUser };
}

async function accept(desk: Desk<ArkDetail>, raw: unknown, submission: Submission): Promise<Reply> {
  const { model: endpoint, faults } = submission;
  const model = arkModel(endpoint);
  if (model === undefined) throw modelNotFound(endpoint);
  const body = readArkBody(raw);
  const { id, detail } = await desk.accept(submission, {
    id: desk.newId(() => newId(desk.world.now())),
    model,
    expiresAfterMs: body.execution_expires_after * 1000,
    callbackUrl: body.callback_url,
    detail: settleArk(body, { model, endpoint }, faults),
  });
  return json(200, { id, safety_identifier: detail.safetyIdentifier });
}

function newId(now: number): string {
  const stamp = new Date(now + 8 * 3_600_000).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return `cgt-${stamp}-${Math.random().toString(36).slice(2, 7).padEnd(5, '0')}`;
}

function list(desk: Desk<ArkDetail>, call: Call): Promise<Reply> {
  const { query } = call.request;
  const invalid = (field: string, reason: string) =>
    refuseArk({ field, path: field, reason, isAbsent: false });
  const [page = 1, size = 20] = ['page_num', 'page_size'].map((field) => {
    const value = Number(query.get(field) ?? (field === 'page_num' ? 1 : 20));
    if (!Number.isInteger(value) || value < 1 || value > 500)
      throw invalid(field, 'must be within 1 and 500');
    return value;
  });
  const status = query.get('filter.status');
  if (status !== null && !statuses.includes(status)) throw invalid('filter.status', 'unknown status');
  const ids = query.getAll('filter.task_ids');
  const model = query.get('filter.model');
  const tier = query.get('filter.service_tier');
  const candidates = ids.length > 0 ? ids.flatMap((id) => desk.find(id) ?? []) : desk.newestFirst();
  const matching = candidates.filter(
    ({ detail, phase }) =>
      (model === null || detail.endpoint === model) &&
      (tier === null || detail.tier === tier) &&
      (status === null || phase === status),
  );
  const onPage = matching.slice((page - 1) * size, page * size);
  return desk.list(call, ids.length > 0 ? onPage : [], (faults) => {
    const items = onPage.map(present);
    return json(200, {
      total: matching.length,
      items: faults.has('sdk-shape') ? items.map(itemOfSdk) : items,
    });
  });
}

/** DELETE cancels a queued task and removes a finished task's record. */
function remove(desk: Desk<ArkDetail>, job: Job<ArkDetail>): void {
  if (job.phase === 'queued') desk.cancel(job);
  else if (job.phase === 'cancelled')
    throw arkError(409, 'InvalidAction.CancelledTaskDeletion', 'Cannot delete task because it is cancelled.');
  else if (job.isOver) desk.remove(job);
  else {
    const text = 'Cannot delete task because it is currently running. Wait for it to finish.';
    throw arkError(409, 'InvalidAction.RunningTaskDeletion', text);
  }
}

function present(job: Job<ArkDetail>): Record<string, unknown> {
  const { task, detail, phase, since, faults } = job;
  const failure = faults.has('moderation-in-task') ? outputModerated.video : arkProblems.internal;
  return {
    id: job.id,
    model: job.model,
    status: phase === 'unknown' ? 'post_processing' : phase,
    ...(phase === 'succeeded' ? { error: null, ...result(job) } : {}),
    ...(phase === 'failed' ? { error: arkWords(failure, since) } : {}),
    created_at: inSeconds(task.createdAt),
    updated_at: inSeconds(since),
    service_tier: detail.tier,
    execution_expires_after: task.expiresAfterMs / 1000,
    generate_audio: detail.audio,
    draft: detail.draft,
    priority: detail.priority,
    safety_identifier: detail.safetyIdentifier,
  };
}

function itemOfSdk(item: Record<string, unknown>): Record<string, unknown> {
  const { error, resolution: _resolution, ratio: _ratio, duration: _duration, ...rest } = item;
  return error === null || error === undefined ? rest : { ...rest, failure_reason: error };
}

function result(job: Job<ArkDetail>): Record<string, unknown> {
  const { seed, resolution, ratio, frames, seconds, webSearch, lastFrame } = job.detail;
  const [video_url] = job.links();
  const isShown = lastFrame && video_url !== undefined;
  const last_frame_url = isShown ? job.pictureLink({ tint: seed % 6, marked: true }) : undefined;
  const tokens = Math.floor(job.billed(job.detail.tokens));
  const tool_usage = webSearch ? { web_search: 1 } : undefined;
  return {
    content: { video_url, last_frame_url },
    usage: job.reported({ completion_tokens: tokens, total_tokens: tokens, tool_usage }),
    seed,
    resolution,
    ratio,
    frames,
    duration: frames === undefined ? seconds : undefined,
    framespersecond: framesPerSecond,
    tools: webSearch ? [{ type: 'web_search' }] : undefined,
  };
}

const pixelsPerToken = 256;
const imageModelOfEndpoints = 'doubao-seedream-4-5-251128';
const source = z.string().regex(/^(?:https?:\/\/.|data:image\/[a-z]+;base64,[A-Za-z0-9+/])/, 'not an image');
const imageSchema = z.object({
  ...taken({ int: 'seed', number: 'guidance_scale', text: 'background', any: 'optimize_prompt_options tools' }),
  prompt: z.string().min(1),
  image: z.union([source, z.array(source)]).optional(),
  size: z.string().regex(/^(?:adaptive|[1-4](?:\.5)?K|\d{2,5}x\d{2,5})$/, 'not a size').default('2K'),
  response_format: z.enum(['url', 'b64_json']).default('url'),
  output_format: z.enum(['jpeg', 'png']).default('jpeg'),
  watermark: z.boolean().default(true),
}); // prettier-ignore

export const seedream = dialect({
  ...both,
  name: 'seedream',
  prefix: '/ark/api/v3/images',
  routes: (desk) => ({
    'POST /generations'({ request }) {
      const body = parseJson(request.body);
      return desk.create(request, askedOfArk(body), (submission) => paint(desk, body, submission));
    },
  }),
});

async function paint(desk: Desk<Rendered>, raw: unknown, submission: Submission): Promise<Reply> {
  const { model: asked } = submission;
  const model = asked.startsWith('ep-') ? imageModelOfEndpoints : asked;
  if (!/^(?:(?:doubao|dola)-)?seed(?:ream|edit)-\d-\d-/.test(model)) throw modelNotFound(asked);
  const {
    size,
    response_format,
    output_format: format,
    watermark: marked,
    image,
  } = check(imageSchema, raw, refuseArk);
  // The simulator renders `2K` as a square. The real API chooses the aspect ratio from the prompt.
  const side = size.endsWith('K') ? Number(size.slice(0, -1)) * 1024 : 1024;
  const { width, height } = pairIn(size) ?? { width: side, height: side };
  const order = { id: arkRequestId(desk.world.now()), detail: { width, height, seconds: 0, images: 1 } };
  const job = await desk.paint(submission, order, outputModerated.image);
  const tokens = Math.floor(job.billed((width * height) / pixelsPerToken));
  const input_images = [image ?? []].flat().length || undefined;
  const usage = { generated_images: 1, output_tokens: tokens, total_tokens: tokens, input_images };
  const [file] = job.pictures(response_format, { look: { format, marked } });
  const created = inSeconds(job.now);
  return json(200, {
    model,
    created,
    data: [{ ...file, size: `${width}x${height}` }],
    usage: job.reported(usage),
  });
}

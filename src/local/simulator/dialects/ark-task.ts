import { z } from 'zod';
import { FaultSet } from '../fault.ts';
import { momentOf } from '../task.ts';
import type { Phase, Task } from '../task.ts';
import { framesPerSecond } from '../world.ts';
import type { World } from '../world.ts';
import { ArkError, arkProblems, arkRequestId } from './ark-error.ts';
import { arkModels, pixelSize, ratios, tokensOf } from './ark-models.ts';
import type { ArkModel } from './ark-models.ts';
import type { ArkOrder } from './ark-request.ts';

/** What a task renders, every choice made. */
export const arkDetail = z.object({
  /** The model or endpoint id as it was asked for. */
  endpoint: z.string(),
  resolution: z.string(),
  ratio: z.string(),
  duration: z.number(),
  frames: z.number().optional(),
  seed: z.number(),
  lastFrame: z.boolean(),
  tier: z.string(),
  audio: z.boolean().optional(),
  draft: z.boolean().optional(),
  priority: z.number().optional(),
  webSearch: z.boolean().optional(),
  safetyIdentifier: z.string().optional(),
  draftTaskId: z.string().optional(),
  inputVideoSeconds: z.number(),
});
export type ArkDetail = z.infer<typeof arkDetail>;
export type ArkTask = Task<ArkDetail>;

const inputVideoSecondsDefault = 5;
const adaptiveRatio = '16:9';

/** Makes the choices that were left to the model. */
export function settle(order: ArkOrder, model: ArkModel, endpoint: string, faults: FaultSet): ArkDetail {
  const { fields, media } = order;
  const chosenRatio = ratios.find((ratio) => ratio === faults.text('ratio')) ?? adaptiveRatio;
  return {
    endpoint,
    resolution: order.resolution,
    ratio: order.ratio === 'adaptive' ? chosenRatio : order.ratio,
    duration:
      order.duration === -1
        ? (faults.number('duration') ?? chooseDuration(media.text, model))
        : order.duration,
    frames: fields.frames,
    seed: order.seed === -1 ? Math.floor(Math.random() * 4_294_967_296) : order.seed,
    lastFrame: fields.return_last_frame,
    tier: fields.service_tier,
    audio: model.audio ? (fields.generate_audio ?? true) : undefined,
    draft: model.audio ? fields.draft : undefined,
    priority: model.priority ? (fields.priority ?? 0) : undefined,
    webSearch: fields.tools === undefined ? undefined : fields.tools.length > 0,
    safetyIdentifier: fields.safety_identifier,
    draftTaskId: media.draftTaskId,
    inputVideoSeconds: faults.number('input-seconds') ?? secondsOf(media.videos),
  };
}

/** The final render of a draft takes over what the draft settled. */
export function afterDraft(detail: ArkDetail, draft: ArkDetail): ArkDetail {
  const { ratio, duration, seed, audio } = draft;
  return { ...detail, ratio, duration, seed, audio };
}

/** Some duration of the allowed range, the same for the same prompt. */
function chooseDuration(text: string, { duration: [min, max] }: ArkModel): number {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return min + (sum % (max - min + 1));
}

/** Nothing is fetched here: only the length of the simulator's own videos is known, from their links. */
function secondsOf(videos: readonly string[]): number {
  return videos.reduce((sum, url) => {
    const frames = /\/media\/\d+x\d+-(\d+)-\d-\d+\//.exec(url)?.[1];
    return sum + (frames === undefined ? inputVideoSecondsDefault : Number(frames) / framesPerSecond);
  }, 0);
}

/** `cgt-` + China time + five characters. */
export function newArkId(now: number): string {
  const stamp = new Date(now + 8 * 3_600_000).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return `cgt-${stamp}-${Math.random().toString(36).slice(2, 7).padEnd(5, '0')}`;
}

const statusOf: Readonly<Record<Phase, string>> = {
  queued: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  expired: 'expired',
  cancelled: 'cancelled',
  unknown: 'post_processing',
};

/** The JSON of the GET, the list and the callback alike. */
export function presentArkTask(task: ArkTask, world: World): Record<string, unknown> {
  const { phase, since } = momentOf(task, world.now());
  const { detail } = task;
  const faults = FaultSet.of(task.faults);
  return {
    id: task.id,
    model: task.model,
    status: statusOf[phase],
    ...(phase === 'succeeded' ? { error: null, ...result(task, faults, world, since) } : {}),
    ...(phase === 'failed' ? { error: failure(faults, since) } : {}),
    created_at: Math.floor(task.createdAt / 1000),
    updated_at: Math.floor(since / 1000),
    ...(phase === 'succeeded' ? rendered(detail) : {}),
    service_tier: detail.tier,
    execution_expires_after: task.expiresAfterMs / 1000,
    generate_audio: detail.audio,
    draft: detail.draft,
    priority: detail.priority,
    safety_identifier: detail.safetyIdentifier,
    draft_task_id: detail.draftTaskId,
  };
}

/** Docs and SDK disagree about list items; this is the SDK's shape. */
export function sdkListItem(item: Record<string, unknown>): Record<string, unknown> {
  const { error, resolution: _resolution, ratio: _ratio, duration: _duration, ...rest } = item;
  return error === null || error === undefined ? rest : { ...rest, failure_reason: error };
}

function rendered({
  seed,
  resolution,
  ratio,
  duration,
  frames,
  webSearch,
}: ArkDetail): Record<string, unknown> {
  return {
    seed,
    resolution,
    ratio,
    ...(frames === undefined ? { duration } : { frames }),
    framespersecond: framesPerSecond,
    ...(webSearch === true ? { tools: [{ type: 'web_search' }] } : {}),
  };
}

function result(task: ArkTask, faults: FaultSet, world: World, since: number): Record<string, unknown> {
  const { detail } = task;
  const model = arkModels.get(task.model);
  const [width, height] =
    model === undefined ? [1280, 720] : pixelSize(model, detail.resolution, detail.ratio);
  const length = detail.frames === undefined ? detail.duration : detail.frames / framesPerSecond;
  const tint = detail.seed % 6;
  const lastFrame = world.image({ width, height }, { format: 'png', tint, marked: true }, faults);
  const content = faults.has('missing-url')
    ? {}
    : {
        video_url: world.link(task, world.video({ width, height, seconds: length }, tint, faults), since),
        last_frame_url: detail.lastFrame ? world.link(task, lastFrame, since) : undefined,
      };
  if (faults.has('missing-usage')) return { content };
  const { duration: seconds, inputVideoSeconds } = detail;
  const billed = tokensOf({ width, height, seconds, frames: detail.frames, inputVideoSeconds });
  const tokens = Math.floor(billed * faults.usageFactor());
  const toolUsage = detail.webSearch === true ? { tool_usage: { web_search: 1 } } : {};
  return { content, usage: { completion_tokens: tokens, total_tokens: tokens, ...toolUsage } };
}

const outputModerated = new ArkError(
  400,
  'OutputVideoSensitiveContentDetected',
  'The request failed because the output video may contain sensitive information.',
);

function failure(faults: FaultSet, since: number): { code: string; message: string } {
  const { code, message } = faults.has('moderation-in-task') ? outputModerated : arkProblems.internal;
  return { code, message: `${message} Request id: ${arkRequestId(Math.floor(since))}` };
}

import { z } from 'zod';
import { FaultSet } from '../fault.ts';
import type { JobDesk } from '../job-desk.ts';
import { isFinal, momentOf } from '../task.ts';
import type { Task } from '../task.ts';
import type { World } from '../world.ts';
import { endingOf, FalError, inputRefused, noMedia, outputRefused, startTimedOut } from './fal-error.ts';

/** What a job has to remember of its request. */
export const falDetail = z.object({
  kind: z.enum(['video', 'image']),
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
  units: z.number(),
  seed: z.number().optional(),
  /** As it came: the list of requests shows it. */
  input: z.unknown(),
  /** Whether input and output are stored. */
  isStored: z.boolean(),
  /** A wrong input, reported by the result. */
  mistake: z.object({ message: z.string(), type: z.string(), loc: z.array(z.string()) }).optional(),
  startTimeoutMs: z.number().optional(),
  fileSeconds: z.number(),
});
export type FalDetail = z.infer<typeof falDetail>;
export type FalTask = Task<FalDetail>;
export type FalDesk = JobDesk<FalDetail>;

const dayMs = 86_400_000;
export const recordKeptMs = 30 * dayMs;
const resultKeptMs = 3_600_000;
const largeResultKeptMs = 360_000;
const largeResultBytes = 10_000;

export interface FalState {
  readonly word: string;
  readonly isEnded: boolean;
  readonly since: number;
  /** Of a job that ended. */
  readonly error?: FalError;
}

/** `COMPLETED` means that it ended, however. */
export function stateOf(task: FalTask, now: number): FalState {
  const { startTimeoutMs } = task.detail;
  const faults = FaultSet.of(task.faults);
  const waits = faults.has('never-starts') ? Number.POSITIVE_INFINITY : task.queueMs;
  const isLate = startTimeoutMs !== undefined && waits > startTimeoutMs;
  const { phase, since } = momentOf(task, now);
  const word = 'COMPLETED';
  if (phase !== 'cancelled' && isLate && now >= task.createdAt + startTimeoutMs)
    return { word, isEnded: true, since: task.createdAt + startTimeoutMs, error: startTimedOut };
  if (phase === 'queued') return { word: 'IN_QUEUE', isEnded: false, since };
  // There are only three words; with a fault there is one more.
  if (phase === 'unknown') return { word: 'RETRYING', isEnded: false, since };
  if (!isFinal(phase)) return { word: 'IN_PROGRESS', isEnded: false, since };
  const error = errorOf(task, phase, faults);
  return { word, isEnded: true, since, ...(error === undefined ? {} : { error }) };
}

function errorOf({ detail }: FalTask, phase: string, faults: FaultSet): FalError | undefined {
  const { mistake } = detail;
  if (phase === 'cancelled') return endingOf('client_cancelled');
  if (phase === 'expired') return endingOf('generation_timeout');
  if (mistake !== undefined) return new FalError(422, mistake.message, mistake.type, mistake.loc);
  if (faults.has('moderation-in-task'))
    return faults.text('moderation-in-task') === 'input' ? inputRefused : outputRefused;
  if (faults.has('failed')) return endingOf(faults.text('failed') ?? 'internal_server_error');
  return faults.has('item-error') ? noMedia : undefined;
}

/** The output of a job that succeeded. */
export function outputOf(task: FalTask, world: World, since: number): Record<string, unknown> {
  const { detail } = task;
  const { kind, seed, fileSeconds } = detail;
  const faults = FaultSet.of(task.faults);
  const seeded = seed === undefined ? {} : { seed };
  const isMissing = faults.has('missing-url');
  if (kind === 'video') {
    if (isMissing) return seeded;
    const url = world.link(task, world.video(detail, 0, faults), since, fileSeconds);
    return {
      video: { url, content_type: 'video/mp4', file_name: 'video.mp4', file_size: 4_352_150 },
      ...seeded,
    };
  }
  const { width, height } = detail;
  const look = { format: 'png', tint: 0, marked: false } as const;
  const url = world.link(task, world.image(detail, look, faults), since, fileSeconds);
  return {
    images: isMissing ? [] : [{ url, width, height, content_type: 'image/png' }],
    ...seeded,
    has_nsfw_concepts: [faults.has('item-moderation')],
    prompt: task.prompt,
    timings: { inference: task.renderMs / 1000 },
  };
}

/** Whether the result can no longer be asked for. */
export function isForgotten(task: FalTask, world: World, { since }: FalState): boolean {
  if (task.detail.isStored) return false;
  const size = JSON.stringify(outputOf(task, world, since)).length;
  return world.now() - since >= (size >= largeResultBytes ? largeResultKeptMs : resultKeptMs);
}

/** In whole numbers, or with two places. */
export function unitsOf(task: FalTask): string {
  return String((task.detail.units * FaultSet.of(task.faults).usageFactor()) / 100);
}

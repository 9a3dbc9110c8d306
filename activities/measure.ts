import { setTimeout as sleep } from 'node:timers/promises';
import type { GenerationRequest } from '../src/models/request.ts';
import type { SettleFacts } from '../src/money/settle-facts.ts';
import { linkHeadersOf } from '../src/routing/channels.ts';
import {
  needsMeasuring,
  withInputSeconds,
  withMeasured,
  withMeasuredImages,
} from '../src/routing/measured-facts.ts';
import { totalSeconds, type VideoLength } from '../src/routing/measured-plan.ts';
import type { Task } from '../src/task/record.ts';
import type { ResultItem } from '../src/task/task.ts';
import type { WatchedJob } from '../src/task/watched-job.ts';
import type { ChannelActivityDeps } from './deps.ts';

export type MeasuredJob = Pick<
  WatchedJob,
  'task' | 'account' | 'kind' | 'model' | 'candidate' | 'inputSeconds'
>;
export type MeasuringDeps = Pick<
  ChannelActivityDeps,
  'measure' | 'measureVideos' | 'shapeOf' | 'channels' | 'log'
> & { readonly requests: Pick<ChannelActivityDeps['requests'], 'find'> };

export async function measureDelivery(
  facts: SettleFacts,
  { items, job }: { readonly items: readonly ResultItem[]; readonly job: MeasuredJob },
  deps: MeasuringDeps,
): Promise<SettleFacts> {
  const { task, account, kind, model, candidate } = job;
  const { channel } = candidate;
  const inputSeconds =
    facts.inputSeconds ??
    (await measureInput(job, async () => (await deps.requests.find(task))?.request, deps));
  const given = (measured: SettleFacts) => withInputSeconds(measured, inputSeconds);
  if (!needsMeasuring(kind, facts)) return given(facts);
  const headersFor = linkHeadersOf(deps.channels, { kind, model, ...candidate });
  const measure = (item: ResultItem) => deps.measure({ task, account, item, channel, headersFor });
  const media = await Promise.all((kind === 'image' ? items : items.slice(0, 1)).map(measure));
  const shapeOf = (size: string) => deps.shapeOf({ model, channel }, size);
  return given(kind === 'image' ? withMeasuredImages(facts, media) : withMeasured(facts, media[0], shapeOf));
}

/** Reading is retried, because a video may have been published only a moment ago. */
const unreadableTriesMax = 3;
const unreadableTriesEveryMs = 2_000;

/**
 * `unread` means that the videos cannot be read now, perhaps because of a problem on our side. `unreadable` means that
 * the videos themselves are at fault.
 */
export type NoLength = 'unreadable' | 'unread';

/** Rejects only if the channel requires the length and our own data cannot be read. */
export async function measureToSubmit(
  task: Task,
  { request, channel }: { readonly request: GenerationRequest; readonly channel: string },
  deps: Pick<MeasuringDeps, 'measureVideos' | 'log'>,
): Promise<number | NoLength | undefined> {
  const isNeeded = task.inputNeededBy?.includes(channel) === true;
  if (!isNeeded || task.inputSeconds !== 'unmeasured')
    return measureInput(task, () => Promise.resolve(request), deps);
  for (let tries = 1; ; tries += 1) {
    const length = await lengthOf(request, task, deps);
    if (length !== 'unreadable' || tries === unreadableTriesMax) return length ?? 'unread';
    await sleep(unreadableTriesEveryMs);
  }
}

/**
 * Returns the length in seconds if it affects the price and was unknown when the hold was taken. Returns undefined if
 * it cannot be measured now. Never rejects.
 */
async function measureInput(
  { account, inputSeconds }: Pick<Task, 'account' | 'inputSeconds'>,
  find: () => Promise<GenerationRequest | undefined>,
  deps: Pick<MeasuringDeps, 'measureVideos' | 'log'>,
): Promise<number | undefined> {
  if (inputSeconds !== 'unmeasured') return inputSeconds;
  try {
    const length = await lengthOf(await find(), { account }, deps);
    return length === 'unreadable' ? undefined : length;
  } catch (err) {
    deps.log.warn({ err }, 'the length of input videos could not be measured');
    return undefined;
  }
}

async function lengthOf(
  request: GenerationRequest | undefined,
  { account }: Pick<Task, 'account'>,
  { measureVideos }: Pick<MeasuringDeps, 'measureVideos'>,
): Promise<VideoLength> {
  if (request?.kind !== 'video') return undefined;
  const lengths = await measureVideos(request.videos, { account });
  return lengths.includes('unreadable') ? 'unreadable' : totalSeconds(lengths);
}

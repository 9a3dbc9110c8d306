import { copyTimes, renderedAndKeptMs } from '../src/base/activity-times.ts';
import { defined } from '../src/base/defined.ts';
import { NoRoomError } from '../src/errors/not-stored.ts';
import type { GenerationRequest } from '../src/models/request.ts';
import { UnkeepableError, type KeptImage } from '../src/models/stored-media.ts';
import type { Task, TaskOutcome } from '../src/task/record.ts';
import { splitWords, withoutCallersField } from '../src/flight/split-words.ts';
import { behindCode, type ResultItem } from '../src/task/task.ts';
import type { ChannelAnswer, ChannelCall } from '../src/images/call-channel.ts';
import { totalBytes, unlinkedData } from '../src/models/image-data.ts';
import type { GeneratedImage, ImageContext, UpstreamError } from '../src/providers/provider.ts';
import { atOnce } from '../src/routing/capability.ts';
import type { OpenChannel } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { persistently } from './persistently.ts';
import { deliver } from './poll-answer.ts';
import type { Accepted } from './submit-answer.ts';

export interface AnswersAtOnce extends Pick<ChannelCall, 'channel' | 'provider' | 'request' | 'perCall'> {
  /** Set if the response contains the images themselves, which our storage must then keep. */
  readonly isData: boolean;
}

export function answersAtOnce(
  request: GenerationRequest,
  channel: OpenChannel | undefined,
): AnswersAtOnce | undefined {
  const provider = channel?.provider.image;
  if (request.kind !== 'image' || channel === undefined || provider === undefined) return undefined;
  const capability = atOnce(channel.provider, request, channel.config.models[request.model]);
  if (capability === undefined) return undefined;
  const { per_call: perCall = 1, data_only: isData = false } = capability.facts;
  return { channel, provider, request, perCall, isData };
}

export interface ImageRendering extends AnswersAtOnce, Pick<ChannelCall, 'candidate'> {
  readonly task: Pick<Task, 'id' | 'account' | 'kind' | 'model'>;
  /** Used as the job's id, because the upstream returns none. */
  readonly marker: string;
}

/**
 * Makes a submission whose response contains the result. The images are stored first, so the record never refers to
 * images that do not exist.
 */
export async function renderAtOnce(
  rendering: ImageRendering,
  deps: ChannelActivityDeps,
): Promise<Accepted | UpstreamError> {
  const { task, marker, ...call } = rendering;
  const answer = await deps.renderImages({
    ...call,
    account: task.account,
    onPartial: keepPartials(task.id, deps),
  });
  if (answer.kind === 'failed') return billedRejection(answer, rendering) ?? answer.error;
  const { delivery } = answer;
  const items = await patientlyKept(task, delivery.images, {
    ...deps,
    maxMs: renderedAndKeptMs - call.channel.config.timeouts.image_ms,
  });
  const operation = { id: marker };
  const said = defined({ cost: delivery.cost });
  if (typeof items === 'string') return { operation, outcome: ourFailure('result_not_kept', items, said) };
  const made = { items, facts: delivery.facts, ...said };
  const job = { ...task, task: task.id, candidate: call.candidate };
  // There is no job to ask for new links, so the caller is not charged if the links do not open.
  const { outcome, why } = await deliver(made, job, { deps, copyMaxMs: copyTimes.pollMs, isLast: true });
  return { operation, outcome: why === undefined ? outcome : ourFailure('result_not_delivered', why, said) };
}

/** If the upstream charges for a rejected request, the task ends like one with a failed job, which has a cost. */
function billedRejection(
  { error, cost }: Extract<ChannelAnswer, { kind: 'failed' }>,
  { request, marker }: Pick<ImageRendering, 'request' | 'marker'>,
): Accepted | undefined {
  if (cost === undefined || error.outcome !== 'rejected') return undefined;
  const { code } = error;
  const said = behindCode(code, splitWords(error.words, request));
  const failure = withoutCallersField(error.failure, request);
  return { operation: { id: marker }, outcome: { kind: 'failed', code, ...said, failure, cost } };
}

/** The outcome if the upstream bills the images but the gateway cannot deliver them. */
function ourFailure(code: string, message: string, said: Pick<TaskOutcome, 'cost'>): TaskOutcome {
  return { kind: 'failed', code, message, failure: { class: 'internal' }, ...said };
}

/** Errors are only logged, because partial images matter only to callers who are watching. */
function keepPartials(task: string, { partialImages, log }: ChannelActivityDeps): ImageContext['onPartial'] {
  let n = 0;
  return (image) => {
    partialImages
      .write(task, n, image)
      .catch((err: unknown) => log.warn({ task, err }, 'a partial image could not be stored'));
    n += 1;
  };
}

/**
 * Only this process has the images, and they are billed in any case, so storing them is retried for as long as the
 * activity may last. If too many other images are waiting, there is only one try. Returns a string that explains the
 * failure if the images could not be stored.
 */
async function patientlyKept(
  { id: task, account }: Pick<Task, 'id' | 'account'>,
  images: readonly GeneratedImage[],
  deps: ChannelActivityDeps & { readonly maxMs: number },
): Promise<readonly ResultItem[] | string> {
  let isCrowded = false;
  const keep = (mayWait: () => boolean) => {
    const isOutage = (): boolean => {
      isCrowded = !mayWait();
      return !isCrowded;
    };
    return persistently(() => keptItems(task, images, deps), { ...deps, tasks: { isOutage } });
  };
  const bytes = totalBytes(unlinkedData(images));
  try {
    const items = await deps.unstoredImages.hold({ account, bytes }, keep);
    return items ?? 'The upstream returned images that cannot be stored.';
  } catch (err) {
    deps.log.error({ task, err }, 'rendered images are lost, because the storage did not accept them');
    const why = err instanceof NoRoomError ? 'had no room for them' : 'did not respond';
    const crowd = isCrowded ? ', and too many others were waiting for it' : '';
    return `The upstream rendered the images, but the storage for results ${why}${crowd}.`;
  }
}

/**
 * Returns undefined if the images themselves are at fault, so retrying would not help. `keepImages` is always set here,
 * because without storage the plan excludes channels that respond with data.
 */
async function keptItems(
  task: string,
  images: readonly GeneratedImage[],
  { keepImages, log }: ChannelActivityDeps,
): Promise<readonly ResultItem[] | undefined> {
  const data = unlinkedData(images);
  const kept: KeptImage[] = [];
  try {
    if (data.length > 0) kept.push(...((await keepImages?.(task, data)) ?? []));
  } catch (err) {
    if (!(err instanceof UnkeepableError)) throw err;
    log.error({ task, err }, 'rendered images cannot be stored');
    return undefined;
  }
  return images.flatMap(({ url, expiresAt }): ResultItem[] => {
    if (url !== undefined) return [{ url, ...defined({ expiresAt }) }];
    const stored = kept.shift()?.stored;
    return stored === undefined ? [] : [{ stored }];
  });
}

import { defined } from '../src/base/defined.ts';
import type { GenerationRequest } from '../src/models/request.ts';
import type { KeptImage } from '../src/models/stored-media.ts';
import type { Task } from '../src/task/record.ts';
import type { ResultItem } from '../src/task/task.ts';
import type { ChannelCall } from '../src/images/call-channel.ts';
import type { GeneratedImage, ImageContext, UpstreamError } from '../src/providers/provider.ts';
import { atOnce } from '../src/routing/capability.ts';
import type { OpenChannel } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { persistently } from './persistently.ts';
import { copyMaxMs, deliver } from './poll-answer.ts';
import type { Accepted } from './submit-answer.ts';

/** A channel that renders with its answer to this request. */
export type AnswersAtOnce = Pick<ChannelCall, 'channel' | 'provider' | 'request' | 'perCall'>;

/** Undefined: the channel has jobs. */
export function answersAtOnce(
  request: GenerationRequest,
  channel: OpenChannel | undefined,
): AnswersAtOnce | undefined {
  const provider = channel?.provider.image;
  if (request.kind !== 'image' || channel === undefined || provider === undefined) return undefined;
  const capability = atOnce(channel.provider, request, channel.config.models[request.model]);
  if (capability === undefined) return undefined;
  return { channel, provider, request, perCall: capability.facts.per_call ?? 1 };
}

export interface ImageRendering extends AnswersAtOnce, Pick<ChannelCall, 'candidate'> {
  readonly task: Pick<Task, 'id' | 'kind' | 'model'>;
  /** Of the attempt: the upstream names no job. */
  readonly marker: string;
}

/** A submission whose answer is the result. Its images are in our own storage before anything is written about them. */
export async function renderAtOnce(
  rendering: ImageRendering,
  deps: ChannelActivityDeps,
): Promise<Accepted | UpstreamError> {
  const { task, marker, ...call } = rendering;
  const answer = await deps.renderImages({ ...call, onPartial: keepPartials(task.id, deps) });
  if (answer.kind === 'failed') return answer.error;
  const { delivery } = answer;
  // They are billed, whatever keeps them from being stored.
  const patient = { ...deps, tasks: { isOutage: () => true } };
  const items = await persistently(() => keptItems(task.id, delivery.images, deps), patient);
  const operation = { id: marker };
  const said = defined({ cost: delivery.cost });
  if (items === undefined) return { operation, outcome: { ...unkeepable, ...said } };
  const made = { items, facts: delivery.facts, ...said };
  const job = { task: task.id, kind: task.kind, model: task.model, candidate: call.candidate };
  // There is no job to ask again: nobody is charged for links that do not open.
  const { outcome, why } = await deliver(made, job, { deps, copyMaxMs, isLast: true });
  const undelivered = { ...undeliverable, message: why ?? '', ...said };
  return { operation, outcome: why === undefined ? outcome : undelivered };
}

const undeliverable = {
  kind: 'failed',
  code: 'result_not_delivered',
  failure: { class: 'internal' },
} as const;

const unkeepable = {
  kind: 'failed',
  code: 'result_not_kept',
  message: 'The upstream answered with images that cannot be kept.',
  failure: { class: 'internal' },
} as const;

/** One that cannot be written is missed by who watches, and by nobody else. */
function keepPartials(task: string, { partialImages, log }: ChannelActivityDeps): ImageContext['onPartial'] {
  let n = 0;
  return (image) => {
    partialImages
      .write(task, n, image)
      .catch((err: unknown) => log.warn({ task, err }, 'a partial image could not be kept'));
    n += 1;
  };
}

/**
 * The plan asks no channel that answers with data where nothing is kept. Undefined: the images are to blame, and no
 * repetition stores them.
 */
async function keptItems(
  task: string,
  images: readonly GeneratedImage[],
  { keepImages, log }: ChannelActivityDeps,
): Promise<readonly ResultItem[] | undefined> {
  const data = images.flatMap(({ url, base64 }) =>
    url === undefined && base64 !== undefined ? [base64] : [],
  );
  const kept: KeptImage[] = [];
  try {
    if (data.length > 0) kept.push(...((await keepImages?.(task, data)) ?? []));
  } catch (err) {
    if (!(err instanceof TypeError) && !(err instanceof RangeError)) throw err;
    log.error({ task, err }, 'images that were rendered cannot be kept');
    return undefined;
  }
  return images.flatMap(({ url, expiresAt }): ResultItem[] => {
    if (url !== undefined) return [{ url, ...defined({ expiresAt }) }];
    const stored = kept.shift()?.stored;
    return stored === undefined ? [] : [{ stored }];
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import { groupedFacts } from '../money/charge.ts';
import { sumCosts, type Cost } from '../money/cost.ts';
import { defined } from '../base/defined.ts';
import { ChannelGoneError, type OpenChannel } from '../routing/channels.ts';
import type { ImageRequest, JsonObject } from '../models/request.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { SettleFacts } from '../money/settle-facts.ts';
import { mayBeAccepted } from './explain-failure.ts';
import { measuredImage } from './measure-image.ts';
import { UpstreamError } from '../providers/provider.ts';
import type {
  GeneratedImage,
  GeneratedImages,
  ImageContext,
  SynchronousImageProvider,
  UpstreamOutcome,
} from '../providers/provider.ts';
import { timeLimit } from '../process/running-time.ts';

/**
 * `ambiguous` is the number of calls that produced nothing but may have been billed. `cost` is what the upstream charges
 * for calls that it rejected.
 */
export type ChannelAnswer =
  | { readonly kind: 'delivered'; readonly delivery: Delivery; readonly ambiguous: number }
  | {
      readonly kind: 'failed';
      readonly error: UpstreamError;
      readonly ambiguous: number;
      readonly cost?: Cost;
    };

export interface Delivery {
  readonly images: readonly GeneratedImage[];
  readonly facts: SettleFacts & { readonly images: number };
  readonly extra: JsonObject;
  readonly cost?: Cost;
}

export interface ChannelCall {
  readonly channel: OpenChannel;
  readonly provider: SynchronousImageProvider;
  readonly candidate: RouteCandidate;
  readonly request: ImageRequest;
  readonly perCall: number;
  readonly onPartial?: ImageContext['onPartial'];
}

/**
 * Makes several calls in parallel if the channel renders fewer images per call than requested, and fails only if all of
 * them fail. Never throws because of what the upstream does.
 */
export async function callChannel(call: ChannelCall): Promise<ChannelAnswer> {
  const { channel, candidate, request, provider, perCall } = call;
  const signal = timeLimit(channel.config.timeouts.image_ms);
  const opened = contextOf(call, signal);
  if (opened instanceof UpstreamError) return { kind: 'failed', error: opened, ambiguous: 0 };
  const context = { ...opened, ...defined({ onPartial: call.onPartial }) };
  const counts = splitCount(request.n, perCall);
  const results = await Promise.allSettled(counts.map((n) => render({ ...request, n }, provider, context)));
  const delivered = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const errors = results.flatMap((result) =>
    result.status === 'rejected' ? [asUpstreamError(result.reason, candidate)] : [],
  );
  const ambiguous = errors.filter(mayBeAccepted).length;
  const rejected = errors.flatMap(({ cost }) => cost ?? []);
  if (delivered.length > 0) {
    const { cost: reported, ...delivery } = await merge(delivered);
    const cost = sumCosts([reported, ...rejected]);
    return { kind: 'delivered', delivery: { ...delivery, ...defined({ cost }) }, ambiguous };
  }
  return { kind: 'failed', error: mostSevere(errors), ambiguous, ...defined({ cost: sumCosts(rejected) }) };
}

const resumeEveryMs = 2_000;

/**
 * If the upstream responds with a job, polls until it finishes or the signal aborts. After an abort, the outcome is
 * unknown.
 */
async function render(
  request: ImageRequest,
  provider: SynchronousImageProvider,
  context: ImageContext,
): Promise<GeneratedImages> {
  const { signal } = context;
  let made = await provider.generate(request, context);
  while (made.job !== undefined) {
    const { job } = made;
    await sleep(resumeEveryMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted || provider.resume === undefined)
      throw new UpstreamError('ambiguous', `The upstream is still rendering ${job}.`, {
        code: 'unfinished_job',
      });
    made = await provider.resume(job, context).catch((error: unknown) => {
      if (error instanceof UpstreamError && error.gone) throw error;
      return made;
    });
  }
  return made;
}

function contextOf({ channel, candidate, request }: ChannelCall, signal: AbortSignal) {
  try {
    return channel.context(candidate.credential, request.model, signal);
  } catch (error) {
    if (!(error instanceof ChannelGoneError)) throw error;
    return new UpstreamError('not_sent', error.message, { code: 'channel_gone', cause: error });
  }
}

/** The number of calls that `callChannel` makes in parallel. */
export function parallelCalls({ request, perCall }: Pick<ChannelCall, 'request' | 'perCall'>): number {
  return splitCount(request.n, perCall).length;
}

function splitCount(n: number, perCall: number): number[] {
  return Array.from({ length: Math.ceil(n / perCall) }, (_, index) => Math.min(perCall, n - index * perCall));
}

/** Unexpected errors of an adapter are ambiguous, because the request may have been accepted. */
function asUpstreamError(error: unknown, { channel }: RouteCandidate): UpstreamError {
  if (error instanceof UpstreamError) return error;
  return new UpstreamError('ambiguous', `The adapter of ${channel} failed.`, {
    code: 'adapter_failed',
    cause: error,
  });
}

/**
 * If several calls failed, the failure with the highest number is reported. A call that may have been accepted
 * outweighs any rejection.
 */
const gravity: Record<UpstreamOutcome, number> = {
  ambiguous: 4,
  rejected: 3,
  throttled: 2,
  unavailable: 1,
  not_sent: 0,
};

function mostSevere(errors: readonly UpstreamError[]): UpstreamError {
  const [first] = errors.toSorted((a, b) => gravity[b.outcome] - gravity[a.outcome]);
  return first ?? new UpstreamError('ambiguous', 'The channel reported nothing.', { code: 'no_answer' });
}

async function merge(answers: readonly GeneratedImages[]): Promise<Delivery> {
  const reported = answers.flatMap((answer) =>
    answer.images.map((image) => ({
      ...defined({ size: answer.facts.size, quality: answer.facts.quality }),
      ...image,
    })),
  );
  const images = await Promise.all(reported.map(measuredImage));
  const usage = sumUsage(answers.map(({ facts }) => facts.usage));
  const given = answers.flatMap(({ facts }) => facts.inputImages ?? []);
  const inputImages = given.length < answers.length ? undefined : given.reduce((a, b) => a + b, 0);
  const incredible = answers.some(({ facts }) => facts.incredible === true) ? (true as const) : undefined;
  const extra = mergeExtra(answers);
  return {
    images,
    facts: { ...factsOfImages(images), ...defined({ usage, inputImages, incredible }) },
    extra,
    ...defined({ cost: sumCosts(answers.map(({ cost }) => cost)) }),
  };
}

type Usage = NonNullable<SettleFacts['usage']>;

/** Adds up only the counts that every response reports. A partial total would be charged as if it were complete. */
function sumUsage(usages: readonly (Usage | undefined)[]): Usage | undefined {
  const names = [...new Set(usages.flatMap((usage) => Object.keys(usage ?? {})))].filter(isCount);
  const sums = names.flatMap((name) => {
    const counts = usages.flatMap((usage) => usage?.[name] ?? []);
    return counts.length < usages.length ? [] : [[name, counts.reduce((a, b) => a + b, 0)] as const];
  });
  return sums.length === 0 ? undefined : Object.fromEntries(sums);
}

const usageCounts: Readonly<Record<keyof Usage, true>> = {
  completionTokens: true,
  totalTokens: true,
  textTokens: true,
  inputTextTokens: true,
  inputImageTokens: true,
  inputAudioTokens: true,
  inputVideoTokens: true,
  cachedTokens: true,
};
const isCount = (name: string): name is keyof Usage => Object.hasOwn(usageCounts, name);

export function factsOfImages(
  images: readonly GeneratedImage[],
  answer: Pick<SettleFacts, 'size' | 'quality'> = {},
): Pick<SettleFacts, 'size' | 'quality' | 'groups' | 'measured'> & { readonly images: number } {
  const groups = images.map(({ size = answer.size, quality = answer.quality }) => ({
    images: 1,
    ...defined({ size, quality }),
  }));
  const measured = images.some(({ isMeasured }) => isMeasured) ? (['size'] as const) : undefined;
  return { images: images.length, ...groupedFacts(groups), ...defined({ measured }) };
}

function mergeExtra(answers: readonly GeneratedImages[]): JsonObject {
  const [first, ...others] = answers.map(({ extra }) => extra);
  if (first === undefined || others.length === 0) return first ?? {};
  return Object.fromEntries(
    Object.entries(first).flatMap(([name, value]) => {
      const values = [value, ...others.map((extra) => extra[name])];
      return values.every((other) => other === value) ? [[name, value]] : [];
    }),
  );
}

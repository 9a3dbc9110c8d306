import { defined } from '../base/defined.ts';
import type { ChannelConfig, ServedModel } from '../config/gateway-file.ts';
import { imageFactsIssue } from './image-facts-check.ts';
import { factsFor, imageAsSent } from '../models/facts-of-request.ts';
import { possibleOutput } from '../models/possible-output.ts';
import { servedFacts } from '../models/facts-table.ts';
import type { ModelFacts, PlainFacts } from '../models/model-facts.ts';
import { factsIssue } from '../models/model-facts-check.ts';
import type { GenerationRequest, ImageRequest, VideoRequest } from '../models/request.ts';
import type {
  GivenInput,
  PossibleOutput,
  Provider,
  RequestIssue,
  TaskProvider,
} from '../providers/provider.ts';
import { imageFormIssue } from './image-form-issue.ts';
import type { QuoteContext } from './quote.ts';

export interface Offer {
  readonly provider: Provider;
  readonly served: ServedModel;
  readonly facts: ModelFacts;
}

export function offerOf(
  provider: Provider | undefined,
  kind: GenerationRequest['kind'],
  served: ServedModel | undefined,
): Offer | undefined {
  const part = kind === 'video' ? provider?.video : (provider?.image ?? provider?.imageTask);
  return provider === undefined || part === undefined || served === undefined
    ? undefined
    : { provider, served, facts: servedFacts(part.facts, served) };
}

export type Offers = ReadonlyMap<ChannelConfig, Offer>;

export interface Capability {
  readonly facts: PlainFacts;
  readonly issue: RequestIssue | undefined;
  readonly estimateTokens: QuoteContext['estimateTokens'];
  readonly possible?: PossibleOutput;
  readonly canWait: boolean;
}

export function capabilityFor(
  offer: Offer,
  request: GenerationRequest,
  given: GivenInput = {},
): Capability | undefined {
  const facts = factsFor(request, offer.facts);
  const { video } = offer.provider;
  if (request.kind === 'image') return imageCapability(offer, request, facts);
  return video === undefined
    ? undefined
    : videoCapability(video, { request, served: offer.served, facts, given });
}

export function atOnce(
  provider: Provider,
  request: ImageRequest,
  served: ServedModel | undefined,
): Capability | undefined {
  const offer = offerOf(provider, 'image', served);
  const capability = offer === undefined ? undefined : capabilityFor(offer, request);
  return capability?.canWait === false ? capability : undefined;
}

interface Asking<Request> {
  readonly request: Request;
  readonly served: ServedModel;
  readonly facts: PlainFacts;
  readonly given?: GivenInput;
}

function videoCapability(provider: TaskProvider<VideoRequest>, asking: Asking<VideoRequest>): Capability {
  const { request, facts, given } = asking;
  const task = taskCapability(provider, asking);
  return {
    ...task,
    issue: factsIssue(request, facts) ?? task.issue,
    possible: { ...possibleOutput(request, facts, given?.inputSeconds), ...task.possible },
  };
}

function imageCapability(
  { provider: { image, imageTask }, served }: Offer,
  request: ImageRequest,
  facts: PlainFacts,
): Capability | undefined {
  const known = imageFactsIssue(request, facts);
  const task = imageTask === undefined ? undefined : taskCapability(imageTask, { request, served, facts });
  const asTask = task === undefined ? undefined : { ...task, issue: known ?? task.issue };
  if (image === undefined) return asTask;
  const issue = known ?? image.check?.(request, served.upstream) ?? imageFormIssue(request, image.imageForms);
  const estimateTokens = () => image.estimateTokens?.(imageAsSent(request, facts), facts, served.upstream);
  const atOnce = { facts, issue, estimateTokens, canWait: false };
  if (issue === undefined || asTask === undefined) return atOnce;
  // An issue about `model` means that the adapter serves the model only as a task. The task's issue is then more
  // useful.
  const isRightWay = issue.param === 'model' || asTask.issue === undefined;
  return isRightWay ? asTask : { ...asTask, issue };
}

function taskCapability<Request>(
  provider: TaskProvider<Request>,
  { request, served: { upstream, mapping }, facts, given = {} }: Asking<Request>,
): Capability {
  const { estimateTokens } = provider;
  const possible = provider.renders?.(request, upstream, given);
  return {
    facts,
    issue: provider.check?.(request, upstream, mapping),
    estimateTokens:
      estimateTokens === undefined
        ? undefined
        : (output) => estimateTokens(request, { ...output, ...given }, upstream),
    canWait: true,
    ...defined({ possible }),
  };
}

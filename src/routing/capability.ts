import { defined } from '../domain/defined.ts';
import { consumptionOf } from '../domain/consumption.ts';
import type { Consumption } from '../domain/consumption.ts';
import type { ServedModel } from '../config/gateway-file.ts';
import { factsFor, possibleOutput, servedFacts } from '../domain/model-facts.ts';
import { factsIssue } from '../domain/model-facts-check.ts';
import type { GenerationRequest, JsonObject, VideoRequest } from '../domain/request.ts';
import type {
  PossibleOutput,
  Provider,
  RequestIssue,
  TaskProvider,
  VideoProvider,
} from '../providers/provider.ts';
import { imageIssue, synchronousIssue } from './image-issue.ts';
import type { QuoteContext } from './quote.ts';

/** How an adapter serves a request for one upstream model. */
export interface Capability {
  readonly issue: RequestIssue | undefined;
  readonly estimateTokens: EstimateTokens;
  readonly possible?: PossibleOutput;
  readonly canWait: boolean;
}

type EstimateTokens = QuoteContext['estimateTokens'];

/** Undefined: the adapter does not generate this kind. */
export function capabilityFor(
  provider: Provider,
  request: GenerationRequest,
  served: ServedModel,
): Capability | undefined {
  if (request.kind === 'video') {
    return provider.video === undefined ? undefined : videoCapability(provider.video, request, served);
  }
  const { upstream } = served;
  const synchronous = provider.image;
  const issue = synchronous === undefined ? undefined : synchronousIssue(synchronous, request, served);
  if (synchronous !== undefined && issue === undefined) {
    const estimateTokens = () => synchronous.estimateTokens?.(request, upstream);
    return { issue: undefined, estimateTokens, canWait: false };
  }
  if (provider.imageTask !== undefined) {
    const capability = {
      ...taskCapability(provider.imageTask, request, served),
      issue: imageIssue(provider.imageTask, request, served),
    };
    // A model that is served the other way is refused for `model`: what the right way has against the request is
    // reported.
    const isRightWay = issue === undefined || issue.param === 'model' || capability.issue === undefined;
    return isRightWay ? capability : { ...capability, issue };
  }
  return synchronous === undefined ? undefined : { issue, estimateTokens: undefined, canWait: false };
}

function videoCapability(provider: VideoProvider, request: VideoRequest, served: ServedModel): Capability {
  const capability = taskCapability(provider, request, served);
  const facts = provider.facts === undefined ? undefined : servedFacts(provider.facts, served);
  const known = facts === undefined ? undefined : possibleOutput(request, factsFor(request, facts));
  const possible = known === undefined ? capability.possible : { ...known, ...capability.possible };
  return { ...capability, issue: videoIssue(provider, request, served), ...defined({ possible }) };
}

/** What speaks against a request: the facts of the model first, then what the adapter alone knows. */
export function videoIssue(
  { facts, check }: VideoProvider,
  request: VideoRequest,
  served: ServedModel,
): RequestIssue | undefined {
  const { upstream, mapping } = served;
  return (
    (facts === undefined ? undefined : factsIssue(request, servedFacts(facts, served))) ??
    check?.(request, upstream, mapping)
  );
}

function taskCapability<Request>(
  provider: TaskProvider<Request>,
  request: Request,
  { upstream, mapping }: ServedModel,
): Capability {
  const { estimateTokens } = provider;
  const possible = provider.renders?.(request, upstream);
  return {
    issue: provider.check?.(request, upstream, mapping),
    estimateTokens:
      estimateTokens === undefined ? undefined : (output) => estimateTokens(request, output, upstream),
    canWait: true,
    ...defined({ possible }),
  };
}

/** Whether the model takes an image as a reference; where nobody knows, it may. */
export function hasReferences({ facts }: VideoProvider, extra: JsonObject, served: ServedModel): boolean {
  return facts === undefined || factsFor({ extra }, servedFacts(facts, served)).media?.references !== 0;
}

/** What of the request reaches the vendor; undefined: everything. */
export function consumedBy(
  { facts }: VideoProvider,
  request: VideoRequest,
  served: ServedModel,
): Consumption | undefined {
  return facts === undefined ? undefined : consumptionOf(request, servedFacts(facts, served));
}

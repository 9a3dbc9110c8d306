import { defined } from '../domain/defined.ts';
import type { ServedModel } from '../config/gateway-file.ts';
import { rolesIssue } from '../domain/media-roles.ts';
import type { GenerationRequest, VideoRequest } from '../domain/request.ts';
import type {
  PossibleOutput,
  Provider,
  RequestIssue,
  TaskProvider,
  VideoProvider,
} from '../providers/provider.ts';
import { synchronousIssue } from './image-forms.ts';
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
  const issue = synchronous === undefined ? undefined : synchronousIssue(synchronous, request, upstream);
  if (synchronous !== undefined && issue === undefined) {
    const estimateTokens = () => synchronous.estimateTokens?.(request, upstream);
    return { issue: undefined, estimateTokens, canWait: false };
  }
  if (provider.imageTask !== undefined) {
    const capability = taskCapability(provider.imageTask, request, served);
    // A model that is served the other way is refused for `model`: what the right way has against the request is
    // reported.
    const isRightWay = issue === undefined || issue.param === 'model' || capability.issue === undefined;
    return isRightWay ? capability : { ...capability, issue };
  }
  return synchronous === undefined ? undefined : { issue, estimateTokens: undefined, canWait: false };
}

/** A part that the model does not have is refused for every adapter alike. */
function videoCapability(provider: VideoProvider, request: VideoRequest, served: ServedModel): Capability {
  const capability = taskCapability(provider, request, served);
  const roles = provider.roles?.(request, served.upstream, served.mapping);
  const issue = roles === undefined ? undefined : rolesIssue(request, roles);
  return issue === undefined ? capability : { ...capability, issue };
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

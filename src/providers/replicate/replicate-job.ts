import { askReplicate, callReplicate, readPage, readPrediction, type Prediction } from './replicate-call.ts';
import { replicateFailures } from './replicate-failures.ts';
import type { GenerationRequest } from '../../models/request.ts';
import { defined } from '../../base/defined.ts';
import type { FieldMapping } from '../../models/field-mapping.ts';
import { signedUrlExpiry, unreadableError } from '../shared/http-outcome.ts';
import { cancelledJob, endedJob, failedJob } from '../shared/job-status.ts';
import { mappedCost, mappedFacts, mappedLinks } from '../shared/mapped-answer.ts';
import { mappedBody, mappedEndpoint, mappedIssue } from '../shared/mapped-request.ts';
import { UpstreamError } from '../provider.ts';
import type {
  LostSubmit,
  Operation,
  OperationStatus,
  ProviderContext,
  RequestIssue,
  SubmitContext,
  Submitted,
} from '../provider.ts';

interface Endpoint {
  readonly path: string;
  readonly version?: string;
}

const part = '[\\w.-]+';
const model = new RegExp(`^${part}/${part}$`);
const deployment = new RegExp(`^deployments/${part}/${part}$`);
const versioned = new RegExp(`^(?:${part}/${part}:)?[0-9a-f]{64}$`);

/** Official models are named `owner/name`. All others are `owner/name:<version>` or just the version. */
function endpointOf(name: string): Endpoint | undefined {
  if (versioned.test(name)) return { path: '/predictions', version: name };
  if (deployment.test(name)) return { path: `/${name}/predictions` };
  return model.test(name) ? { path: `/models/${name}/predictions` } : undefined;
}

export function checkReplicate(
  request: GenerationRequest,
  name: string,
  mapping: FieldMapping | undefined,
): RequestIssue | undefined {
  if (mapping === undefined) return { param: 'model', message: 'The model has no mapping on this channel.' };
  const issue = mappedIssue(request, mapping);
  if (issue !== undefined || endpointOf(mappedEndpoint(request, mapping, name)) !== undefined) return issue;
  return { param: 'model', message: 'The upstream name is neither a model, a version nor a deployment.' };
}

export async function submitReplicate(
  request: GenerationRequest,
  context: SubmitContext,
): Promise<Submitted> {
  const { mapping, marker, callbackUrl } = context;
  const endpoint =
    mapping === undefined ? undefined : endpointOf(mappedEndpoint(request, mapping, context.model));
  if (mapping === undefined || endpoint === undefined) throw unmapped();
  const { path, version } = endpoint;
  const json = {
    ...defined({ version }),
    input: mappedBody(request, mapping, context),
    ...(callbackUrl === undefined
      ? {}
      : { webhook: marked(callbackUrl, marker), webhook_events_filter: ['completed'] }),
  };
  const answer = await callReplicate({ method: 'POST', path, json }, context);
  const id = readPrediction(answer.json)?.id;
  if (id === undefined) throw unreadableError(answer, 'it has no id');
  return { operation: { id }, traceId: id };
}

function unmapped(): UpstreamError {
  return new UpstreamError('unavailable', 'The model has no mapping on this channel.', {
    code: 'mapping_missing',
    failure: { class: 'quota' },
  });
}

const markerParameter = 'attempt';

/** The vendor shows the callback URL in the prediction, so a marker in that URL identifies the attempt. */
function marked(callbackUrl: string, marker: string): string {
  const url = new URL(callbackUrl);
  url.searchParams.set(markerParameter, marker);
  return url.href;
}

/** The output field that most models use. Applies to tasks whose model has been removed from the channel. */
const unknownMapping: Pick<FieldMapping, 'result' | 'facts' | 'cost'> = { result: 'output', facts: {} };

export async function replicateStatus(
  operation: Operation,
  context: ProviderContext,
  kind: 'video' | 'image',
): Promise<OperationStatus> {
  const { answer, prediction } = await askReplicate({ method: 'GET', path: pathOf(operation) }, context);
  switch (prediction.status ?? '') {
    case 'starting':
      return { state: 'pending', phase: 'submitted' };
    case 'succeeded': {
      const mapping = context.mapping ?? unknownMapping;
      const lost = withoutOutput(prediction);
      const urls = mappedLinks(answer.json, mapping);
      if (lost !== undefined) return lost;
      if (urls.length === 0) throw unreadableError(answer, 'it has no file where the mapping looks for one');
      const facts = mappedFacts(answer.json, mapping);
      return defined({
        state: 'succeeded' as const,
        items: urls.map((url) => defined({ url, expiresAt: signedUrlExpiry(url) ?? expiryOf(prediction) })),
        facts: kind === 'image' ? { ...facts, images: urls.length } : facts,
        cost: mappedCost(answer.json, mapping),
        endedAt: endOf(prediction),
      });
    }
    case 'failed':
      return failed(prediction);
    // `aborted` means cancelled before the start. Only a deadline could also abort a prediction, and we send none.
    case 'aborted':
      return cancelledJob();
    case 'canceled':
      return cancelledJob({ cost: mappedCost(answer.json, context.mapping ?? unknownMapping) });
    default:
      // `processing` and unknown states are treated as running.
      return { state: 'pending', phase: 'running' };
  }
}

function pathOf({ id }: Operation): string {
  return `/predictions/${encodeURIComponent(id)}`;
}

/**
 * A prediction can succeed without output. Outputs are deleted an hour after the prediction ends. An output that is
 * missing earlier failed moderation.
 */
function withoutOutput({ output, data_removed: isRemoved }: Prediction): OperationStatus | undefined {
  if (output !== null && output !== undefined) return undefined;
  if (isRemoved === true) {
    const message = 'The output was deleted before it was fetched.';
    return endedJob({ code: 'data_removed', message, failure: { class: 'expired' } });
  }
  const message = 'The prediction succeeded without an output.';
  return endedJob({ code: 'no_output', message, failure: { class: 'moderation_output' } });
}

function failed({ error }: Prediction): OperationStatus {
  const message = typeof error === 'string' && error !== '' ? error : undefined;
  const code = /\((E\d{3,5}|PA)\)/.exec(message ?? '')?.[1];
  return failedJob(replicateFailures, { code, message });
}

export const linkLifeSeconds = 3600;

function expiryOf(prediction: Prediction): number | undefined {
  const at = endOf(prediction);
  return at === undefined ? undefined : Math.floor(at / 1000) + linkLifeSeconds;
}

function endOf({ completed_at: completed }: Prediction): number | undefined {
  const at = Date.parse(completed ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/**
 * A prediction that has started is charged even if it is canceled, so only a waiting one is cancelled. A finished one is
 * returned unchanged. Source: the vendor's changelog on deadlines, 2025-10.
 */
export async function cancelReplicate(
  operation: Operation,
  context: ProviderContext,
): Promise<'cancelled' | 'refused'> {
  const path = pathOf(operation);
  const { prediction: before } = await askReplicate({ method: 'GET', path }, context);
  if (before.status === 'canceled' || before.status === 'aborted') return 'cancelled';
  if (before.status !== 'starting') return 'refused';
  const { prediction: after } = await askReplicate({ method: 'POST', path: `${path}/cancel` }, context);
  return after.status === 'succeeded' || after.status === 'failed' ? 'refused' : 'cancelled';
}

const findPagesMax = 20;

/** Searches by the callback URL, or by a field that the mapping reserves for our marker. */
export async function findReplicate(
  { marker, sentAfter, sentBefore }: LostSubmit<unknown>,
  context: ProviderContext,
): Promise<readonly Submitted[]> {
  const field = context.mapping?.marker;
  const found = new Map<string, Submitted>();
  const query = new URLSearchParams({
    created_after: new Date(sentAfter).toISOString(),
    created_before: new Date(sentBefore).toISOString(),
  });
  let path: string | undefined = `/predictions?${query.toString()}`;
  for (let page = 0; page < findPagesMax && path !== undefined; page += 1) {
    const { next, predictions } = readPage((await callReplicate({ method: 'GET', path }, context)).json);
    for (const { id, webhook, input } of predictions) {
      const isOurs = markerOf(webhook) === marker || (field !== undefined && input?.[field] === marker);
      if (isOurs) found.set(id, { operation: { id }, traceId: id });
    }
    path = next;
  }
  return [...found.values()];
}

function markerOf(webhook: string | undefined): string | null {
  return webhook !== undefined && URL.canParse(webhook)
    ? new URL(webhook).searchParams.get(markerParameter)
    : null;
}

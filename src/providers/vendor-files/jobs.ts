import type { FactsTable } from '../../models/facts-table.ts';
import type { GenerationRequest } from '../../models/request.ts';
import type { VendorJobs } from '../../models/vendor-file.ts';
import { isRecord } from '../../base/is-record.ts';
import { unreadableError } from '../shared/http-outcome.ts';
import { UpstreamError } from '../provider.ts';
import type {
  HttpResponse,
  Operation,
  OperationStatus,
  ProviderContext,
  SubmitContext,
  Submitted,
} from '../provider.ts';
import { readFound, readListed, readOperation, readStatus, stateOf, statusOf } from './answers.ts';
import type { ReadStatus } from './answers.ts';
import {
  addressBelow,
  buildRequest,
  callVendor,
  filledPath,
  partsOf,
  readAnswer,
  throwErrorIn,
} from './call.ts';
import type { Calling } from './call.ts';
import { createMediaMarks } from './media-marks.ts';
import { requestView } from './request-view.ts';

export interface JobCalling extends Calling {
  readonly jobs: VendorJobs;
  readonly kind: 'video' | 'image';
  readonly facts: FactsTable;
}

/** In bytes. Large enough for a list of a hundred jobs, including their requests. */
const listBytesMax = 4 * 1024 * 1024;

export async function submitJob(
  request: GenerationRequest,
  context: SubmitContext,
  calling: JobCalling,
): Promise<Submitted> {
  const { submit } = calling.jobs;
  const marks = createMediaMarks();
  const view = requestView(request, { facts: calling.facts, context, marks });
  const { marker, callbackUrl, remainingSeconds } = context;
  const bindings = { marker, callback_url: callbackUrl, remaining_seconds: remainingSeconds };
  const built = await buildRequest({ source: submit.request, view, bindings }, marks, calling);
  const answer = await callVendor({ method: submit.method, ...built }, context, calling);
  const read = await readAnswer(
    answer,
    { source: submit.accepted, bindings: { model: context.model } },
    calling,
  );
  throwErrorIn(read, answer, calling);
  const operation = readOperation(read);
  if (operation === undefined) throw unreadableError(answer, 'it has no id');
  return { operation, traceId: operation.id };
}

export async function jobStatus(
  operation: Operation,
  context: ProviderContext,
  calling: JobCalling,
): Promise<OperationStatus> {
  const { status } = calling.jobs;
  const { read, answer } = await ask(status, { operation, context, calling });
  if (read?.state === undefined) throw unreadableError(answer, 'it is not a job');
  const reading = { ...calling, states: status.states };
  if (status.result === undefined || stateOf(read, status.states) !== 'succeeded')
    return statusOf(read, answer, reading);
  const result = await ask(status.result, { operation, context, calling });
  return statusOf(withResult(read, result.read), result.answer, reading);
}

async function ask(
  { path, answer: source }: { readonly path: string; readonly answer: string },
  { operation, context, calling }: { operation: Operation; context: ProviderContext; calling: Calling },
): Promise<{ readonly read: ReadStatus | undefined; readonly answer: HttpResponse }> {
  const filled = filledPath(path, partsOf(operation, context));
  const answer = await callVendor({ method: 'GET', path: filled, asksForJob: true }, context, calling);
  const bindings = { operation, model: context.model };
  const read = await readAnswer(answer, { source, bindings }, calling);
  throwErrorIn(read, answer, calling);
  return { read: withAddresses(readStatus(read), context), answer };
}

/** Some vendors report only a file's path, so relative links are resolved against the base URL. */
function withAddresses<Status extends ReadStatus | undefined>(
  status: Status,
  { baseUrl }: ProviderContext,
): Status {
  if (status === undefined) return status;
  const urls = status.urls.flatMap((link) => {
    if (!link.url.startsWith('/')) return [link];
    const address = addressBelow(baseUrl, link.url);
    return address === undefined ? [] : [{ ...link, url: address.href }];
  });
  return { ...status, urls };
}

function withResult(status: ReadStatus, result: ReadStatus | undefined): ReadStatus {
  if (result === undefined) return status;
  return {
    ...status,
    urls: result.urls.length > 0 ? result.urls : status.urls,
    facts: { ...status.facts, ...result.facts },
    cost: result.cost ?? status.cost,
  };
}

export async function cancelJob(
  operation: Operation,
  context: ProviderContext,
  calling: JobCalling & { readonly cancel: NonNullable<VendorJobs['cancel']> },
): Promise<'cancelled' | 'refused'> {
  const { method, path } = calling.cancel;
  const filled = filledPath(path, partsOf(operation, context));
  try {
    await callVendor({ method, path: filled, asksForJob: true }, context, calling);
    return 'cancelled';
  } catch (error) {
    if (error instanceof UpstreamError && error.outcome === 'rejected' && !error.gone) return 'refused';
    throw error;
  }
}

/**
 * Lists jobs. Omits succeeded ones whose link is missing from the list or must be requested separately. Those are then
 * polled individually.
 */
export async function listJobs(
  operations: readonly Operation[],
  context: ProviderContext,
  calling: JobCalling & { readonly list: NonNullable<VendorJobs['list']> },
): Promise<ReadonlyMap<string, OperationStatus>> {
  const { list, jobs } = calling;
  const ids = operations.map(({ id }) => id);
  const path = filledPath(list.path, { ids: ids.join(',') });
  const answer = await callVendor({ method: 'GET', path, bodyBytesMax: listBytesMax }, context, calling);
  const read = readListed(await readAnswer(answer, { source: list.answer, bindings: { ids } }, calling));
  const known = new Set(ids);
  const reading = { ...calling, states: jobs.status.states };
  return new Map(
    read.flatMap(({ id, status: listed }) => {
      const status = withAddresses(listed, context);
      if (!known.has(id) || status.state === undefined) return [];
      const isReported = stateOf(status, reading.states) !== 'succeeded' || isComplete(status, jobs);
      return isReported ? [[id, statusOf(status, answer, reading)] as const] : [];
    }),
  );
}

function isComplete({ urls }: ReadStatus, { status }: VendorJobs): boolean {
  return status.result === undefined && urls.length > 0;
}

export async function findJobs(
  marker: string,
  context: ProviderContext,
  calling: JobCalling & { readonly find: NonNullable<VendorJobs['find']> },
): Promise<readonly Submitted[]> {
  const { path, answer: source } = calling.find;
  const filled = filledPath(path, { marker, model: context.model });
  const answer = await callVendor(
    { method: 'GET', path: filled, bodyBytesMax: listBytesMax },
    context,
    calling,
  );
  const read = await readAnswer(answer, { source, bindings: { marker, model: context.model } }, calling);
  return readFound(read)
    .filter((found) => found.marker === marker)
    .map(({ operation }) => ({ operation, traceId: operation.id }));
}

export function hasEnded(body: unknown, { field, ended }: NonNullable<VendorJobs['callback']>): boolean {
  const word = field
    .split('.')
    .reduce<unknown>(
      (value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      body,
    );
  return typeof word === 'string' && ended.includes(word);
}

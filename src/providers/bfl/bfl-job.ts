import { z } from 'zod';
import { bflRefusal, bflStatus, creditCost, readBflCreated, readBflJob } from './bfl-answer.ts';
import { defined } from '../../base/defined.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import { isSuccess, unknownJob, unreadableError } from '../shared/http-outcome.ts';
import { vendorBalance } from '../shared/vendor-balance.ts';
import type { Operation, OperationStatus, ProviderContext, Submitted, VendorBalance } from '../provider.ts';
import type { JsonObject } from '../../models/request.ts';

/**
 * Creates a job. Its operation contains `id`, the reported credits and, if it can be trusted, the polling URL from the
 * response.
 */
export async function submitBflJob(json: JsonObject, context: ProviderContext): Promise<Submitted> {
  const answer = await context.request({
    method: 'POST',
    url: `${context.baseUrl}/v1/${encodeURIComponent(context.model)}`,
    headers: keyHeader(context),
    json,
    signal: context.signal,
  });
  if (!isSuccess(answer)) throw bflRefusal(answer);
  const created = readBflCreated(answer.json);
  if (created === undefined) throw unreadableError(answer, 'it has no id');
  const { id, polling_url: address, cost } = created;
  const pollingUrl = address === undefined ? undefined : trustedAddress(address, id, context.baseUrl);
  return { operation: defined({ id, pollingUrl, cost }), traceId: id };
}

export interface BflJobKind {
  readonly linkLifeSeconds: number;
  readonly facts: SettleFacts;
}

/** @param now - Returns Unix milliseconds. Needed to compute when links expire. */
export async function bflJobStatus(
  operation: Operation,
  context: ProviderContext,
  { kind, now }: { readonly kind: BflJobKind; readonly now: number },
): Promise<OperationStatus> {
  const { id, pollingUrl, cost } = operation;
  const named = pollingUrl === undefined ? undefined : trustedAddress(pollingUrl, id, context.baseUrl);
  const answer = await context.request({
    method: 'GET',
    url: named ?? `${context.baseUrl}/v1/get_result?id=${encodeURIComponent(id)}`,
    headers: keyHeader(context),
    signal: context.signal,
  });
  const job = readBflJob(answer.json);
  // The vendor sends this message with status 200 or 404, and sometimes right after a job is created.
  if (job !== undefined && /^task not found$/i.test(job.word)) {
    throw unknownJob(answer.status);
  }
  if (!isSuccess(answer)) throw bflRefusal(answer);
  if (job === undefined || (job.id !== undefined && job.id !== id))
    throw unreadableError(answer, 'it does not describe the job');
  const expiresAt = (endedAt = now / 1000) => Math.floor(endedAt) + kind.linkLifeSeconds;
  const status = bflStatus(job, { expiresAt, facts: kind.facts, cost: creditCost(cost) });
  if (status === undefined) throw unreadableError(answer, 'the job is ready, but has no file');
  return status;
}

const creditsSchema = z.object({ credits: z.unknown() });

/** Source: clients of `GET /v1/credits`, 2026-11. */
export async function bflBalance(context: ProviderContext): Promise<VendorBalance> {
  const { request, baseUrl, signal } = context;
  const answer = await request({
    method: 'GET',
    url: `${baseUrl}/v1/credits`,
    headers: keyHeader(context),
    signal,
  });
  if (!isSuccess(answer)) throw bflRefusal(answer);
  const amount = creditsSchema.safeParse(answer.json).data?.credits;
  return vendorBalance(answer, { amount, unit: 'credits' });
}

function keyHeader({ credential }: ProviderContext): { readonly 'x-key': string } {
  return { 'x-key': credential.apiKey };
}

const addressCharactersMax = 600;

/**
 * The upstream chooses a polling URL on a host in its region. Polling sends the key, so the URL must be on the
 * channel's own origin or, if the channel uses a vendor host, on another vendor host. Any other URL is ignored, and the
 * channel's own host is polled.
 */
function trustedAddress(text: string, id: string, baseUrl: string): string | undefined {
  if (text.length > addressCharactersMax || !URL.canParse(text) || !URL.canParse(baseUrl)) return undefined;
  const [url, own] = [new URL(text), new URL(baseUrl)];
  if (url.username !== '' || url.password !== '' || !url.pathname.endsWith('/get_result')) return undefined;
  if (url.origin !== own.origin && !(isVendorHost(url) && isVendorHost(own))) return undefined;
  if (!url.searchParams.has('id')) url.searchParams.set('id', id);
  url.hash = '';
  return url.href;
}

function isVendorHost({ protocol, port, hostname }: URL): boolean {
  return protocol === 'https:' && port === '' && hostname.endsWith('.bfl.ai');
}

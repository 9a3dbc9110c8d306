import { z } from 'zod';
import { xaiFailures } from './xai-failures.ts';
import type { Cost } from '../../money/cost.ts';
import type { Refusal } from '../shared/failure-table.ts';
import { bearer, isSuccess, optionalText, refusalError } from '../shared/http-outcome.ts';
import { costOfUnits } from '../shared/vendor-cost.ts';
import { defined } from '../../base/defined.ts';
import type { HttpRequestOptions, HttpResponse, ProviderContext, UpstreamError } from '../provider.ts';

type XaiRequest = Pick<HttpRequestOptions, 'method' | 'json' | 'bodyBytesMax' | 'largeStrings'> & {
  readonly path: string;
};

export function askXai({ path, ...rest }: XaiRequest, context: ProviderContext): Promise<HttpResponse> {
  const { request, baseUrl, signal } = context;
  return request({ ...rest, url: baseUrl + path, headers: bearer(context), signal });
}

export async function callXai(request: XaiRequest, context: ProviderContext): Promise<HttpResponse> {
  const answer = await askXai(request, context);
  if (!isSuccess(answer)) throw xaiRefusal(answer);
  return answer;
}

export function xaiRefusal(answer: HttpResponse): UpstreamError {
  return refusalError(answer, readRefusal(answer.json), xaiFailures);
}

export function isXaiRefusal({ json }: HttpResponse): boolean {
  return readRefusal(json) !== undefined;
}

const plainSchema = z.object({ code: optionalText, error: z.string() });
const nestedSchema = z.object({
  error: z.object({ message: optionalText, type: optionalText, param: optionalText, code: optionalText }),
});

/**
 * Reads `{"code","error":"text"}`, `{"error":"text"}`, or `{"error":{"message","type","param","code"}}`. If a result was
 * rendered and then rejected for its content, `usage` contains what it costs nevertheless.
 */
function readRefusal(json: unknown): Refusal | undefined {
  const cost = costOf(json);
  const plain = plainSchema.safeParse(json).data;
  if (plain !== undefined) return defined({ code: plain.code ?? '', message: plain.error, cost });
  const error = nestedSchema.safeParse(json).data?.error;
  if (error === undefined) return undefined;
  const { code, type = '', message = '', param: field } = error;
  return defined({ code: code ?? type, message, field, cost });
}

const usageSchema = z.object({ usage: z.object({ cost_in_usd_ticks: z.int().nonnegative() }) });
/** In US dollars. */
const priceOfTick = '0.0000000001';

export function costOf(json: unknown): Cost | undefined {
  const ticks = usageSchema.safeParse(json).data?.usage.cost_in_usd_ticks;
  return costOfUnits(ticks, priceOfTick, 'USD');
}

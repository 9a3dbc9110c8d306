import { isRecord } from '../../base/is-record.ts';
import type { ResultItem } from '../../task/task.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import { defined } from '../../base/defined.ts';
import { failureClasses, moderatedInputs, type Failure } from '../../errors/failure.ts';
import { gatewayFailures } from './gateway-failures.ts';
import { jobFailure, knownWords, type Refusal } from '../shared/failure-table.ts';
import { reportedNumber, signedUrlExpiry } from '../shared/http-outcome.ts';
import { endedJob, failedCode, middleOfSecond, noReason, tokenUsage } from '../shared/job-status.ts';
import type { OperationStatus } from '../provider.ts';

/**
 * Where to find each field in other gateways' responses. Gateways agree on little, and their documentation contradicts
 * their code, so each list has every path seen so far. The first path with a value wins.
 */

const idPlaces = ['id', 'task_id', 'data.task_id', 'data.id'];
const statusPlaces = [
  'status',
  'data.status',
  'state',
  'data.state',
  'data.data.status',
  'output.task_status',
];
const urlPlaces = [
  'metadata.url',
  'url',
  'video_url',
  'result_url',
  'data.result_url',
  'data.url',
  'content.video_url',
  'data.data.content.video_url',
  'data.0.url',
  'output.0',
  // Older gateway versions put the result URL in the failure-reason field.
  'data.fail_reason',
  'fail_reason',
];
const lastFramePlaces = [
  'data.0.last_frame_url',
  'content.last_frame_url',
  'data.data.content.last_frame_url',
  'metadata.last_frame_url',
  'last_frame_url',
];
const expiryPlaces = ['data.0.expires_at', 'expires_at', 'data.expires_at'];
/** Unix seconds. A relay reports when it noticed that the job had finished, so this is an upper bound. */
const endPlaces = ['completed_at', 'finish_time', 'data.finish_time'];
const progressPlaces = ['progress', 'data.progress'];
const durationPlaces = ['duration', 'data.data.duration', 'metadata.duration', 'data.duration', 'seconds'];
const resolutionPlaces = ['resolution', 'data.data.resolution', 'metadata.resolution'];
const ratioPlaces = ['ratio', 'data.data.ratio', 'metadata.ratio'];
const codePlaces = ['error.code', 'data.error.code', 'data.data.error.code', 'error.type'];
const wordsPlaces = [
  'error.message',
  'data.error.message',
  'data.data.error.message',
  'data.fail_reason',
  'fail_reason',
  'error',
  'message',
];
const usagePlaces = ['usage', 'data.usage', 'data.data.usage'];

type State = 'submitted' | 'running' | 'succeeded' | 'failed';

const states: Readonly<Record<string, State>> = {
  ...words('submitted', 'queued pending submitted not_start preparing created starting unknown'),
  ...words('running', 'processing in_progress running generating'),
  ...words('succeeded', 'completed complete success succeeded succeed finished'),
  ...words('failed', 'failed failure fail error cancelled canceled expired'),
};

function words(state: State, list: string): Record<string, State> {
  return Object.fromEntries(list.split(' ').map((word) => [word, state]));
}

export function readGatewayId(json: unknown): string | undefined {
  // In an error, this is the id of the request, not of a job.
  const requestId = readGatewayRefusal(json) === undefined ? ['request_id'] : [];
  return textAt(json, [...idPlaces, ...requestId]);
}

export function readGatewayImageJob(json: unknown): string | undefined {
  const list = valueAt(json, 'data');
  const hasImages = Array.isArray(list) && list.length > 0;
  return hasImages || textAt(json, statusPlaces) === undefined ? undefined : readGatewayId(json);
}

export function readGatewayStatus(json: unknown, traceId: string): OperationStatus | 'no_link' | undefined {
  const word = textAt(json, statusPlaces)?.toLowerCase();
  if (word === undefined) return undefined;
  const state = states[word] ?? 'running';
  switch (state) {
    case 'submitted':
    case 'running':
      return defined({ state: 'pending' as const, phase: state, progress: readProgress(json), traceId });
    case 'failed': {
      const code = textAt(json, codePlaces) ?? (word === 'expired' ? 'upstream_expired' : word);
      const refusal = { code, message: textAt(json, wordsPlaces) ?? noReason };
      const words = code === word ? refusal : knownWords(gatewayFailures, refusal, failedCode);
      return endedJob({ ...words, failure: readFailure(json, refusal) }, { traceId });
    }
    case 'succeeded': {
      const items = readItems(json);
      return items.length === 0
        ? 'no_link'
        : defined({
            state: 'succeeded' as const,
            items,
            facts: readGatewayFacts(json),
            endedAt: middleOfSecond(numberAt(json, endPlaces)),
            traceId,
          });
    }
    default:
      return state satisfies never;
  }
}

function readFailure(json: unknown, refusal: Refusal): Failure {
  const reported = failureClasses.find((name) => name === textAt(json, ['error.class']));
  if (reported === undefined) return jobFailure(gatewayFailures, refusal);
  return defined({
    class: reported,
    field: textAt(json, ['error.field']),
    input: moderatedInputs.find((name) => name === textAt(json, ['error.input'])),
  });
}

function readItems(json: unknown): ResultItem[] {
  const list = valueAt(json, 'data');
  const several = Array.isArray(list) ? list.filter((entry) => linkAt(entry, ['url']) !== undefined) : [];
  if (several.length > 0) {
    return several.map((entry: unknown) =>
      resultItem(
        linkAt(entry, ['url']) ?? '',
        linkAt(entry, ['last_frame_url']),
        numberAt(entry, ['expires_at']),
      ),
    );
  }
  const url = linkAt(json, urlPlaces);
  if (url === undefined) return [];
  return [resultItem(url, linkAt(json, lastFramePlaces), numberAt(json, expiryPlaces))];
}

function resultItem(
  url: string,
  lastFrameUrl: string | undefined,
  expiresAt: number | undefined,
): ResultItem {
  return defined({ url, lastFrameUrl, expiresAt: signedUrlExpiry(url) ?? expiresAt });
}

export function readGatewayFacts(json: unknown): SettleFacts {
  const usage = usagePlaces.map((place) => valueAt(json, place)).find((value) => isRecord(value));
  const completionTokens = reportedAt(usage, ['completion_tokens']);
  const totalTokens = reportedAt(usage, ['total_tokens']);
  const isReported = (completionTokens ?? 0) !== 0 || (totalTokens ?? 0) !== 0;
  const duration = reportedAt(json, durationPlaces);
  return defined({
    usage: isReported ? tokenUsage(completionTokens, totalTokens) : undefined,
    durationSeconds: duration === 0 ? undefined : duration,
    resolution: textAt(json, resolutionPlaces),
    ratio: textAt(json, ratioPlaces),
  });
}

/** Progress may be an integer, a fraction from 0 to 1, or "50%". */
function readProgress(json: unknown): number | undefined {
  const text = textAt(json, progressPlaces);
  const match = /^(\d+(?:\.\d+)?)%?$/.exec(text ?? '');
  if (match === null) return undefined;
  const value = Number(match[1]);
  const percent = text?.endsWith('%') !== true && value < 1 ? value * 100 : value;
  return Math.min(100, Math.round(percent));
}

/** Reads `{"error": {…}}` or `{"code": "…", "message": "…"}`, either of which may come with status 200. */
export function readGatewayRefusal(json: unknown): Refusal | undefined {
  if (isRecord(valueAt(json, 'error'))) {
    return {
      code: textAt(json, ['error.code', 'error.type']) ?? '',
      message: textAt(json, ['error.message']) ?? '',
    };
  }
  const code = textAt(json, ['code']);
  if (code === undefined || /^(?:success|ok|0|200)$/i.test(code)) return undefined;
  return { code, message: textAt(json, ['message', 'msg']) ?? '' };
}

function valueAt(json: unknown, place: string): unknown {
  return place.split('.').reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return value[Number(key)];
    return isRecord(value) ? value[key] : undefined;
  }, json);
}

function textAt(json: unknown, places: readonly string[]): string | undefined {
  for (const place of places) {
    const value = valueAt(json, place);
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  }
  return undefined;
}

function linkAt(json: unknown, places: readonly string[]): string | undefined {
  for (const place of places) {
    const value = valueAt(json, place);
    if (typeof value === 'string' && /^https?:\/\//i.test(value)) return value;
  }
  return undefined;
}

function numberAt(json: unknown, places: readonly string[]): number | undefined {
  for (const place of places) {
    const match = /^(\d+(?:\.\d+)?)s?$/.exec(textAt(json, [place]) ?? '');
    if (match !== null) return Number(match[1]);
  }
  return undefined;
}

/** Returns even an implausible number, because a charge may depend on it. typed-answers.ts rejects such numbers. */
function reportedAt(json: unknown, places: readonly string[]): number | undefined {
  for (const place of places) {
    const value = valueAt(json, place);
    const number = reportedNumber.parse(typeof value === 'string' ? value.trim().replace(/s$/, '') : value);
    if (number !== undefined) return number;
  }
  return undefined;
}

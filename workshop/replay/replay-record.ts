import { z } from 'zod';
import { defined } from '../../src/base/defined.ts';
import type { FieldMapping } from '../../src/models/field-mapping.ts';
import { parseJson } from '../../src/base/parse-json.ts';
import type { GenerationRequest } from '../../src/models/request.ts';
import type {
  Operation,
  Provider,
  ProviderContext,
  SubmitContext,
  TaskProvider,
} from '../../src/providers/provider.ts';
import { taskProviderFor } from '../../src/routing/channels.ts';
import { compareJson } from './compare-json.ts';
import {
  acceptedOutcome,
  errorOutcome,
  foundOutcome,
  statusOutcome,
} from '../../src/flight/describe-call.ts';
import { createPlayer } from './player.ts';
import type { CallOutcome, RecordedCall } from '../../src/flight/recorded-call.ts';
import { textsOf } from '../../src/flight/redact.ts';
import type { Hidden } from '../../src/flight/redact.ts';
import { replayMoney } from './replay-money.ts';
import { replayRescue } from './replay-rescue.ts';
import type { FlightRecord } from '../../src/flight/flight-record.ts';
import { describeOutcome } from '../../src/flight/timeline.ts';

export interface ReplayReport {
  /** Where today's code does otherwise than the record says, in sentences. */
  readonly differences: readonly string[];
  /** What could not be replayed, and why. */
  readonly notes: readonly string[];
  readonly calls: number;
}

/** Who is asked in a replay. */
export type ReplayProviders = Readonly<Record<string, Provider>>;

const callbackUrl = 'https://callback.invalid/replay';
/** Not a pair, which not every interface of a vendor takes. */
const apiKey = 'replayed-key';

/**
 * Runs today's adapters, settlement and routing decisions over a record. Sends nothing, reads nothing but the record, and
 * never throws for what the record holds.
 */
export async function replayRecord(record: FlightRecord, providers: ReplayProviders): Promise<ReplayReport> {
  const differences: string[] = [];
  const notes: string[] = [];
  const outcomes: CallOutcome[] = [];
  const request = readRequest(record);
  for (const call of record.calls) {
    const replayed = await replayCall({ call, record, request }, providers);
    differences.push(...replayed.differences);
    notes.push(...replayed.notes);
    outcomes.push(replayed.outcome ?? call.outcome);
  }
  if (record.calls.length === 0) notes.push('No exchange with an upstream is in the record.');
  const today = { record, outcomes, request, providers };
  for (const part of [replayMoney, replayRescue]) {
    try {
      const replayed = part(today);
      differences.push(...replayed.differences);
      notes.push(...replayed.notes);
    } catch (error) {
      differences.push(
        `A part of the record cannot be used: ${error instanceof Error ? error.message : 'unknown'}.`,
      );
    }
  }
  return { differences, notes, calls: record.calls.length };
}

const commonSchema = z.object({
  model: z.string(),
  prompt: z.string(),
  extra: z.record(z.string(), z.json()),
});
const textList = z.array(z.string());
const linkSchema = z.object({ form: z.literal('url'), url: z.string() });
const requestShape = z.discriminatedUnion('kind', [
  commonSchema.extend({ kind: z.literal('video'), references: textList, videos: textList, audios: textList }),
  commonSchema.extend({ kind: z.literal('image'), images: z.array(linkSchema), mask: linkSchema.optional() }),
]);
/** Only what the record itself reads is checked: an adapter that fails over the rest is a difference. */
const requestSchema = z.custom<GenerationRequest>((value) => requestShape.safeParse(value).success);

function readRequest({ request, task }: FlightRecord): GenerationRequest | undefined {
  const { data } = requestSchema.safeParse(parseJson(request ?? ''));
  return data?.kind === task.kind ? data : undefined;
}

interface CallReplay {
  readonly call: RecordedCall;
  readonly record: FlightRecord;
  readonly request: GenerationRequest | undefined;
}

interface Replayed {
  readonly differences: readonly string[];
  readonly notes: readonly string[];
  /** Absent: the call was not replayed. */
  readonly outcome?: CallOutcome;
}

async function replayCall(
  { call, record, request }: CallReplay,
  providers: ReplayProviders,
): Promise<Replayed> {
  const name = `${call.step} at ${call.channel}, ${(call.at - record.task.created_at).toFixed(1)} s`;
  const found = Object.hasOwn(providers, call.provider) ? providers[call.provider] : undefined;
  const provider = found === undefined ? undefined : taskProviderFor(found, record.task.kind);
  if (provider === undefined) {
    return {
      differences: [`${name}: there is no provider ${call.provider} for ${record.task.kind}s.`],
      notes: [],
    };
  }
  if (request === undefined && (call.step === 'submit' || call.step === 'find')) {
    return { differences: [], notes: [`${name}: not replayed, the request is not in the record.`] };
  }
  const hidden: Hidden = {
    secrets: [apiKey, callbackUrl],
    texts: request === undefined ? [] : textsOf(request),
  };
  const player = createPlayer(call, hidden);
  if (player.isIncomplete) {
    return { differences: [], notes: [`${name}: not replayed, an answer was too large to be kept.`] };
  }
  const outcome = await runCall(provider, { call, record, request }, player.request);
  const changed = compareJson(toJson(call.outcome), toJson(outcome));
  const differences = [...player.differences()];
  if (changed.length > 0) {
    differences.push(
      call.outcome.kind === outcome.kind
        ? `The outcome differs: ${changed.join('; ')}.`
        : `Recorded is “${describeOutcome(call.outcome)}”, today it is “${describeOutcome(outcome)}”.`,
    );
  }
  return { differences: differences.map((difference) => `${name}: ${difference}`), notes: [], outcome };
}

function toJson(value: unknown): unknown {
  return parseJson(JSON.stringify(value));
}

async function runCall(
  provider: TaskProvider<GenerationRequest>,
  { call, record, request }: CallReplay,
  play: ProviderContext['request'],
): Promise<CallOutcome> {
  const context = contextOf(call, record, play);
  try {
    switch (call.step) {
      case 'submit':
        return acceptedOutcome(
          await provider.submit(required(request, 'request'), submitContext(call, context)),
        );
      case 'status':
        return statusOutcome(await provider.status(operationOf(call), context));
      case 'list': {
        const listed = await required(provider.list, 'list')([operationOf(call)], context);
        return statusOutcome(required(listed.get(operationOf(call).id), 'job in the list'));
      }
      case 'find': {
        const lost = {
          request: required(request, 'request'),
          marker: call.marker ?? '',
          sentAfter: (call.sent_after ?? 0) * 1000,
          sentBefore: (call.sent_before ?? 0) * 1000,
        };
        return foundOutcome(await required(provider.find, 'find')(lost, context));
      }
      case 'cancel':
        return { kind: await required(provider.cancel, 'cancel')(operationOf(call), context) };
      default:
        return call.step satisfies never;
    }
  } catch (error) {
    return errorOutcome(error);
  }
}

function required<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`there is no ${what}`);
  return value;
}

function operationOf({ operation }: RecordedCall): Operation {
  return { ...operation, id: operation?.['id'] ?? '' };
}

const mappingSchema = z.custom<FieldMapping>((value) => typeof value === 'object' && value !== null);

function contextOf(
  call: RecordedCall,
  record: FlightRecord,
  request: ProviderContext['request'],
): ProviderContext {
  const mapping = Object.hasOwn(record.mappings, call.channel) ? record.mappings[call.channel] : undefined;
  return {
    request,
    credential: { id: call.credential, apiKey },
    baseUrl: call.base_url,
    model: call.model,
    signal: new AbortController().signal,
    ...defined({
      mapping: mapping === undefined ? undefined : mappingSchema.safeParse(parseJson(mapping)).data,
    }),
  };
}

function submitContext(call: RecordedCall, context: ProviderContext): SubmitContext {
  return {
    ...context,
    marker: call.marker ?? '',
    remainingSeconds: call.remaining_seconds ?? 1,
    ...(call.callback === true ? { callbackUrl } : {}),
  };
}

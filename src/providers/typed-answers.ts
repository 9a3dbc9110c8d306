import type { Operation } from '../task/attempt.ts';
import { defined } from '../base/defined.ts';
import { idCharactersMax, isToken, plainText } from '../base/plain-text.ts';
import type { ImageRequest, JsonObject, JsonValue } from '../models/request.ts';
import { measureMax, type SettleFacts } from '../money/settle-facts.ts';
import { typedFailure, typedWords } from '../errors/upstream-words.ts';
import { UpstreamError } from './provider.ts';
import type {
  GeneratedImages,
  ImageContext,
  OperationStatus,
  Provider,
  ProviderContext,
  Submitted,
  SynchronousImageProvider,
  TaskProvider,
} from './provider.ts';
import { secretsOf, withoutSecrets } from './secrets-of.ts';
import { endedByRefusal } from './shared/job-status.ts';
import { withStatuses, wrapped } from './wrapped.ts';

const factCharactersMax = 64;
const extraTextCharactersMax = 2_000;
const operationCharactersMax = 1_024;

/**
 * Sanitizes an adapter's results: ids and facts become plain tokens, and messages become single displayable lines.
 * Upstream text reaches callers, the ledger and operators' terminals, none of which check it again. UpstreamError
 * itself sanitizes errors, and usable-links.ts checks links.
 */
export function withTypedAnswers(provider: Provider): Provider {
  const { upload, removeUpload, checkKey, balance } = provider;
  const asked = <Answer>(ask: (context: ProviderContext) => Promise<Answer>) => {
    const discreetly = discreet(async (_: undefined, context: ProviderContext) => ask(context));
    return (context: ProviderContext) => discreetly(undefined, context);
  };
  return {
    ...wrapped(provider, { tasks: typedTasks, images: typedImages }),
    ...defined({
      upload: upload && discreet(upload),
      removeUpload: removeUpload && discreet(removeUpload),
      checkKey: checkKey && asked(checkKey),
      balance: balance && asked(balance),
    }),
  };
}

function discreet<Of, Context extends ProviderContext, Result>(
  ask: (of: Of, context: Context) => Promise<Result>,
): (of: Of, context: Context) => Promise<Result> {
  return async (of, context) => {
    try {
      return await ask(of, context);
    } catch (error) {
      const secrets = secretsOf(context);
      throw error instanceof UpstreamError ? error.rewritten((text) => withoutSecrets(text, secrets)) : error;
    }
  };
}

function typedTasks<Request>(provider: TaskProvider<Request>): TaskProvider<Request> {
  const { submit, status, list, find, cancel } = provider;
  const answered: typeof status = (operation, context) =>
    status(operation, context).catch((error: unknown) => {
      const ended = endedByRefusal(error);
      if (ended === undefined) throw error;
      return ended;
    });
  const asked = { ...provider, status: discreet(answered), ...defined({ list: list && discreet(list) }) };
  return {
    ...withStatuses(asked, typedStatus),
    submit: discreet(async (request, context) => typedJob(await submit(request, context))),
    ...defined({
      find:
        find && discreet(async (...sought: Parameters<typeof find>) => (await find(...sought)).map(typedJob)),
      cancel: cancel && discreet(freeCancel(cancel, answered)),
    }),
  };
}

type Status = TaskProvider<never>['status'];
type Cancel = NonNullable<TaskProvider<never>['cancel']>;

/**
 * Some vendors accept a cancellation but still charge for a job that had started or finished. If the job's status shows
 * that, returns `refused`, so that the job's end is recorded together with its charge.
 */
function freeCancel(cancel: Cancel, status: Status): Cancel {
  return async (operation, context) => {
    const answer = await cancel(operation, context);
    if (answer === 'refused') return answer;
    const after = await status(operation, context).catch((error: unknown) => {
      if (error instanceof UpstreamError) return undefined;
      throw error;
    });
    const isCharged = after?.state === 'failed' && /[1-9]/.test(after.cost?.amount ?? '');
    return isCharged || after?.state === 'succeeded' ? 'refused' : answer;
  };
}

/**
 * Throws if the job id is unusable. The job may exist, so the outcome is ambiguous, as after an unreadable response.
 */
function typedJob({ operation, traceId }: Submitted): Submitted {
  if (!isUsable(operation)) {
    throw new UpstreamError('ambiguous', 'The upstream returned a job id that cannot be used.', {
      code: 'unreadable_answer',
    });
  }
  return { operation, ...typedTrace(traceId) };
}

function isUsable({ id, ...rest }: Operation): boolean {
  const parts = Object.values(rest);
  return (
    isToken(id, idCharactersMax) &&
    parts.every((part) => /^[\x21-\x7e]*$/.test(part)) &&
    id.length + parts.join('').length <= operationCharactersMax
  );
}

function typedTrace(traceId: string | undefined): { readonly traceId?: string } {
  return traceId !== undefined && isToken(traceId, idCharactersMax) ? { traceId } : {};
}

function typedStatus({ traceId, ...status }: OperationStatus, context: ProviderContext): OperationStatus {
  const trace = typedTrace(traceId);
  switch (status.state) {
    case 'pending':
      return { ...status, ...trace };
    case 'succeeded':
      return { ...status, facts: typedFacts(status.facts), ...trace };
    case 'failed': {
      const secrets = secretsOf(context);
      const said = {
        code: withoutSecrets(status.code, secrets),
        words: withoutSecrets(status.message, secrets),
      };
      const { code, words: message } = typedWords(said, 'failed');
      const withheld = typedLinks(status.withheld);
      return { ...status, code, message, failure: typedFailure(status.failure), ...withheld, ...trace };
    }
    default:
      return status satisfies never;
  }
}

const withheldMax = 100;
const linkCharactersMax = 8_192;

/** Keeps only URLs, because any other text may come from the caller. */
function typedLinks(links: readonly string[] | undefined): { readonly withheld?: readonly string[] } {
  if (links === undefined) return {};
  const usable = links.filter((link) => link.length <= linkCharactersMax && URL.canParse(link));
  return { withheld: usable.slice(0, withheldMax) };
}

/**
 * A fact that is not a plain token is treated as missing. An impossible number is dropped, and the facts are marked as
 * incredible.
 */
function typedFacts({ usage, ...facts }: SettleFacts): SettleFacts {
  const { resolution, ratio, size, quality, groups, generateAudio, measured: _ours, ...numbers } = facts;
  const { incredible: _said, ...reported } = numbers;
  const counts = typedNumbers(usage ?? {});
  return {
    ...typedNumbers(reported),
    ...defined({
      usage: Object.keys(counts).length === 0 ? undefined : counts,
      generateAudio,
      groups: groups?.map((group) => ({
        images: group.images,
        ...defined({ size: typedFact(group.size), quality: typedFact(group.quality) }),
      })),
      resolution: typedFact(resolution),
      ratio: typedFact(ratio),
      size: typedFact(size),
      quality: typedFact(quality),
      incredible: isTyped(usage ?? {}) && isTyped(reported) ? undefined : (true as const),
    }),
  };
}

function typedNumbers<Of extends { readonly [Name in keyof Of]?: number | undefined }>(numbers: Of) {
  const typed = Object.entries<number | undefined>(numbers).map(
    ([name, value]) => [name, typedNumber(value)] as const,
  );
  return defined(Object.fromEntries(typed));
}

function isTyped(numbers: object): boolean {
  return Object.values(numbers).every((value) => value === undefined || typedNumber(Number(value)) === value);
}

/** Impossible numbers, NaN and infinity become undefined. Zero is credible, because nothing may have been counted. */
function typedNumber(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 && value <= measureMax ? value : undefined;
}

function typedFact(text: string | undefined): string | undefined {
  return text !== undefined && isToken(text, factCharactersMax) ? text : undefined;
}

function typedImages(provider: SynchronousImageProvider): SynchronousImageProvider {
  const { resume } = provider;
  return {
    ...provider,
    generate: discreet(async (request: ImageRequest, context: ImageContext) =>
      typedGenerated(await provider.generate(request, context)),
    ),
    ...defined({
      resume:
        resume &&
        discreet(async (...asked: Parameters<typeof resume>) => typedGenerated(await resume(...asked))),
    }),
  };
}

function typedGenerated({ images, facts, extra, ...generated }: GeneratedImages): GeneratedImages {
  const typed = images.map(({ size, quality, ...image }) => ({
    ...image,
    ...defined({ size: typedFact(size), quality: typedFact(quality) }),
  }));
  return { ...generated, images: typed, facts: typedFacts(facts), extra: typedObject(extra) };
}

function typedObject(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [plainText(name, factCharactersMax), typedValue(value)]),
  );
}

function typedValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return plainText(value, extraTextCharactersMax);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map(typedValue) : typedObject(value);
}

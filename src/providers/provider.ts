import type { Operation } from '../task/attempt.ts';
import type { Cost } from '../money/cost.ts';
export type { Operation } from '../task/attempt.ts';
import { defined } from '../base/defined.ts';
import { failureOfOutcome, type Failure, type FailureClass } from '../errors/failure.ts';
import { typedFailure, typedWords } from '../errors/upstream-words.ts';
import type { JsonObject, ImageRequest, VideoRequest } from '../models/request.ts';
import type { FieldMapping } from '../models/field-mapping.ts';
import type { ModelFacts, PlainFacts } from '../models/model-facts.ts';
import type { FactsSource } from '../models/facts-table.ts';
import type { OutgoingObject } from './shared/file-data-url.ts';
import type { UpstreamOutcome } from '../errors/upstream-outcome.ts';
import type { ResultItem } from '../task/task.ts';
import type { SettleFacts } from '../money/settle-facts.ts';

/**
 * An adapter for one vendor. Each method turns one parsed request into an upstream call, and the response into one of
 * our types. Adapters have no access to Koa, the database or money, and never sleep or retry. An adapter has a
 * capability if it defines the corresponding method.
 */
export interface Provider {
  readonly about: ProviderFacts;
  /** Set if the provider can serve any model whose fields are mapped in gateway.yaml. */
  readonly mapped?: true;
  readonly video?: VideoProvider;
  readonly image?: SynchronousImageProvider;
  readonly imageTask?: ImageTaskProvider;
  readonly bill?: BillFormat;
  /**
   * Makes a free request that requires a valid key. Defined for vendors that have no jobs to query.
   * @throws UpstreamError
   */
  readonly checkKey?: (context: ProviderContext) => Promise<void>;
  /**
   * Reads the remaining balance of the credential's account, free of charge.
   * @throws UpstreamError
   */
  readonly balance?: (context: ProviderContext) => Promise<VendorBalance>;
  /**
   * Uploads a file so that requests under this credential can refer to it.
   * @throws UpstreamError
   */
  readonly upload?: (file: UploadedFile, context: ProviderContext) => Promise<UploadedMedia>;
  /**
   * Deletes an uploaded file. Also succeeds if the file no longer exists.
   * @throws UpstreamError
   */
  readonly removeUpload?: (id: string, context: ProviderContext) => Promise<void>;
}

/** `amount` is an exact decimal. `unit` is a currency or the vendor's own unit. */
export interface VendorBalance {
  readonly amount: string;
  readonly unit: string;
}

export interface UploadedFile {
  readonly blob: Blob;
  readonly name: string;
}

export interface UploadedMedia {
  readonly id: string;
  readonly url: string;
  /** In Unix milliseconds. If both `expiresAt` and `keptMs` are undefined, the vendor keeps the file indefinitely. */
  readonly expiresAt?: number;
  /** The vendor keeps the file for at least this long. Set if it reports no expiry. */
  readonly keptMs?: number;
}

export interface BillFormat {
  /** Names the page of the vendor's site where operators can download the file. */
  readonly source: string;
  readonly columns: BillColumns;
  readonly unit?: string;
  /** If set, the `amount` column counts units of 10^-`places` instead of whole ones. */
  readonly places?: number;
  /** The offset of times without a time zone, in hours east of UTC. Undefined means UTC. */
  readonly utcOffsetHours?: number;
}

export interface BillColumns {
  /** The column with the upstream's job id. If undefined, bill lines cannot be matched with tasks. */
  readonly job?: string;
  readonly amount: string;
  readonly at: string;
  readonly model?: string;
  readonly unit?: string;
}

/** What operators should know before choosing a vendor. docs/providers.md is generated from these facts. */
export interface ProviderFacts {
  readonly vendor: string;
  readonly inputs: string;
  /** The unit in which the vendor's responses report charges (`USD`, `credits`). Undefined if they report none. */
  readonly costUnit?: string;
  readonly unbilled?: UnbilledFailures;
  /** Open questions that the vendor's documentation does not resolve. The adapter works either way. */
  readonly unverified: readonly string[];
}

/** Failed jobs that the vendor promises not to charge for. The gateway submits a replacement only for these jobs. */
export interface UnbilledFailures {
  readonly classes: 'all' | readonly FailureClass[];
  /** Limits the promise to upstream models whose names start with this text. Undefined if it covers all models. */
  readonly models?: string;
}

export interface ResultLinks {
  /** How long result links are valid. Undefined if unknown, or at least a day. */
  readonly linkLifeSeconds?: number;
  /**
   * Returns the headers for fetching a link. Set if links require the vendor's key, so that callers cannot use them.
   * Only the vendor's own hosts may receive those headers.
   */
  readonly linkHeaders?: (url: string, context: ProviderContext) => Readonly<Record<string, string>>;
  /** Only some of the links require the key. Without a storage, callers get the others. */
  readonly someNeedKey?: true;
}

export interface TaskProvider<Request> extends ResultLinks {
  /**
   * For a `mapped` provider, the facts come from the mapping. `check` and `renders` cover what the table cannot
   * express.
   */
  readonly facts: FactsSource;
  readonly check?: (request: Request, model: string, mapping?: FieldMapping) => RequestIssue | undefined;
  /**
   * Makes exactly one upstream call that may create a job.
   * @throws UpstreamError
   */
  readonly submit: (request: Request, context: SubmitContext) => Promise<Submitted>;
  /** @throws UpstreamError if the upstream did not report a state. Such an error alone never fails the task. */
  readonly status: (operation: Operation, context: ProviderContext) => Promise<OperationStatus>;
  /**
   * Returns an operation for a job that does not exist. `tryCredential` needs this if an id alone does not identify a
   * job.
   */
  readonly absentJob?: (id: string, model: string) => Operation;
  /** The last state in which the upstream cancels a job for free. `never` means that `cancel` is undefined. */
  readonly cancelUntil: 'queued' | 'running' | 'never';
  /**
   * `cancelled` means that the job will neither finish nor be billed. `refused` means that the job continues, has
   * already finished or is billed.
   */
  readonly cancel?: (operation: Operation, context: ProviderContext) => Promise<'cancelled' | 'refused'>;
  /**
   * Reads the status of many operations with one request. Operations missing from the map are polled individually
   * afterwards. They may belong to different models, so the context has no model.
   */
  readonly list?: (
    operations: readonly Operation[],
    context: ProviderContext,
  ) => Promise<ReadonlyMap<string, OperationStatus>>;
  readonly listMax?: number;
  /**
   * Finds jobs that carry the marker of a submission whose response was lost. Undefined if the upstream does not return
   * our marker, because matching by model and time could find other users' jobs on the same account.
   */
  readonly find?: (lost: LostSubmit<Request>, context: ProviderContext) => Promise<readonly Submitted[]>;
  /** A callback only triggers a poll, because the state always comes from polling. */
  readonly parseCallback?: (callback: UpstreamCallback) => CallbackNews;
  /**
   * Defined for vendors that sign callbacks. Callbacks with an invalid signature are ignored. Returns true for a
   * callback that the vendor leaves unsigned, or that cannot be verified because no secret is configured.
   */
  readonly verifyCallback?: (callback: UpstreamCallback, context: CallbackContext) => Promise<boolean>;
  /**
   * Returns the most tokens that the upstream can bill for the request at this resolution and ratio, or undefined if
   * the formula does not cover them. `model` is the upstream's name. If it is undefined, the most expensive known model
   * is assumed.
   */
  readonly estimateTokens?: (request: Request, output: EstimateOutput, model?: string) => bigint | undefined;
  /**
   * Returns what the upstream may render if the request leaves it open, or if a different field determines it (`frames`
   * instead of a duration, or a draft's resolution). Properties missing from the result follow from the request and the
   * model's configuration entry.
   */
  readonly renders?: (request: Request, model: string, given?: GivenInput) => PossibleOutput;
}

export interface PossibleOutput {
  readonly resolutions?: readonly string[];
  /** In seconds. `usual` is missing if the model's configuration entry specifies it. */
  readonly seconds?: { readonly min: number; readonly max: number; readonly usual?: number };
  /** True if the input media determine the ratio, even if the request specifies one. */
  readonly openRatio?: boolean;
}

export type VideoProvider = TaskProvider<VideoRequest>;

/** Image models that render as jobs. If a vendor also has synchronous image models, one facts table covers both. */
export type ImageTaskProvider = TaskProvider<ImageRequest>;

export interface SynchronousImageProvider {
  readonly facts: FactsSource;
  /**
   * The forms in which the channel accepts reference images, preferred form first. Empty if it accepts no images. A
   * channel that accepts `data` may also receive a file, which is encoded as it is sent.
   */
  readonly imageForms: readonly ('url' | 'data' | 'file')[];
  check?(request: ImageRequest, model: string): RequestIssue | undefined;
  /**
   * Returns the maximum number of tokens that the upstream can bill across all images, or undefined if the formula is
   * unknown.
   */
  estimateTokens?(request: ImageRequest, facts: PlainFacts, model: string): bigint | undefined;
  /**
   * Returns at least one image, or the job that renders them.
   * @throws UpstreamError
   */
  generate(request: ImageRequest, context: ImageContext): Promise<GeneratedImages>;
  /**
   * Fetches a finished job's images.
   * @throws UpstreamError with `gone` if the job failed or is unknown
   */
  readonly resume?: (job: string, context: ProviderContext) => Promise<GeneratedImages>;
}

export interface ImageContext extends ProviderContext {
  /** Receives partial images in order, if the request sets `partial_images` and the upstream streams them. */
  readonly onPartial?: (image: string | Base64Blob) => void;
}

export type GeneratedImage = Omit<ResultItem, 'base64'> & {
  readonly base64?: string | Base64Blob;
  readonly size?: string;
  readonly quality?: string;
  /** Set if the size was measured in the image, because the response does not report one. */
  readonly isMeasured?: true;
};

/** A base64 text, kept as the received bytes because a string of this length would be expensive. */
export interface Base64Blob {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  /** True if the text contains nothing that JSON would escape. */
  readonly verbatim: boolean;
  toString(): string;
}

export interface GeneratedImages {
  /** The upstream's id for a job that is still rendering. If set, `images` is empty, and `resume` fetches them. */
  readonly job?: string;
  readonly images: readonly GeneratedImage[];
  readonly facts: SettleFacts;
  /** Response fields that OpenAI's format also contains: usage, background, output_format, quality, size. */
  readonly extra: JsonObject;
  readonly cost?: Cost;
}

export interface GivenInput {
  /** The total length of the request's videos. If undefined, the upstream's maximum is assumed. */
  readonly inputSeconds?: number;
}

export interface EstimateOutput extends GivenInput {
  readonly resolution: string;
  readonly ratio: string;
  /** The longest output that the request allows, in seconds. */
  readonly durationSeconds: number;
}

/** `param` is spelt as in the caller's request. */
export interface RequestIssue {
  readonly param: string;
  readonly message: string;
}

export interface Submitted {
  readonly operation: Operation;
  readonly traceId?: string;
}

export interface LostSubmit<Request> {
  readonly request: Request;
  readonly marker: string;
  /** The lost request was sent between `sentAfter` and `sentBefore`, in Unix milliseconds. */
  readonly sentAfter: number;
  readonly sentBefore: number;
}

export type OperationStatus =
  | {
      readonly state: 'pending';
      readonly phase: 'submitted' | 'running';
      /** From 0 to 100. */
      readonly progress?: number;
      readonly queuePosition?: number;
      readonly traceId?: string;
    }
  | {
      readonly state: 'succeeded';
      readonly items: readonly ResultItem[];
      readonly facts: SettleFacts;
      /** Unix milliseconds by the vendor's clock. */
      readonly endedAt?: number;
      readonly cost?: Cost;
      readonly traceId?: string;
    }
  | {
      readonly state: 'failed';
      /** The vendor's own code, if its table contains the code. */
      readonly code: string;
      readonly message: string;
      readonly failure: Failure;
      /**
       * Links that must not reach a caller. Adapters put every link in `items`, and usable-links.ts moves the unusable
       * ones here.
       */
      readonly withheld?: readonly string[];
      /**
       * Set if the vendor promises not to charge for the job, in its documentation or in this response. Jobs without
       * this promise are never replaced. A `cost` overrides the promise.
       */
      readonly unbilled?: true;
      readonly cost?: Cost;
      readonly traceId?: string;
    };

export interface UpstreamCallback {
  /** The callback URL that we gave the vendor, if known. */
  readonly url?: string;
  readonly header: (name: string) => string | undefined;
  /** The exact bytes of the body, because signatures cover them. */
  readonly raw: Uint8Array;
  readonly body: unknown;
}

export interface CallbackNews {
  readonly ended: boolean;
  readonly reply?: JsonObject;
}

export interface CallbackContext extends ProviderContext {
  readonly now: number;
}

export interface ProviderContext {
  readonly request: HttpRequest;
  readonly credential: {
    readonly id: string;
    readonly apiKey: string;
    readonly callbackSecret?: string;
  };
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly model: string;
  readonly mapping?: FieldMapping;
  readonly facts?: ModelFacts;
  /** Only for logs. Undefined for calls about several tasks, and for polls that know only the job. */
  readonly task?: string;
  readonly signal: AbortSignal;
}

export interface SubmitContext extends ProviderContext {
  /**
   * The callback URL to give the upstream. It is secret and unique to each task. Undefined if callbacks are disabled.
   */
  readonly callbackUrl?: string;
  /** Identifies the job for `find`. Unique per attempt, at most 40 characters of [a-z0-9-]. */
  readonly marker: string;
  /** Seconds until the task's deadline, at least 1. */
  readonly remainingSeconds: number;
}

export interface HttpRequestOptions {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: OutgoingObject;
  readonly form?: FormData;
  readonly signal: AbortSignal;
  /** A longer response is an error. Defaults to 1 MiB. */
  readonly bodyBytesMax?: number;
  /**
   * Keeps long strings in the response's `json` as LargeText (src/providers/shared/large-json.ts), which refers to the
   * received bytes without copying them. `text` is then empty.
   */
  readonly largeStrings?: boolean;
  /**
   * Set if the response may be an event stream. Called with each event's data, parsed as JSON with LargeText as above.
   * `json` is then undefined.
   */
  readonly onEvent?: (event: unknown) => void;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly json: unknown;
}

/**
 * Resolves for every status.
 * @throws UpstreamError with `not_sent` if no byte was sent, and `ambiguous` otherwise
 */
export type HttpRequest = (options: HttpRequestOptions) => Promise<HttpResponse>;

export type { UpstreamOutcome };

export interface UpstreamErrorOptions {
  /**
   * One of our own codes (`timeout`, `connection_reset`, `unreadable_answer`), or a code from the vendor's table. If
   * the given code is not a plain token, it becomes part of the message.
   */
  readonly code: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly gone?: boolean;
  readonly failure?: Failure;
  /** Set if the upstream rejected the request but charges for it. */
  readonly cost?: Cost;
  readonly cause?: unknown;
}

/**
 * `message` is our own text, so logs and Temporal histories may include it. `words` contains the upstream's own text,
 * sanitized for display.
 */
export class UpstreamError extends Error {
  readonly outcome: UpstreamOutcome;
  readonly code: string;
  readonly words: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly gone: boolean;
  readonly failure: Failure;
  readonly cost: Cost | undefined;

  constructor(outcome: UpstreamOutcome, said: string, options: UpstreamErrorOptions) {
    const { status, cause, failure = failureOfOutcome(outcome) } = options;
    const instead = status === undefined ? 'unnamed' : `http_${status}`;
    const { code, words } = typedWords({ code: options.code, words: said }, instead);
    super(`${outcome}: ${code}`, cause === undefined ? undefined : { cause });
    this.name = 'UpstreamError';
    this.outcome = outcome;
    this.code = code;
    this.words = words;
    this.status = status;
    this.retryAfterMs = options.retryAfterMs;
    this.gone = options.gone ?? false;
    this.failure = typedFailure(failure);
    this.cost = options.cost;
  }

  rewritten(change: (text: string) => string): UpstreamError {
    const { outcome, status, retryAfterMs, gone, cost, cause } = this;
    const said = [this.words, this.code, this.failure.field ?? ''];
    if (said.every((text) => change(text) === text)) return this;
    const failure = {
      ...this.failure,
      ...defined({ field: this.failure.field && change(this.failure.field) }),
    };
    const rest = defined({ status, retryAfterMs, cost, cause });
    return new UpstreamError(outcome, change(this.words), {
      ...rest,
      code: change(this.code),
      gone,
      failure,
    });
  }
}

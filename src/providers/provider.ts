import type { Operation } from '../task/attempt.ts';
import type { Cost } from '../money/cost.ts';
export type { Operation } from '../task/attempt.ts';
import { defined } from '../base/defined.ts';
import { failureOfOutcome } from '../errors/failure.ts';
import type { Failure, FailureClass } from '../errors/failure.ts';
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
 * What an adapter is: it turns one parsed request into one upstream call and one upstream answer into one of our
 * types. No Koa, no database, no money, no sleeping and no retry happens inside. A capability exists if its method
 * does.
 */
export interface Provider {
  readonly about: ProviderFacts;
  /** Serves any model, each by the mapping of its fields in gateway.yaml. */
  readonly mapped?: true;
  readonly video?: VideoProvider;
  /** Images that the upstream renders while we wait. */
  readonly image?: SynchronousImageProvider;
  /** Images that the upstream renders as a task. */
  readonly imageTask?: ImageTaskProvider;
  readonly bill?: BillFormat;
  /** Puts a file where the vendor's own requests may name it, under this credential. Throws UpstreamError. */
  readonly upload?: (file: UploadedFile, context: ProviderContext) => Promise<UploadedMedia>;
  /** Deletes it there; also if it is gone already. Throws UpstreamError. */
  readonly removeUpload?: (id: string, context: ProviderContext) => Promise<void>;
}

export interface UploadedFile {
  /** With its media type. */
  readonly blob: Blob;
  readonly name: string;
}

export interface UploadedMedia {
  /** By which the vendor deletes it. */
  readonly id: string;
  /** By which a request names it. */
  readonly url: string;
  /** Unix milliseconds; without it and `keptMs` the vendor keeps it. */
  readonly expiresAt?: number;
  /** Of a vendor that does not report when: how long it keeps the file at least. */
  readonly keptMs?: number;
}

/** How the vendor's bill is read from CSV. */
export interface BillFormat {
  /** Where the file comes from, for operators. */
  readonly source: string;
  readonly columns: BillColumns;
  /** Of amounts, where no column says it. */
  readonly unit?: string;
  /** 1 of what `amount` counts is the unit's 10^-`places`; absent: it is the unit itself. */
  readonly places?: number;
  /** Of times that name no zone, east of UTC; absent: they are in UTC. */
  readonly utcOffsetHours?: number;
}

/** Names of columns. */
export interface BillColumns {
  /** The upstream's id of the job; absent: the bill names none, and its lines cannot be matched with tasks. */
  readonly job?: string;
  readonly amount: string;
  readonly at: string;
  readonly model?: string;
  readonly unit?: string;
}

/** What operators should know of a vendor before they choose it; docs/providers.md is generated from it. */
export interface ProviderFacts {
  readonly vendor: string;
  /** What requests may carry, over all models. */
  readonly inputs: string;
  /** Where answers say what the vendor charges: its unit (`USD`, `credits`). Absent: they do not. */
  readonly costUnit?: string;
  /** Absent: the vendor makes no such promise, or runs no jobs. */
  readonly unbilled?: UnbilledFailures;
  /** What the vendor's documents leave open, and the adapter therefore does not rely on. */
  readonly unverified: readonly string[];
}

/** The failed jobs that a vendor promises to charge nothing for: only such a one is replaced by another job. */
export interface UnbilledFailures {
  readonly classes: 'all' | readonly FailureClass[];
  /** The promise is for models whose upstream name begins so. */
  readonly models?: string;
}

/** What is known of the links in answers. */
export interface ResultLinks {
  /** Seconds that a link works; absent: it is not known, or a day and more. */
  readonly linkLifeSeconds?: number;
  /**
   * Links work with the vendor's key only: the headers for this one, and for the vendor's own hosts alone. Callers
   * cannot use such a link.
   */
  readonly linkHeaders?: (url: string, context: ProviderContext) => Readonly<Record<string, string>>;
}

export interface TaskProvider<Request> extends ResultLinks {
  /**
   * What each model takes, is sent and renders; of a provider that is `mapped`, by the mapping. `check` and `renders` are
   * for what no table can say.
   */
  readonly facts: FactsSource;
  /** Says why this adapter cannot express the request for this upstream model; undefined: it can. */
  readonly check?: (request: Request, model: string, mapping?: FieldMapping) => RequestIssue | undefined;
  /** Exactly one upstream call that may create a job. Throws UpstreamError. */
  readonly submit: (request: Request, context: SubmitContext) => Promise<Submitted>;
  /** Throws UpstreamError if the upstream did not report a state; that alone never fails a task. */
  readonly status: (operation: Operation, context: ProviderContext) => Promise<OperationStatus>;
  /** Makes an operation for a job that does not exist. `tryCredential` needs it if an id alone does not name a job. */
  readonly absentJob?: (id: string, model: string) => Operation;
  /** Up to which state the upstream lets a job be cancelled; `never`: there is no `cancel`. */
  readonly cancelUntil: 'queued' | 'running' | 'never';
  /** `cancelled`: it will neither finish nor be billed. `refused`: it continues, or it is finished already. */
  readonly cancel?: (operation: Operation, context: ProviderContext) => Promise<'cancelled' | 'refused'>;
  /**
   * Status of many operations in one request; one that is missing in the answer is missing in the map, and asked about
   * alone. The operations may be of several models, so that the context names none.
   */
  readonly list?: (
    operations: readonly Operation[],
    context: ProviderContext,
  ) => Promise<ReadonlyMap<string, OperationStatus>>;
  /** At most this many operations fit into one `list`. */
  readonly listMax?: number;
  /**
   * Jobs that carry the marker of a submission whose answer was lost. There is no such method where nothing of ours
   * comes back with a job: the model and the time would find the job of anybody who uses the same account.
   */
  readonly find?: (lost: LostSubmit<Request>, context: ProviderContext) => Promise<readonly Submitted[]>;
  /** Reads an upstream's callback. It is a hint: the state always comes from a request of our own. */
  readonly parseCallback?: (callback: UpstreamCallback) => CallbackNews;
  /**
   * Whether the vendor's signature is right, where it signs; one that is not is ignored. A callback that the vendor
   * leaves unsigned, or that cannot be verified because no secret is configured, is as good as a signed one: true.
   */
  readonly verifyCallback?: (callback: UpstreamCallback, context: CallbackContext) => Promise<boolean>;
  /**
   * Tokens that the upstream will bill for the request at a concrete resolution and ratio, worst case over
   * everything that the request leaves open; undefined where the formula does not know the pair. `model` is the
   * upstream's name of the model; without it the dearest of the known models counts.
   */
  readonly estimateTokens?: (request: Request, output: EstimateOutput, model?: string) => bigint | undefined;
  /**
   * What the upstream may render where the request leaves an output open, or where something other than its own field
   * decides it (`frames` in place of a duration, a draft's resolution). A fact that is absent here is what the request
   * and the model's entry in the configuration say.
   */
  readonly renders?: (request: Request, model: string, given?: GivenInput) => PossibleOutput;
}

export interface PossibleOutput {
  /** The usual one first. */
  readonly resolutions?: readonly string[];
  /** Shortest and longest output. */
  readonly seconds?: { readonly min: number; readonly max: number };
  /** The media that were given decide the ratio, whatever the request names. */
  readonly openRatio?: boolean;
}

export type VideoProvider = TaskProvider<VideoRequest>;

/** A vendor that answers some models at once has one table for both. */
export type ImageTaskProvider = TaskProvider<ImageRequest>;

export interface SynchronousImageProvider {
  /** What each model takes, and is sent; `check` is for what no table can say. */
  readonly facts: FactsSource;
  /**
   * How the channel accepts reference images, in the order that it prefers. Empty: it accepts none. Where it accepts
   * data, a file may come too, and is encoded while it is sent.
   */
  readonly imageForms: readonly ('url' | 'data' | 'file')[];
  check?(request: ImageRequest, model: string): RequestIssue | undefined;
  /** Tokens that the upstream will bill for all images of the request at most; undefined: the formula is not known. */
  estimateTokens?(request: ImageRequest, facts: PlainFacts, model: string): bigint | undefined;
  /** Throws UpstreamError. Delivers at least one image, or the job that renders them. */
  generate(request: ImageRequest, context: ImageContext): Promise<GeneratedImages>;
  /** Asks for the images of a job. Throws UpstreamError; `gone`: it has failed, or is not known. */
  readonly resume?: (job: string, context: ProviderContext) => Promise<GeneratedImages>;
}

export interface ImageContext extends ProviderContext {
  /** Receives unfinished images, in order, where the request asks for `partial_images` and the upstream streams. */
  readonly onPartial?: (image: string | Base64Blob) => void;
}

/** An image as delivered: its base64 may be kept as the bytes of the answer. */
export type GeneratedImage = Omit<ResultItem, 'base64'> & {
  readonly base64?: string | Base64Blob;
  /** Set if the answer reports the size and quality of this image. */
  readonly size?: string;
  readonly quality?: string;
  /** Set if the size was read from the image because the answer does not report it. */
  readonly isMeasured?: true;
};

/** Base64 text of an answer, never made a string: pieces of it in order. */
export interface Base64Blob {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  /** Holds nothing that JSON would escape. */
  readonly verbatim: boolean;
  toString(): string;
}

export interface GeneratedImages {
  /** The upstream's id of the job that still renders: there are no images yet, and `resume` has them. */
  readonly job?: string;
  readonly images: readonly GeneratedImage[];
  readonly facts: SettleFacts;
  /** Upstream fields that the OpenAI response shape knows: usage, background, output_format, quality, size. */
  readonly extra: JsonObject;
  readonly cost?: Cost;
}

/** What was measured of the media that a request gives. */
export interface GivenInput {
  /** Of its videos together; absent: not known, and the most that the upstream takes counts. */
  readonly inputSeconds?: number;
}

export interface EstimateOutput extends GivenInput {
  readonly resolution: string;
  readonly ratio: string;
  /** The longest output that the request allows, in seconds. */
  readonly durationSeconds: number;
}

/** Names the field as the caller wrote it. */
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
  /** Unix milliseconds between which the lost request was sent. */
  readonly sentAfter: number;
  readonly sentBefore: number;
}

export type OperationStatus =
  | {
      readonly state: 'pending';
      readonly phase: 'submitted' | 'running';
      /** 0-100, if the upstream reports it. */
      readonly progress?: number;
      /** Jobs that the upstream will begin before this one, if it reports them. */
      readonly queuePosition?: number;
      readonly traceId?: string;
    }
  | {
      readonly state: 'succeeded';
      readonly items: readonly ResultItem[];
      readonly facts: SettleFacts;
      /** When the render ended, by the vendor's clock, in Unix milliseconds. Absent: the vendor does not say. */
      readonly endedAt?: number;
      /** What the vendor says it charges for the job. */
      readonly cost?: Cost;
      readonly traceId?: string;
    }
  | {
      readonly state: 'failed';
      /** The vendor's own code, if its table names it, and its words. */
      readonly code: string;
      readonly message: string;
      readonly failure: Failure;
      /** Links of a result that must not reach a caller. Adapters deliver links unchanged; see usable-links.ts. */
      readonly withheld?: readonly string[];
      /**
       * The vendor promises, in its documents or this answer, to charge nothing for it. Absent: it is not known, and such a
       * job is never replaced by another one. A `cost` counts more.
       */
      readonly unbilled?: true;
      readonly cost?: Cost;
      readonly traceId?: string;
    };

export interface UpstreamCallback {
  /** The address to which it was sent, as the vendor was given it; absent: it is not known here. */
  readonly url?: string;
  /** Lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** The bytes that came: what a signature covers. */
  readonly raw: Uint8Array;
  /** The same as JSON; undefined: it is none. */
  readonly body: unknown;
}

export interface CallbackNews {
  /** The job ended: it is worth asking now. */
  readonly ended: boolean;
  /** The JSON body that the upstream waits for, where it challenges the address. */
  readonly reply?: JsonObject;
}

export interface CallbackContext extends ProviderContext {
  /** Unix milliseconds. */
  readonly now: number;
}

export interface ProviderContext {
  /** Outbound HTTP; see src/http-client/index.ts. */
  readonly request: HttpRequest;
  readonly credential: {
    readonly id: string;
    readonly apiKey: string;
    /** With which the vendor signs its callbacks, where it hands one out. */
    readonly callbackSecret?: string;
  };
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** The upstream's name of the model. */
  readonly model: string;
  /** Of a provider that is `mapped`. */
  readonly mapping?: FieldMapping;
  /** What the configuration says of the model beside the vendor's table. */
  readonly facts?: ModelFacts;
  /** The task that the call is made for; absent: several, or a poll that only knows its job. For the record alone. */
  readonly task?: string;
  readonly signal: AbortSignal;
}

export interface SubmitContext extends ProviderContext {
  /** Where the upstream may call us back; absent: it may not. Secret, one per task. */
  readonly callbackUrl?: string;
  /** Unique per attempt, at most 40 characters of [a-z0-9-]: lets `find` recognise the job. */
  readonly marker: string;
  /** Seconds until the task's deadline, at least 1. */
  readonly remainingSeconds: number;
}

export interface HttpRequestOptions {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: OutgoingObject;
  /** Sent as multipart/form-data. */
  readonly form?: FormData;
  readonly signal: AbortSignal;
  /** Answers larger than this are errors. Default 1 MiB. */
  readonly bodyBytesMax?: number;
  /**
   * Long strings of the answer's `json` are LargeText (src/providers/shared/large-json.ts): the bytes that came, not
   * copied; `text` is empty.
   */
  readonly largeStrings?: boolean;
  /**
   * The answer may be a stream of events: called for the data of each, as JSON with LargeText as above, and `json` is
   * undefined then.
   */
  readonly onEvent?: (event: unknown) => void;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined if it is none. */
  readonly json: unknown;
}

/**
 * Resolves with whatever status came. Throws UpstreamError: `not_sent` before the first byte left, else `ambiguous`.
 */
export type HttpRequest = (options: HttpRequestOptions) => Promise<HttpResponse>;

export type { UpstreamOutcome };

export interface UpstreamErrorOptions {
  /**
   * A word of ours (`timeout`, `connection_reset`, `unreadable_answer`), or a code that the vendor's table names. One that
   * is not a token becomes part of the words.
   */
  readonly code: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** The upstream no longer knows the operation. */
  readonly gone?: boolean;
  /** Absent: what the outcome alone says. */
  readonly failure?: Failure;
  readonly cause?: unknown;
}

/** Its message is ours: logs and Temporal's histories show it. What the upstream said is in `words`, typed. */
export class UpstreamError extends Error {
  readonly outcome: UpstreamOutcome;
  readonly code: string;
  /** The upstream's words, or a sentence of an adapter: one line, for whoever has to know why. */
  readonly words: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly gone: boolean;
  readonly failure: Failure;

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
  }

  /** Returns a copy of the error in which `change` was applied to all text from the upstream. */
  rewritten(change: (text: string) => string): UpstreamError {
    const { outcome, status, retryAfterMs, gone, cause } = this;
    const said = [this.words, this.code, this.failure.field ?? ''];
    if (said.every((text) => change(text) === text)) return this;
    const failure = {
      ...this.failure,
      ...defined({ field: this.failure.field && change(this.failure.field) }),
    };
    const rest = defined({ status, retryAfterMs, cause });
    return new UpstreamError(outcome, change(this.words), {
      ...rest,
      code: change(this.code),
      gone,
      failure,
    });
  }
}

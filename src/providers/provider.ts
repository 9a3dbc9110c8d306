import type { UpstreamOutcome } from '../domain/upstream-outcome.ts';
import type { JsonObject, ImageRequest, VideoRequest } from '../domain/request.ts';
import type { ResultItem, SettleFacts } from '../domain/task.ts';

/**
 * What an adapter is: it turns one parsed request into one upstream call and one upstream answer into one of our
 * types. No Koa, no database, no money, no sleeping and no retry happens inside. A capability exists if its method does.
 */
export interface Provider {
  readonly video?: VideoProvider;
  /** Images that the upstream renders while we wait. */
  readonly image?: SynchronousImageProvider;
  /** Images that the upstream renders as a task. */
  readonly imageTask?: TaskProvider<ImageRequest>;
}

export interface TaskProvider<Request> {
  /** Says why this adapter cannot express the request for this upstream model; undefined: it can. */
  readonly check?: (request: Request, model: string) => RequestIssue | undefined;
  /** Exactly one upstream call that may create a job. Throws UpstreamError. */
  readonly submit: (request: Request, context: SubmitContext) => Promise<Submitted>;
  /** Throws UpstreamError when the upstream did not tell; that never fails a task by itself. */
  readonly status: (operation: Operation, context: ProviderContext) => Promise<OperationStatus>;
  /** `cancelled`: it will neither finish nor be billed. `refused`: it goes on, or it is finished already. */
  readonly cancel?: (operation: Operation, context: ProviderContext) => Promise<'cancelled' | 'refused'>;
  /** Status of many operations in one request; one that is missing in the answer is missing in the map. */
  readonly list?: (
    operations: readonly Operation[],
    context: ProviderContext,
  ) => Promise<ReadonlyMap<string, OperationStatus>>;
  /** At most this many operations fit into one `list`. */
  readonly listMax?: number;
  /** Jobs that carry our marker, for a submit whose answer got lost. */
  readonly find?: (lost: LostSubmit, context: ProviderContext) => Promise<readonly Submitted[]>;
  /**
   * Reads an upstream's callback: `true` when it says that the job ended, which wakes the poller up. The body is
   * never trusted beyond that.
   */
  readonly parseCallback?: (body: unknown) => boolean;
  /**
   * Tokens that the upstream will bill for the request at a concrete resolution and ratio, worst case over
   * everything that the request leaves open; undefined where the formula does not know the pair. `model` is the
   * upstream's name of the model; without it the dearest of the known models counts.
   */
  readonly estimateTokens?: (request: Request, output: EstimateOutput, model?: string) => bigint | undefined;
}

export type VideoProvider = TaskProvider<VideoRequest>;

export interface SynchronousImageProvider {
  /** How the channel takes reference images; in the order that it prefers. Empty: it takes none. */
  readonly imageForms: readonly ('url' | 'data' | 'file')[];
  /** At most this many images come from one call. */
  imagesPerCall(model: string): number;
  check?(request: ImageRequest, model: string): RequestIssue | undefined;
  /** Tokens that the upstream will bill for all images of the request at most; undefined: the formula is not known. */
  estimateTokens?(request: ImageRequest, model: string): bigint | undefined;
  /** Throws UpstreamError. Delivers at least one image. */
  generate(request: ImageRequest, context: ProviderContext): Promise<GeneratedImages>;
}

/** An image as it came: its base64 may be kept as the bytes of the answer. */
export type GeneratedImage = Omit<ResultItem, 'base64'> & { readonly base64?: string | Base64Blob };

/** Base64 text of an answer, never made a string: pieces of it in order. */
export interface Base64Blob {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  /** Holds nothing that JSON would escape. */
  readonly verbatim: boolean;
  toString(): string;
}

export interface GeneratedImages {
  readonly images: readonly GeneratedImage[];
  readonly facts: SettleFacts;
  /** Upstream fields that the OpenAI response shape knows: usage, background, output_format, quality, size. */
  readonly extra: JsonObject;
}

export interface EstimateOutput {
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

/** Opaque to everybody but its adapter: a small JSON object (at most 1 KB, no secret), with the upstream's id. */
export interface Operation {
  readonly id: string;
  readonly [key: string]: string;
}

export interface Submitted {
  readonly operation: Operation;
  readonly traceId?: string;
}

export interface LostSubmit {
  readonly marker: string;
  /** Unix milliseconds between which the lost request was sent. */
  readonly sentAfter: number;
  readonly sentBefore: number;
}

export type OperationStatus =
  | {
      readonly state: 'pending';
      readonly phase: 'submitted' | 'running';
      /** 0-100, where the upstream tells. */
      readonly progress?: number;
      readonly traceId?: string;
    }
  | {
      readonly state: 'succeeded';
      readonly items: readonly ResultItem[];
      readonly facts: SettleFacts;
      readonly traceId?: string;
    }
  | { readonly state: 'failed'; readonly code: string; readonly message: string; readonly traceId?: string };

export interface ProviderContext {
  /** Outbound HTTP; see src/http-client/index.ts. */
  readonly request: HttpRequest;
  readonly credential: { readonly id: string; readonly apiKey: string };
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** The upstream's name of the model. */
  readonly model: string;
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
  readonly json?: JsonObject;
  /** Sent as multipart/form-data. */
  readonly form?: FormData;
  readonly signal: AbortSignal;
  /** Answers larger than this are errors. Default 1 MiB. */
  readonly bodyMaxBytes?: number;
  /**
   * Long strings of the answer's `json` are LargeText (src/providers/shared/large-json.ts): the bytes that came, not copied; `text` is
   * empty.
   */
  readonly largeStrings?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined if it is none. */
  readonly json: unknown;
}

/** Resolves with whatever status came. Throws UpstreamError: `not_sent` before the first byte left, else `ambiguous`. */
export type HttpRequest = (options: HttpRequestOptions) => Promise<HttpResponse>;

export type { UpstreamOutcome };

export interface UpstreamErrorOptions {
  /** The upstream's own code, or a word of ours (`timeout`, `connection_reset`, `unreadable_answer`). */
  readonly code: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** The upstream no longer knows the operation. */
  readonly gone?: boolean;
  readonly cause?: unknown;
}

export class UpstreamError extends Error {
  readonly outcome: UpstreamOutcome;
  readonly code: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly gone: boolean;

  constructor(outcome: UpstreamOutcome, message: string, options: UpstreamErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'UpstreamError';
    this.outcome = outcome;
    this.code = options.code;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.gone = options.gone ?? false;
  }
}

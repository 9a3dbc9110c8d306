import type { CapState } from '../money/caps.ts';
import type { Failure } from './failure.ts';

/**
 * `retryable` means that the same request may succeed later. docs/errors.md describes each code, and a test compares
 * the two lists. docs/contributing.md lists what else a new code needs.
 */
export const errorTable = {
  invalid_json: { status: 400, type: 'invalid_request_error', retryable: false },
  missing_parameter: { status: 400, type: 'invalid_request_error', retryable: false },
  invalid_parameter: { status: 400, type: 'invalid_request_error', retryable: false },
  unsupported_parameter: { status: 400, type: 'invalid_request_error', retryable: false },
  content_policy_violation: { status: 400, type: 'invalid_request_error', retryable: false },
  model_not_found: { status: 400, type: 'invalid_request_error', retryable: false },
  media_url_not_allowed: { status: 400, type: 'invalid_request_error', retryable: false },
  callback_url_not_allowed: { status: 400, type: 'invalid_request_error', retryable: false },
  invalid_api_key: { status: 401, type: 'authentication_error', retryable: false },
  insufficient_balance: { status: 402, type: 'billing_error', retryable: false },
  spend_cap_exceeded: { status: 402, type: 'billing_error', retryable: false },
  key_not_allowed: { status: 403, type: 'permission_error', retryable: false },
  model_not_allowed: { status: 403, type: 'permission_error', retryable: false },
  channel_not_allowed: { status: 403, type: 'permission_error', retryable: false },
  account_closed: { status: 403, type: 'permission_error', retryable: false },
  operator_not_allowed: { status: 403, type: 'permission_error', retryable: false },
  task_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  result_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  account_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  key_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  operator_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  invitation_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  session_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  channel_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  file_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  route_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  method_not_allowed: { status: 405, type: 'invalid_request_error', retryable: false },
  request_timeout: { status: 408, type: 'invalid_request_error', retryable: true },
  idempotency_key_reused: { status: 409, type: 'invalid_request_error', retryable: false },
  result_not_ready: { status: 409, type: 'invalid_request_error', retryable: true },
  task_not_cancellable: { status: 409, type: 'invalid_request_error', retryable: false },
  action_not_possible: { status: 409, type: 'invalid_request_error', retryable: false },
  account_exists: { status: 409, type: 'invalid_request_error', retryable: false },
  operator_exists: { status: 409, type: 'invalid_request_error', retryable: false },
  request_too_large: { status: 413, type: 'invalid_request_error', retryable: false },
  unsupported_media_type: { status: 415, type: 'invalid_request_error', retryable: false },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', retryable: true },
  concurrency_limit_exceeded: { status: 429, type: 'rate_limit_error', retryable: true },
  storage_quota_exceeded: { status: 429, type: 'rate_limit_error', retryable: true },
  internal_error: { status: 500, type: 'api_error', retryable: true },
  provider_error: { status: 500, type: 'api_error', retryable: true },
  service_unavailable: { status: 503, type: 'api_error', retryable: true },
} as const satisfies Record<string, ErrorRow>;

interface ErrorRow {
  readonly status: number;
  readonly type: string;
  readonly retryable: boolean;
}

export type ErrorCode = keyof typeof errorTable;

export const taskErrorCodes = ['provider_error', 'task_expired', 'task_cancelled', 'internal_error'] as const;
export type TaskErrorCode = (typeof taskErrorCodes)[number];

export interface GatewayErrorOptions {
  readonly failure?: Failure;
  readonly param?: string;
  /** Logged, but never sent to the caller. */
  readonly detail?: string;
  /** The upstream's scrubbed message, which callers see after ours. Never log it. */
  readonly words?: string;
  readonly cap?: CapState;
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** The only kind of error whose message callers see. Its `detail` goes only to the log. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly param: string;
  readonly detail: string | undefined;
  readonly words: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly failure: Failure | undefined;
  readonly cap: CapState | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.param = options.param ?? '';
    this.detail = options.detail;
    this.words = options.words;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.failure = options.failure;
    this.cap = options.cap;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorTable[this.code].status;
  }
}

/** Official clients read this from the `x-should-retry` header. */
export function mayBeRepeated({ code, headers }: GatewayError): boolean {
  return errorTable[code].retryable && headers['x-should-retry'] !== 'false';
}

export function serviceUnavailable(detail: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'service_unavailable',
    'The service is temporarily unavailable. Try again shortly.',
    {
      retryAfterSeconds: 5,
      detail,
      cause,
    },
  );
}

export function invalidParameter(param: string, message: string): GatewayError {
  return new GatewayError('invalid_parameter', message, { param });
}

/** Nothing would ever remove settings that are changed after the deletion has begun. */
export function accountDeleted(account: string): GatewayError {
  return new GatewayError(
    'action_not_possible',
    `The account ${account} is being deleted, or has been deleted, so its settings can no longer be changed.`,
  );
}

export function accountClosed(account: string): GatewayError {
  return new GatewayError(
    'account_closed',
    `The account ${account} is closed, so it cannot create anything new.`,
  );
}

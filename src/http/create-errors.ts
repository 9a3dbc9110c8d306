import type { ErrorCode } from '../errors/errors.ts';

export const createErrors = [
  'unsupported_parameter',
  'model_not_found',
  'media_url_not_allowed',
  'callback_url_not_allowed',
  'account_closed',
  'insufficient_balance',
  'spend_cap_exceeded',
  'model_not_allowed',
  'channel_not_allowed',
  'idempotency_key_reused',
  'concurrency_limit_exceeded',
  'storage_quota_exceeded',
] as const satisfies readonly ErrorCode[];

import type { FailureTable } from '../shared/failure-table.ts';

/**
 * Covers rejected requests and failed jobs. A suffix makes a code more specific. Source: the vendor's error page,
 * 2026-11.
 */
export const arkFailures: FailureTable = [
  // The moderation service itself failed, so the request was neither accepted nor checked.
  { code: /^ContentSecurityDetectionError/, outcome: 'throttled', class: 'capacity' },
  {
    code: /^Output(?:Image|Video|Audio|Text)?(?:SensitiveContent|Risk)Detect/,
    outcome: 'rejected',
    class: 'moderation_output',
  },
  {
    code: /^InputText(?:SensitiveContent|Risk)Detect/,
    outcome: 'rejected',
    class: 'moderation_input',
    input: 'prompt',
  },
  {
    code: /^InputImage(?:SensitiveContent|Risk)Detect/,
    outcome: 'rejected',
    class: 'moderation_input',
    input: 'image',
  },
  {
    code: /^InputVideo(?:SensitiveContent|Risk)Detect/,
    outcome: 'rejected',
    class: 'moderation_input',
    input: 'video',
  },
  {
    code: /^InputAudio(?:SensitiveContent|Risk)Detect/,
    outcome: 'rejected',
    class: 'moderation_input',
    input: 'audio',
  },
  { code: /^SensitiveContentDetected/, outcome: 'rejected', class: 'moderation_input' },
  // The cause is the key, the account, its quota or the model's activation rather than the request. Waiting a minute
  // would not help.
  {
    code: /^(?:AuthenticationError|InvalidAccountStatus|InvalidSubscription|AccessDenied|AccountOverdueError|OperationDenied|InvalidEndpointOrModel|InvalidEndpoint|ModelNotOpen|UnsupportedModel|QuotaExceeded|SetLimitExceeded)(?:\.|$)/,
    outcome: 'unavailable',
    class: 'quota',
  },
  {
    code: /RateLimitExceeded|^InflightBatchsizeExceeded|^ServerOverloaded|^ServiceUnavailable|^RequestBurstTooFast/,
    class: 'capacity',
  },
  {
    code: /^(?:MissingParameter|InvalidParameter|InvalidAction|NotFound|InvalidArgumentError|InvalidImageURL|OutofContextError)(?:\.|$)/,
    class: 'invalid_input',
  },
  { code: /^Internal/, class: 'internal' },
];

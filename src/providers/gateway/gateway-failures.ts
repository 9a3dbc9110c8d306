import type { FailureRow, FailureTable } from '../shared/failure-table.ts';

/**
 * Some relays pass a vendor's code on as their own, and others put the vendor's entire response into their message. The
 * rows match both.
 */
function vendorCode(pattern: RegExp, row: Omit<FailureRow, 'code' | 'words'>): FailureTable {
  return [
    { code: pattern, ...row },
    { words: new RegExp(`"code":\\s*"[^"]*(?:${pattern.source})`, 'i'), ...row },
  ];
}

/** Gateways agree on little, and they pass on vendors' codes, so the rows look for words inside a code. */
export const gatewayFailures: FailureTable = [
  // The cause is the upstream's account, prices or channels. Another of our channels may succeed.
  {
    code: /quota|balance|billing|invalid_api_key|model_price_error|model_not_found|model_not_allowed|channel_not_allowed|no_available_channel|get_channel_failed/,
    outcome: 'unavailable',
    class: 'quota',
  },
  ...vendorCode(/output\w*(?:sensitive|moderat|risk)/i, { class: 'moderation_output' }),
  ...vendorCode(/inputtext(?:sensitive|risk)/i, { class: 'moderation_input', input: 'prompt' }),
  ...vendorCode(/inputimage(?:sensitive|risk)/i, { class: 'moderation_input', input: 'image' }),
  ...vendorCode(/inputvideo(?:sensitive|risk)/i, { class: 'moderation_input', input: 'video' }),
  ...vendorCode(/inputaudio(?:sensitive|risk)/i, { class: 'moderation_input', input: 'audio' }),
  ...vendorCode(/sensitive|moderat|content_policy|inspection/i, { class: 'moderation_input' }),
  { code: /rate_?limit|overload|throttl|capacity|service_unavailable/i, class: 'capacity' },
  { code: /^(?:upstream_|task_)?expired$/i, class: 'expired' },
  { code: /^(?:upstream_|task_)?cancell?ed$/i, class: 'cancelled' },
  { code: /invalid|missing_parameter|unsupported_parameter|not_allowed/i, class: 'invalid_input' },
];

import { defineSearchAttributeKey } from '@temporalio/common';

/** The names must match src/base/queues.ts. */
export const searchAttributes = {
  model: defineSearchAttributeKey('MediaModel', 'KEYWORD'),
  channel: defineSearchAttributeKey('MediaChannel', 'KEYWORD'),
  account: defineSearchAttributeKey('MediaAccount', 'KEYWORD'),
  status: defineSearchAttributeKey('MediaStatus', 'KEYWORD'),
  failure: defineSearchAttributeKey('MediaFailure', 'KEYWORD'),
  upstreamTaskId: defineSearchAttributeKey('UpstreamTaskId', 'KEYWORD'),
  needsAttention: defineSearchAttributeKey('NeedsAttention', 'KEYWORD'),
} as const;

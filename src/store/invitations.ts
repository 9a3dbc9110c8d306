import type { Invited } from '../base/invitation.ts';

export interface RedeemedLink {
  readonly link: string;
  readonly issued: Pick<Invited, 'hmac' | 'prefix'>;
}

export const invitationIndex = { name: 'invitation', key: { 'invitation.hmac': 1 }, sparse: true } as const;

/** How long a caller who lost the response can get it again. */
const repeatMs = 10 * 60_000;

/**
 * Builds one conditional write, so that only one of several concurrent requests gets a token. If the same caller
 * repeats the request within `repeatMs`, the response is the same.
 */
export function redemptionOf({ link, issued: { hmac, prefix } }: RedeemedLink, now: number) {
  const unused = { 'invitation.usedAt': { $exists: false }, 'invitation.expiresAt': { $gt: now } };
  const repeated = { hmac, 'invitation.usedAt': { $gt: now - repeatMs } };
  return {
    filter: { 'invitation.hmac': link, revokedAt: { $exists: false }, $or: [unused, repeated] },
    update: { $set: { hmac, prefix }, $min: { 'invitation.usedAt': now } },
  };
}

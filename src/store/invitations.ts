import type { Invited } from '../base/invitation.ts';

export interface RedeemedLink {
  readonly link: string;
  readonly issued: Pick<Invited, 'hmac' | 'prefix'>;
}

export const invitationIndex = { name: 'invitation', key: { 'invitation.hmac': 1 }, sparse: true } as const;

/** A caller whose response was lost can get the same response again for this long. */
const repeatMs = 10 * 60_000;

/**
 * Builds one conditional write, so that only one of several concurrent requests gets a token. The same caller gets the
 * same response again within `repeatMs`.
 */
export function redemptionOf({ link, issued: { hmac, prefix } }: RedeemedLink, now: number) {
  const unused = { 'invitation.usedAt': { $exists: false }, 'invitation.expiresAt': { $gt: now } };
  const repeated = { hmac, 'invitation.usedAt': { $gt: now - repeatMs } };
  return {
    filter: { 'invitation.hmac': link, revokedAt: { $exists: false }, $or: [unused, repeated] },
    update: { $set: { hmac, prefix }, $min: { 'invitation.usedAt': now } },
  };
}

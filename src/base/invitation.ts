/** A link that its recipient exchanges once for a personal token. Times are in Unix milliseconds. */
export interface Invitation {
  /** The link's HMAC. The link itself is displayed once and never stored. */
  readonly hmac: string;
  readonly expiresAt: number;
  readonly usedAt?: number;
}

/** The stored fields of an operator or key that can be invited. No token matches `hmac` until the link is used. */
export interface Invited {
  readonly hmac: string;
  readonly prefix: string;
  readonly invitation?: Invitation;
  readonly revokedAt?: number;
}

/** Whether the link can still be used. */
export function isOpen(invited: Pick<Invited, 'invitation' | 'revokedAt'>, now: number): boolean {
  const { invitation, revokedAt } = invited;
  return isUnused(invited) && revokedAt === undefined && (invitation?.expiresAt ?? 0) > now;
}

/** Whether the link has not yet been exchanged for a token. */
export function isUnused({ invitation }: Pick<Invited, 'invitation'>): boolean {
  return invitation !== undefined && invitation.usedAt === undefined;
}

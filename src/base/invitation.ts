/** A link that its recipient can exchange once for a personal token. Times are in Unix milliseconds. */
export interface Invitation {
  /** The HMAC of the link. The link itself is displayed once and never stored. */
  readonly hmac: string;
  readonly expiresAt: number;
  readonly usedAt?: number;
}

/** A key or operator that may have an invitation. Until its link has been used, no token matches `hmac`. */
export interface Invited {
  readonly hmac: string;
  readonly prefix: string;
  readonly invitation?: Invitation;
  readonly revokedAt?: number;
}

export function isOpen(invited: Pick<Invited, 'invitation' | 'revokedAt'>, now: number): boolean {
  const { invitation, revokedAt } = invited;
  return isUnused(invited) && revokedAt === undefined && (invitation?.expiresAt ?? 0) > now;
}

export function isUnused({ invitation }: Pick<Invited, 'invitation'>): boolean {
  return invitation !== undefined && invitation.usedAt === undefined;
}

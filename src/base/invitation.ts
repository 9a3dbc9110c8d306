/** Its recipient can exchange the link once for a personal token. Times are in Unix milliseconds. */
export interface Invitation {
  /** The HMAC of the link. The link itself is displayed once and never stored. */
  readonly hmac: string;
  readonly expiresAt: number;
  readonly usedAt?: number;
}

/** No token matches `hmac` until the link has been used. */
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

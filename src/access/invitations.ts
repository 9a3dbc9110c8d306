import { hkdfSync } from 'node:crypto';
import { randomBase62, type RandomBytes } from '../base/ids.ts';
import type { Invitation } from '../base/invitation.ts';
import { createTokens, type NewToken, type Tokens } from './tokens.ts';

export interface Invitations {
  invite(validSeconds: number): { readonly token: string; readonly invitation: Invitation };
  /**
   * Returns undefined if this gateway did not issue the link. The same `repeatKey` yields the same token, so a client
   * can repeat a request whose response was lost.
   */
  redeem(link: string, repeatKey: string | undefined, issuer: Issuer): Redeemed | undefined;
}

export type Issuer = Tokens<never>['newToken'];

export interface Redeemed {
  readonly link: string;
  readonly issued: NewToken;
}

export interface InvitationsDeps {
  readonly secret: Buffer;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export const linkSecondsDefault = 3 * 24 * 60 * 60;
export const linkSecondsMax = 30 * 24 * 60 * 60;

export function createInvitations({ secret, now, randomBytes }: InvitationsDeps): Invitations {
  const links = createTokens<never>({
    kind: 'iv',
    load: () => Promise.resolve(undefined),
    secret,
    now,
    randomBytes,
  });

  function bytesOf(link: string, repeatKey: string): RandomBytes {
    let drawn = 0;
    return (size) => {
      drawn += 1;
      return new Uint8Array(hkdfSync('sha256', secret, link, `redeemed ${drawn} ${repeatKey}`, size));
    };
  }

  return {
    invite(validSeconds) {
      const { token, hmac } = links.newToken();
      return { token, invitation: { hmac, expiresAt: now() + validSeconds * 1000 } };
    },
    redeem(link, repeatKey, issuer) {
      const hmac = links.hmacOf(link);
      if (hmac === undefined) return undefined;
      const issued = issuer(bytesOf(link, repeatKey ?? randomBase62(32, randomBytes)));
      return { link: hmac, issued };
    },
  };
}

import { z } from 'zod';
import { linkSecondsDefault, linkSecondsMax, type Redeemed } from '../access/invitations.ts';
import { GatewayError } from '../errors/errors.ts';
import { isOpen, type Invited } from '../base/invitation.ts';
import { unixSeconds } from './presenters/unix-seconds.ts';

export const linkValidSeconds = z
  .int()
  .min(60)
  .max(linkSecondsMax)
  .meta({
    description: `How long the link can be used, in seconds. The default, ${linkSecondsDefault}, is three days.`,
  });

/** The token goes in the fragment, which browsers never send to the server. */
export function linkOf(page: 'console' | 'account', token: string): string {
  return `${page}#/invitation/${token}`;
}

export const linkSchema = {
  link: z.string().meta({
    description:
      'A path relative to the gateway’s URL: `console#/invitation/…` or `account#/invitation/…`. The link can be used once and will not be shown again.',
  }),
  link_expires_at: unixSeconds(),
};

export const acceptBody = z.object({
  link: z.string().min(1).max(256).meta({ description: 'The token in the link, after `#/invitation/`.' }),
  dry_run: z
    .boolean()
    .optional()
    .meta({ description: 'If true, the response only says what the link is for.' }),
});

export async function redeemOrThrow<Found extends Invited>(
  redeemed: Redeemed | undefined,
  redeem: (redeemed: Redeemed) => Promise<Found | undefined>,
): Promise<Found> {
  const found = redeemed && (await redeem(redeemed));
  if (found === undefined) throw invitationNotFound();
  return found;
}

export function openOrThrow<Found extends Invited>(invited: Found | undefined, now: number): Found {
  if (invited === undefined || !isOpen(invited, now)) throw invitationNotFound();
  return invited;
}

function invitationNotFound(): GatewayError {
  return new GatewayError(
    'invitation_not_found',
    'This link was used or withdrawn, or it has expired. Ask for a new one.',
    { param: 'link' },
  );
}

import { z } from 'zod';
import type { OperatorAuth } from '../../access/operators.ts';
import { adminBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { idempotencyHeader, idempotencyKeyOf } from '../idempotency-key.ts';
import { isOpen } from '../../base/invitation.ts';
import { acceptBody, openOrThrow, redeemOrThrow } from '../invitation.ts';
import { operatorSchema, presentOperator } from '../presenters/operator.ts';
import { jsonReply, openRoute, type Route } from '../route.ts';

interface Deps extends Pick<RouteDeps, 'operators' | 'invitations' | 'auditLog' | 'now'> {
  readonly operatorAuth: OperatorAuth;
}

export function acceptOperatorInvitation(deps: Deps): Route {
  const { operators, operatorAuth, invitations, auditLog, now } = deps;
  return openRoute({
    operationId: 'acceptOperatorInvitation',
    tag: 'Operators',
    summary: 'Accept an invitation as an operator',
    description:
      'Needs only the link, which can be used once. For ten minutes, a retry with the same `Idempotency-Key` gets the same response, so a lost response can be recovered.',
    method: 'post',
    paths: ['/invitations/operators/accept'],
    readBody: adminBody,
    headers: idempotencyHeader,
    input: z.object({ body: acceptBody }),
    success: {
      description: 'The operator and, without `dry_run`, the token, which will not be shown again.',
      schema: operatorSchema.extend({ token: z.string().optional() }),
    },
    errors: ['invitation_not_found', 'invalid_parameter'],
    async handle({ body: { link, dry_run: isDry = false }, meta }) {
      const redeemed = invitations.redeem(link, idempotencyKeyOf(meta), operatorAuth.newToken);
      const invited = redeemed && (await operators.findInvited(redeemed.link));
      if (isDry) return jsonReply(presentOperator(openOrThrow(invited, now()), now()));
      const accept = async () => {
        const operator = await redeemOrThrow(redeemed, (each) => operators.redeem(each));
        return jsonReply({ ...presentOperator(operator, now()), token: redeemed?.issued.token });
      };
      const isTheirs = invited && (isOpen(invited, now()) || invited.hmac === redeemed?.issued.hmac);
      // An invalid link leaves no audit log entry, because anyone can send one.
      if (invited === undefined || !isTheirs) return accept();
      const { name } = invited;
      return auditLog.keep(
        {
          by: name,
          via: meta.header('x-mediary-client') === 'console' ? 'console' : 'api',
          address: meta.address,
          action: 'acceptOperatorInvitation',
          target: name,
          reason: '',
          input: {},
        },
        accept,
      );
    },
  });
}

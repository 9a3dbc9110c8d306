import { z } from 'zod';
import type { OperatorAuth } from '../../access/operators.ts';
import { GatewayError } from '../../errors/errors.ts';
import { operatorSessionSchema, presentOperatorSession } from '../presenters/operator-session.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function openSession({ operatorAuth }: { readonly operatorAuth: OperatorAuth }): Route {
  return adminRoute({
    operationId: 'openSession',
    access: 'read',
    isAct: true,
    summary: 'Open a console session',
    description:
      'The console signs in with this request and then uses the session’s token, so that the browser never stores the operator’s own token. A session lasts twelve hours, and ends earlier if the token that opened it is revoked or replaced. An operator can have at most fifty sessions. Opening another one ends the oldest.',
    method: 'post',
    paths: ['/admin/v1/sessions'],
    input: z.object({}),
    success: {
      description: 'The session. Its token will not be shown again.',
      schema: operatorSessionSchema.extend({ token: z.string() }),
    },
    async handle({ meta }) {
      const from = { address: meta.address, agent: meta.header('user-agent') ?? '' };
      const opened = await operatorAuth.openSession(meta.header('authorization'), from);
      if (opened === undefined)
        throw new GatewayError(
          'operator_not_allowed',
          'A session cannot open another session. Send the operator’s own token.',
        );
      const { session, token } = opened;
      return jsonReply({ ...presentOperatorSession(session, undefined), token });
    },
  });
}

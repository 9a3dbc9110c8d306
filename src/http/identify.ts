import type { ParameterizedContext } from 'koa';
import { GatewayError } from '../domain/errors.ts';
import { mayUse } from '../domain/operator.ts';
import type { OperatorAccess, OperatorIdentity } from '../domain/operator.ts';
import type { AppDeps } from './deps.ts';
import { accessOf } from './route.ts';
import type { Identity, Route } from './route.ts';

type Identify = (route: Route, context: ParameterizedContext) => Promise<Identity>;

/**
 * Says who is calling, before the body is read. Throws the one 401 that all failures share, and 403 for an operator who
 * may not use the route.
 */
export function createIdentify({ auth, operatorAuth }: Pick<AppDeps, 'auth' | 'operatorAuth'>): Identify {
  return async (route, { req }) => {
    const { authentication } = route;
    if (authentication === 'none') return { kind: 'none' };
    const { authorization } = req.headers;
    if (authentication === 'key') {
      const caller = await auth.authenticate(authorization);
      if (caller === undefined) throw invalidKey();
      return { kind: 'key', caller };
    }
    const operator = await operatorAuth?.authenticate(authorization);
    if (operator === undefined) throw invalidToken();
    const access = accessOf(route);
    if (!mayUse(operator, access)) throw notAllowed(operator, access);
    return { kind: 'admin', operator: operator.name };
  };
}

function invalidKey(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'The API key is missing or not valid. Send it as "Authorization: Bearer <key>".',
  );
}

function invalidToken(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'The operator’s token is missing, not valid or revoked. Send it as "Authorization: Bearer <token>".',
  );
}

function notAllowed({ name, role }: OperatorIdentity, access: OperatorAccess): GatewayError {
  const needed =
    access === 'admin'
      ? 'Only the holder of ADMIN_TOKEN may add and revoke operators.'
      : 'The role "read" may look at everything and change nothing.';
  return new GatewayError('operator_not_allowed', `The operator ${name} has the role "${role}". ${needed}`);
}

import type { ParameterizedContext } from 'koa';
import { sameText } from '../access/api-keys.ts';
import { GatewayError } from '../domain/errors.ts';
import type { AppDeps } from './deps.ts';
import type { Identity, Route } from './route.ts';

const bearerPattern = /^Bearer +([\x21-\x7e]+)$/i;
const operatorPattern = /^[\x21-\x7e]{1,64}$/;

type Identify = (route: Route, context: ParameterizedContext) => Promise<Identity>;

/** Says who is calling, before the body is read. Throws the one 401 that all failures share. */
export function createIdentify({ auth, adminToken }: Pick<AppDeps, 'auth' | 'adminToken'>): Identify {
  return async ({ authentication }, { req }) => {
    if (authentication === 'none') return { kind: 'none' };
    const { authorization } = req.headers;
    if (authentication === 'key') {
      const caller = await auth.authenticate(authorization);
      if (caller === undefined) throw invalidKey();
      return { kind: 'key', caller };
    }
    const token = bearerPattern.exec(authorization ?? '')?.[1] ?? '';
    if (adminToken === undefined || !sameText(token, adminToken)) throw invalidKey();
    return { kind: 'admin', operator: operatorName(req.headers['x-operator']) };
  };
}

function invalidKey(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'The API key is missing or not valid. Send it as "Authorization: Bearer <key>".',
  );
}

/** All operators share one token; the record of an action keeps the name that they give. */
function operatorName(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && operatorPattern.test(header) ? header : 'operator';
}

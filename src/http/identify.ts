import type { IncomingHttpHeaders } from 'node:http';
import type { ParameterizedContext } from 'koa';
import type { RequestState } from './request-scope.ts';
import { GatewayError } from '../errors/errors.ts';
import { mayUse } from '../base/operator.ts';
import type { OperatorAccess, OperatorIdentity } from '../base/operator.ts';
import type { AddressLimit } from './address-limit.ts';
import type { AppDeps } from './deps.ts';
import { createGuessLimit } from './guess-limit.ts';
import { accessOf } from './route.ts';
import type { Identity, KeepAct, Route } from './route.ts';

type Identify = (route: Route, context: ParameterizedContext<RequestState>) => Promise<Identity>;

/**
 * Says who is calling, before the body is read. Throws the one 401 that all failures share, and 403 for an operator who
 * may not use the route.
 */
export function createIdentify(
  deps: Pick<AppDeps, 'auth' | 'operatorAuth' | 'auditLog' | 'now' | 'log'>,
  addresses: AddressLimit,
): Identify {
  const { auth, operatorAuth } = deps;
  const guesses = createGuessLimit(deps);
  return async (route, { req, state: { address } }) => {
    const { authentication } = route;
    if (authentication === 'none') return { kind: 'none' };
    const { authorization } = req.headers;
    if (authentication === 'key') {
      const caller = await callerOf(authorization, auth);
      if (caller === undefined) {
        addresses.charge(address);
        throw invalidKey(req.headers['x-api-key'] !== undefined && authorization === undefined);
      }
      addresses.giveBack(address);
      return { kind: 'key', caller };
    }
    const check = async () => operatorAuth?.authenticate(authorization);
    // Without a token nothing is guessed.
    const isGuess = authorization !== undefined && !addresses.isOff;
    const operator = await (isGuess ? guesses.guard(address, check) : check());
    if (operator === undefined) throw invalidToken();
    addresses.giveBack(address);
    const access = accessOf(route);
    if (!mayUse(operator, access)) throw notAllowed(operator, access);
    const via = originOf(req.headers);
    const from = { by: operator.name, via, address } as const;
    const keep: KeepAct = (act, run) => deps.auditLog.keep({ ...act, ...from }, run);
    return { kind: 'admin', operator: operator.name, role: operator.role, keep };
  };
}

/** A body may take minutes: since then a key may have been revoked, or have other limits. Throws the same 401. */
export async function identifyAgain(
  identity: Identity,
  { req }: ParameterizedContext<RequestState>,
  auth: AppDeps['auth'],
): Promise<Identity> {
  if (identity.kind !== 'key') return identity;
  const caller = await callerOf(req.headers.authorization, auth);
  if (caller === undefined) throw invalidKey(false);
  return { kind: 'key', caller };
}

/** One dialect's client writes `Key` where all others write `Bearer`. */
function callerOf(authorization: string | undefined, auth: AppDeps['auth']) {
  return auth.authenticate(authorization?.replace(/^Key /, 'Bearer '));
}

/** What it says of itself; for the audit log. */
function originOf({ 'user-agent': agent = '', 'x-mediary-client': client }: IncomingHttpHeaders) {
  if (/^mediary-cli\b/.test(agent)) return 'cli';
  return client === 'console' ? 'console' : 'api';
}

/** Says nothing of the key itself: what it depends on is only which headers there are. */
function invalidKey(isElsewhere: boolean): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    isElsewhere
      ? 'The header x-api-key is not read. Send the API key as "Authorization: Bearer <key>".'
      : 'The API key is missing or not valid. Send it as "Authorization: Bearer <key>".',
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

import type { IncomingHttpHeaders } from 'node:http';
import type { ParameterizedContext } from 'koa';
import type { RequestState } from './request-scope.ts';
import { createPlaces } from '../base/places.ts';
import { GatewayError } from '../errors/errors.ts';
import { mayUse } from '../base/operator.ts';
import type { OperatorAccess, OperatorIdentity } from '../base/operator.ts';
import type { AddressLimit } from './address-limit.ts';
import { recognise } from './connections.ts';
import type { AppDeps } from './deps.ts';
import { accessOf } from './route.ts';
import type { Identity, KeepAct, Route } from './route.ts';

export interface IdentifyDeps extends Pick<AppDeps, 'auth' | 'operatorAuth' | 'auditLog'> {
  readonly addresses: AddressLimit;
}

/** Look-ups of credentials at once: guesses from one address leave others theirs. */
const lookupsMax = { name: 'credentials looked up', placesMax: 64, shareMax: 16 };

type Identify = (route: Route, context: ParameterizedContext<RequestState>) => Promise<Identity>;

/**
 * Says who is calling, before the body is read. Throws the one 401 that all failures share, and 403 for an operator who
 * may not use the route.
 */
export function createIdentify(deps: IdentifyDeps): Identify {
  const { auth, operatorAuth, addresses } = deps;
  const lookups = createPlaces(lookupsMax);
  /** A credential is looked at before anybody is refused for what others at its address have shown. */
  const look = async <Found>(
    { req: { headers }, state: { address } }: ParameterizedContext<RequestState>,
    find: (authorization: string) => Promise<Found | undefined> | undefined,
  ): Promise<Found | undefined> => {
    const { authorization } = headers;
    const found =
      authorization === undefined ? undefined : await lookups.run(address, async () => find(authorization));
    if (found !== undefined) return found;
    if (authorization === undefined) addresses.take(address);
    else addresses.takeForWrong(address);
    return undefined;
  };
  return async (route, context) => {
    const { req, state } = context;
    if (route.authentication === 'none') return { kind: 'none' };
    const { authorization } = req.headers;
    if (route.authentication === 'key') {
      const caller = await look(context, (shown) => callerOf(shown, auth));
      if (caller === undefined)
        throw invalidKey(req.headers['x-api-key'] !== undefined && authorization === undefined);
      recognise(req, caller.account);
      return { kind: 'key', caller };
    }
    const operator = await look(context, (shown) => operatorAuth?.authenticate(shown));
    if (operator === undefined) throw invalidToken();
    recognise(req, `operator ${operator.name}`);
    const access = accessOf(route);
    if (!mayUse(operator, access)) throw notAllowed(operator, access);
    const via = originOf(req.headers);
    const from = { by: operator.name, via, address: state.address } as const;
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

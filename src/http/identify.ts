import type { IncomingHttpHeaders } from 'node:http';
import type { ParameterizedContext } from 'koa';
import type { RequestState } from './request-scope.ts';
import { createPlaces } from '../base/places.ts';
import { hasScope } from '../base/key-scope.ts';
import type { KeyHolder } from '../access/caller.ts';
import { GatewayError } from '../errors/errors.ts';
import type { OperatorIdentity } from '../base/operator.ts';
import type { AddressLimit } from './address-limit.ts';
import { recognise } from './connections.ts';
import { createExactAddress, isInNetworks } from './client-address.ts';
import type { AppDeps } from './deps.ts';
import { letsIn, type Access, type Identity, type KeepAct, type Route } from './route.ts';

export interface IdentifyDeps extends Pick<AppDeps, 'auth' | 'operatorAuth' | 'auditLog' | 'trustedProxies'> {
  readonly addresses: AddressLimit;
}

/** Guesses from one IP address must not use up all concurrent lookups. */
const lookupsMax = { name: 'credentials looked up', placesMax: 64, shareMax: 16 } as const;

export type Identify = (route: Route, context: ParameterizedContext<RequestState>) => Promise<Identity>;

/**
 * Runs before the body is read and again afterwards, because the key or token may have been revoked or its rights
 * changed in the meantime. Every failed authentication gets the same 401. A key or operator without access to the
 * route gets a 403.
 */
export function createIdentify(deps: IdentifyDeps): Identify {
  const { auth, operatorAuth, addresses } = deps;
  const exactAddressOf = createExactAddress(deps.trustedProxies);
  const lookups = createPlaces(lookupsMax);
  /**
   * Checks the credential before the address limit, which other senders at the same address may already have used up.
   */
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
      requireKeyMay(caller, route, () => exactAddressOf(req));
      return { kind: 'key', caller };
    }
    const operator = await look(context, (shown) => operatorAuth?.authenticate(shown));
    if (operator === undefined) throw invalidToken();
    recognise(req, `operator ${operator.name}`);
    requireAccess(operator, route.access);
    const via = originOf(req.headers);
    const from = { by: operator.name, via, address: state.address } as const;
    const keep: KeepAct = (act, run) => deps.auditLog.keep({ ...act, ...from }, run);
    const { name, ...rest } = operator;
    return { kind: 'admin', operator: name, ...rest, keep };
  };
}

function requireKeyMay(
  caller: KeyHolder,
  { scope, operationId }: Extract<Route, { authentication: 'key' }>,
  addressOf: () => string,
): void {
  const refuse = (why: string) => new GatewayError('key_not_allowed', `This API key ${why}.`);
  if (!hasScope(caller, scope)) throw refuse(`lacks the scope \`${scope}\``);
  if (caller.routes?.includes(operationId) === false) throw refuse('is not allowed to use this route');
  if (caller.addresses !== undefined && !isInNetworks(addressOf(), caller.addresses))
    throw refuse('cannot be used from this IP address');
}

/** One dialect's clients send `Key` instead of `Bearer`. */
function callerOf(authorization: string | undefined, auth: AppDeps['auth']) {
  return auth.authenticate(authorization?.replace(/^Key /, 'Bearer '));
}

function originOf({ 'user-agent': agent = '', 'x-mediary-client': client }: IncomingHttpHeaders) {
  if (/^mediary-cli\b/.test(agent)) return 'cli';
  return client === 'console' ? 'console' : 'api';
}

/** The message depends only on which headers are present, so it reveals nothing about the key. */
function invalidKey(isElsewhere: boolean): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    isElsewhere
      ? 'The header x-api-key is ignored. Send the API key as "Authorization: Bearer <key>".'
      : 'The API key is missing or not valid. Send it as "Authorization: Bearer <key>".',
  );
}

function invalidToken(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'The operator’s token is missing, not valid or revoked. Send it as "Authorization: Bearer <token>".',
  );
}

export function requireAccess(operator: OperatorIdentity, access: Access): void {
  if (!letsIn(access, operator)) throw notAllowed(operator, access);
}

function notAllowed({ name, roles }: OperatorIdentity, access: Access): GatewayError {
  const needed =
    access === 'admin'
      ? 'Only the holder of ADMIN_TOKEN may do this.'
      : `This needs ${orList([access].flat())}.`;
  const has = typeof roles === 'string' ? roles : roles.join(', ');
  return new GatewayError('operator_not_allowed', `The operator ${name} has the roles ${has}. ${needed}`);
}

function orList(roles: readonly string[]): string {
  return `the ${roles.join(' or ')} role`;
}

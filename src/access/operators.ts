import { adminName } from '../base/operator.ts';
import type { OperatorIdentity } from '../base/operator.ts';
import type { RandomBytes } from '../base/ids.ts';
import type { Operator, OperatorStore } from '../store/operators.ts';
import { bearerToken, createTokens, sameText } from './tokens.ts';
import type { NewToken } from './tokens.ts';
import type { LastUsed } from './last-used.ts';

export interface OperatorAuth {
  readonly newToken: () => NewToken;
  /** The operator behind an Authorization header; undefined: nobody that may use the operators' API. */
  authenticate(authorization: string | undefined): Promise<OperatorIdentity | undefined>;
  /** Makes a revocation effective on this node at once; the others follow within five seconds. */
  forget(name: string): void;
}

export interface OperatorAuthDeps {
  /** The first operator's token, from the configuration: it adds the others. */
  readonly adminToken: string;
  readonly operators: Pick<OperatorStore, 'findByHmac'>;
  readonly lastUsed: Pick<LastUsed, 'note'>;
  /** Keys the HMACs; changing it invalidates every operator's token. */
  readonly secret: Buffer;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export function createOperatorAuth({
  adminToken,
  operators,
  lastUsed,
  ...deps
}: OperatorAuthDeps): OperatorAuth {
  const tokens = createTokens<Operator>({ ...deps, kind: 'op', load: (hmac) => operators.findByHmac(hmac) });
  return {
    newToken: tokens.newToken,
    async authenticate(authorization) {
      if (sameText(bearerToken(authorization) ?? '', adminToken)) return { name: adminName, roles: 'admin' };
      const found = await tokens.find(authorization);
      if (found === undefined || found.revokedAt !== undefined) return undefined;
      lastUsed.note(found.name);
      return { name: found.name, roles: found.roles };
    },
    forget: (name) => tokens.forget((operator) => operator.name === name),
  };
}

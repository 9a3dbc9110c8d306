import { defined } from '../base/defined.ts';
import { adminName, type OperatorIdentity } from '../base/operator.ts';
import { randomBase62, type RandomBytes } from '../base/ids.ts';
import type { OperatorSession, OperatorSessionStore } from '../store/operator-sessions.ts';
import type { Operator, OperatorStore } from '../store/operators.ts';
import type { Issuer } from './invitations.ts';
import { bearerToken, createTokens, sameText, tokenHmac } from './tokens.ts';
import type { LastUsed } from './last-used.ts';

export interface OperatorAuth {
  readonly newToken: Issuer;
  authenticate(authorization: string | undefined): Promise<OperatorIdentity | undefined>;
  /** Accepts ADMIN_TOKEN or an operator's own token, but not a session's token. */
  openSession(authorization: string | undefined, from: SessionOrigin): Promise<OpenedSession | undefined>;
  /** Drops the operator's tokens from this node's cache. Other nodes notice a revocation within 5 s. */
  forget(name: string): void;
}

export type SessionOrigin = Pick<OperatorSession, 'address' | 'agent'>;

export interface OpenedSession {
  readonly session: OperatorSession;
  readonly token: string;
}

export interface OperatorAuthDeps {
  readonly adminToken: string;
  readonly operators: Pick<OperatorStore, 'findByHmac'>;
  readonly sessions: Pick<OperatorSessionStore, 'findByHmac' | 'open'>;
  readonly lastUsed: Pick<LastUsed, 'note'>;
  readonly sessionUsed: Pick<LastUsed, 'note'>;
  readonly secret: Buffer;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

/** How long a console session lasts. Activity does not extend it. */
const sessionMs = 12 * 60 * 60 * 1000;
const agentCharactersMax = 256;
const idCharacters = 16;

export function createOperatorAuth(deps: OperatorAuthDeps): OperatorAuth {
  const { adminToken, operators, sessions, lastUsed, sessionUsed } = deps;
  const tokens = createTokens<Operator>({ ...deps, kind: 'op', load: (hmac) => operators.findByHmac(hmac) });
  const sessionTokens = createTokens<OperatorSession>({
    ...deps,
    kind: 'os',
    load: (hmac) => sessions.findByHmac(hmac),
    areFresh: true,
  });
  const isAdmin = (authorization: string | undefined) =>
    sameText(bearerToken(authorization) ?? '', adminToken);
  const adminHmac = tokenHmac(adminToken, deps.secret);

  /** Returns undefined if the token that opened the session has since been replaced or revoked. */
  async function holderOf({ openedBy, operator }: OperatorSession): Promise<OperatorIdentity | undefined> {
    if (operator === adminName)
      return sameText(openedBy, adminHmac) ? { name: adminName, roles: 'admin' } : undefined;
    const found = await operators.findByHmac(openedBy);
    return found === undefined || found.revokedAt !== undefined ? undefined : found;
  }

  async function findHolder(authorization: string | undefined) {
    const found = await tokens.find(authorization);
    if (found !== undefined) return found.revokedAt === undefined ? { holder: found } : undefined;
    const session = await sessionTokens.find(authorization);
    const holder = session && (await holderOf(session));
    return holder && { holder, session: session.id };
  }

  return {
    newToken: tokens.newToken,

    async authenticate(authorization) {
      if (isAdmin(authorization)) return { name: adminName, roles: 'admin' };
      const found = await findHolder(authorization);
      if (found === undefined) return undefined;
      const { holder, session } = found;
      if (holder.name !== adminName) lastUsed.note(holder.name);
      if (session !== undefined) sessionUsed.note(session);
      return { name: holder.name, roles: holder.roles, ...defined({ session }) };
    },

    async openSession(authorization, { address, agent }) {
      const holder = isAdmin(authorization)
        ? { name: adminName, hmac: adminHmac }
        : await tokens.find(authorization);
      if (holder === undefined) return undefined;
      const { token, hmac } = sessionTokens.newToken();
      const createdAt = deps.now();
      const session: OperatorSession = {
        id: `ses_${randomBase62(idCharacters, deps.randomBytes)}`,
        operator: holder.name,
        hmac,
        openedBy: holder.hmac,
        address,
        agent: agent.slice(0, agentCharactersMax),
        createdAt,
        expiresAt: createdAt + sessionMs,
      };
      await sessions.open(session);
      return { session, token };
    },

    forget: (name) => tokens.forget((operator) => operator.name === name),
  };
}

/** `read` may look at everything; `act` may also act on tasks, accounts, keys and channels. */
export const operatorRoles = ['read', 'act'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/** Who calls the operators' API. `admin` holds ADMIN_TOKEN: alone may add and revoke operators. */
export interface OperatorIdentity {
  readonly name: string;
  readonly role: OperatorRole | 'admin';
}

/** The name under which the holder of ADMIN_TOKEN acts. */
export const adminName = 'admin';

/** What a route of the operators' API demands. */
export type OperatorAccess = OperatorIdentity['role'];

const rank: Readonly<Record<OperatorAccess, number>> = { read: 0, act: 1, admin: 2 };

export function mayUse({ role }: Pick<OperatorIdentity, 'role'>, access: OperatorAccess): boolean {
  return rank[role] >= rank[access];
}

/**
 * `temporal`: Temporal’s own tools, which do not say from where. `signal`: a SIGHUP to the process that is the target.
 * `start`: that process published its file when it began. `shell`: a command that works on MongoDB itself.
 */
export const actOrigins = ['api', 'cli', 'console', 'temporal', 'signal', 'start', 'shell'] as const;
export type ActOrigin = (typeof actOrigins)[number];

/**
 * `begun`: it runs, or its process died before it could say what came of it; what was acted on has the truth. `failed`: it
 * may have been done all the same.
 */
export const actOutcomes = ['begun', 'done', 'refused', 'failed'] as const;
export type ActOutcome = (typeof actOutcomes)[number];

/**
 * The roles of operators. Every operator may read. `tasks`: act on tasks. `money`: change credits, caps and refunds.
 * `access`: create accounts and keys. `content`: read what callers wrote and what their tasks produced.
 * `configuration`: change channels and the running configuration.
 */
export const operatorRoles = ['read', 'tasks', 'money', 'access', 'content', 'configuration'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

const presetNames = ['viewer', 'support', 'billing', 'engineer', 'everything'] as const;

/** Presets: one name for several roles. */
export const rolePresets = {
  viewer: ['read'],
  support: ['read', 'tasks', 'content'],
  billing: ['read', 'money'],
  engineer: ['read', 'tasks', 'configuration'],
  everything: operatorRoles,
} as const satisfies Record<(typeof presetNames)[number], readonly OperatorRole[]>;

export const roleWords = [...operatorRoles, ...presetNames] as const;
export type RoleWord = (typeof roleWords)[number];

/** Expands presets to roles without duplicates. The result always includes `read`. */
export function rolesOf(words: readonly RoleWord[]): OperatorRole[] {
  const named = new Set(words.flatMap((word) => (isPreset(word) ? rolePresets[word] : [word])));
  return operatorRoles.filter((role) => role === 'read' || named.has(role));
}

function isPreset(word: RoleWord): word is keyof typeof rolePresets {
  return Object.hasOwn(rolePresets, word);
}

/** The authenticated operator. `admin` is the holder of ADMIN_TOKEN, who may do everything. */
export interface OperatorIdentity {
  readonly name: string;
  readonly roles: 'admin' | readonly OperatorRole[];
}

/** The name under which the holder of ADMIN_TOKEN acts. */
export const adminName = 'admin';

/**
 * The role that a route of the operators' API requires. `admin`: adding and revoking operators, and deleting
 * accounts.
 */
export type OperatorAccess = OperatorRole | 'admin';

export function mayUse({ roles }: Pick<OperatorIdentity, 'roles'>, access: OperatorAccess): boolean {
  return roles === 'admin' || access === 'read' || (access !== 'admin' && roles.includes(access));
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

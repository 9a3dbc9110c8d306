import type { roleMeanings } from './role-meanings.js';

export const operatorRoles = [
  'read',
  'amounts',
  'tasks',
  'money',
  'access',
  'content',
  'configuration',
] as const satisfies readonly (keyof typeof roleMeanings)[];
export type OperatorRole = keyof typeof roleMeanings;

const included: Readonly<Partial<Record<OperatorRole, readonly OperatorRole[]>>> = { money: ['amounts'] };

const presetNames = ['viewer', 'support', 'billing', 'engineer', 'everything'] as const;

export const rolePresets = {
  viewer: ['read', 'amounts'],
  support: ['read', 'tasks', 'content'],
  billing: ['read', 'amounts', 'money'],
  engineer: ['read', 'amounts', 'tasks', 'configuration'],
  everything: operatorRoles,
} as const satisfies Record<(typeof presetNames)[number], readonly OperatorRole[]>;

export const roleWords = [...operatorRoles, ...presetNames] as const;
export type RoleWord = (typeof roleWords)[number];

/** The result always contains `read`. */
export function rolesOf(words: readonly RoleWord[]): OperatorRole[] {
  const roles = words.flatMap((word) => (isPreset(word) ? rolePresets[word] : [word]));
  const named = new Set(roles.flatMap((role) => [role, ...(included[role] ?? [])]));
  return operatorRoles.filter((role) => role === 'read' || named.has(role));
}

function isPreset(word: RoleWord): word is keyof typeof rolePresets {
  return Object.hasOwn(rolePresets, word);
}

export interface OperatorIdentity {
  readonly name: string;
  readonly roles: 'admin' | readonly OperatorRole[];
  readonly session?: string;
}

export const adminName = 'admin';

/** Only `admin` may add and revoke operators, change their roles, and delete accounts. */
export type OperatorAccess = OperatorRole | 'admin';

/** Returns true for routes that only read, which the audit log does not record. */
export function isReading(access: OperatorAccess | readonly OperatorAccess[]): boolean {
  return access === 'read' || access === 'amounts';
}

/** Operators may grant only roles that they have themselves. */
export function mayGrant(
  { roles }: Pick<OperatorIdentity, 'roles'>,
  granted: readonly OperatorRole[],
): boolean {
  return roles === 'admin' || granted.every((role) => role === 'read' || roles.includes(role));
}

export function mayUse({ roles }: Pick<OperatorIdentity, 'roles'>, access: OperatorAccess): boolean {
  return roles === 'admin' || access === 'read' || (access !== 'admin' && roles.includes(access));
}

/**
 * - `temporal`: Temporal's own tools, which do not reveal where they ran.
 * - `signal`: a SIGHUP to the process.
 * - `start`: the process published its file at startup.
 * - `shell`: a command that writes directly to MongoDB.
 */
export const actOrigins = ['api', 'cli', 'console', 'temporal', 'signal', 'start', 'shell'] as const;
export type ActOrigin = (typeof actOrigins)[number];

/**
 * `begun` means that the action is still running, or that its process died before recording the outcome. Even a
 * `failed` action may have taken effect.
 */
export const actOutcomes = ['begun', 'done', 'refused', 'failed'] as const;
export type ActOutcome = (typeof actOutcomes)[number];

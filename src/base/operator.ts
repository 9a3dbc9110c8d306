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

/** Expands presets and included roles, without duplicates. The result always includes `read`. */
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

/**
 * What a route of the operators' API requires. Only `admin` may add and revoke operators, change their roles, and
 * delete accounts.
 */
export type OperatorAccess = OperatorRole | 'admin';

/** Whether access only reads. The audit log does not record such routes. */
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
 * Where an action came from. `temporal` is Temporal's own tools, which do not say where they ran. `signal` is a SIGHUP
 * to the target process. `start` means that the target process published its file at startup. `shell` is a command
 * that works directly on MongoDB.
 */
export const actOrigins = ['api', 'cli', 'console', 'temporal', 'signal', 'start', 'shell'] as const;
export type ActOrigin = (typeof actOrigins)[number];

/**
 * How an action ended. `begun` means that it is still running, or that its process died before recording the outcome,
 * so only the target shows whether it took effect. A `failed` action may still have taken effect.
 */
export const actOutcomes = ['begun', 'done', 'refused', 'failed'] as const;
export type ActOutcome = (typeof actOutcomes)[number];

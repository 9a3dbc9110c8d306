/**
 * What a key may do. `create`: tasks and files, and ending its own. `read_own`: what it created itself. `read_account`:
 * what the account has, other keys' tasks included. `manage`: the account's settings, and other keys' tasks and files.
 */
export const keyScopes = ['create', 'read_own', 'read_account', 'manage'] as const;
export type KeyScope = (typeof keyScopes)[number];

/** Of a key that was made without naming any. */
export const defaultScopes: readonly KeyScope[] = ['create', 'read_own'];

/** What a route demands. `any`: a valid key. */
export type NeededScope = KeyScope | 'any';

export function hasScope({ scopes }: { readonly scopes: readonly KeyScope[] }, needed: NeededScope): boolean {
  if (needed === 'any' || scopes.includes(needed)) return true;
  return needed === 'read_own' && scopes.includes('read_account');
}

/** Whose tasks, files and entries somebody may see or change. */
export interface Reach {
  readonly account: string;
  /** Absent: those of all its keys. */
  readonly key?: string;
}

/** A key, and how far it sees. */
interface Seeing {
  readonly account: string;
  readonly key: string;
  /** May see what other keys of the account created. Absent: not. */
  readonly seesAccount?: boolean;
}

/** What the caller may see of its account, and use in what it creates. */
export function seenBy({ account, key, seesAccount }: Seeing): Reach {
  return seesAccount === true ? { account } : { account, key };
}

/** What the caller may end, delete or send again. */
export function changedBy({
  account,
  key,
  scopes,
}: Seeing & { readonly scopes: readonly KeyScope[] }): Reach {
  return scopes.includes('manage') ? { account } : { account, key };
}
export function isWithin(
  { account, key }: Reach,
  thing: { readonly account: string; readonly key?: string },
): boolean {
  return thing.account === account && (key === undefined || thing.key === key);
}

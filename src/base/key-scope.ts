/**
 * - `create`: create tasks and files, and cancel or delete them.
 * - `read_own`: read what the key created.
 * - `read_account`: read everything in the account, including other keys' tasks.
 * - `manage`: change the account's settings, and other keys' tasks and files.
 */
export const keyScopes = ['create', 'read_own', 'read_account', 'manage'] as const;
export type KeyScope = (typeof keyScopes)[number];

export const defaultScopes: readonly KeyScope[] = ['create', 'read_own'];

export type NeededScope = KeyScope | 'any';

export function hasScope({ scopes }: { readonly scopes: readonly KeyScope[] }, needed: NeededScope): boolean {
  if (needed === 'any' || scopes.includes(needed)) return true;
  return needed === 'read_own' && scopes.includes('read_account');
}

export interface Reach {
  readonly account: string;
  /** Undefined means all keys of the account. */
  readonly key?: string;
}

interface Seeing {
  readonly account: string;
  readonly key: string;
  readonly seesAccount?: boolean;
}

export function seenBy({ account, key, seesAccount }: Seeing): Reach {
  return seesAccount === true ? { account } : { account, key };
}

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

export function isKeyValid(
  key: { readonly revokedAt?: number; readonly expiresAt?: number },
  now: number,
): boolean {
  return key.revokedAt === undefined && (key.expiresAt === undefined || now < key.expiresAt);
}

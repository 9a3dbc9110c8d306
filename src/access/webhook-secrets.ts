import type { AccountStore } from '../store/accounts.ts';
import type { Secrets } from './secrets.ts';

export function webhookSecretsOf({
  stores,
  secrets,
}: {
  readonly stores: { readonly accounts: Pick<AccountStore, 'find'> };
  readonly secrets: Pick<Secrets, 'open'>;
}): (account: string) => Promise<readonly string[]> {
  return async (account) => {
    const found = await stores.accounts.find(account);
    return (found?.webhookSecrets ?? []).map((sealed) =>
      secrets.open({ purpose: 'webhook-secret', id: account }, sealed),
    );
  };
}

import { defined } from '../base/defined.ts';
import { isKeyValid } from '../base/key-scope.ts';
import type { KeyHolder } from './caller.ts';
import type { RandomBytes } from '../base/ids.ts';
import type { ApiKey, KeyStore } from '../store/keys.ts';
import type { LastUsed } from './last-used.ts';
import { createTokens, type Tokens } from './tokens.ts';

export interface KeyAuth {
  readonly newKey: Tokens<never>['newToken'];
  /** Returns undefined for every kind of invalid key, so that callers cannot distinguish unknown keys from expired ones. */
  authenticate(authorization: string | undefined): Promise<KeyHolder | undefined>;
  /** Drops the key from this node's cache. Other nodes notice a change within 5 s. */
  forget(keyId: string): void;
}

export interface KeyAuthDeps {
  readonly keys: Pick<KeyStore, 'findByHmac'>;
  readonly lastUsed: Pick<LastUsed, 'note'>;
  /** The HMAC key. Changing it invalidates every API key. */
  readonly secret: Buffer;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

interface FoundKey {
  readonly hmac: string;
  readonly key: ApiKey;
  readonly caller: KeyHolder;
}

export function createKeyAuth({ keys, lastUsed, ...deps }: KeyAuthDeps): KeyAuth {
  const tokens = createTokens<FoundKey>({
    ...deps,
    kind: 'sk',
    async load(hmac) {
      const key = await keys.findByHmac(hmac);
      return key === undefined ? undefined : { hmac: key.hmac, key, caller: toCaller(key) };
    },
  });
  return {
    newKey: tokens.newToken,
    async authenticate(authorization) {
      const found = await tokens.find(authorization);
      if (found === undefined || !isKeyValid(found.key, deps.now())) return undefined;
      lastUsed.note(found.key.id);
      return found.caller;
    },
    forget: (keyId) => tokens.forget(({ key }) => key.id === keyId),
  };
}

function toCaller(key: ApiKey): KeyHolder {
  return {
    account: key.account,
    key: key.countedAs ?? key.id,
    scopes: key.scopes,
    ...defined({
      seesAccount: key.scopes.includes('read_account') ? true : undefined,
      addresses: key.addresses,
      routes: key.routes,
      secondsMax: key.secondsMax,
      resolutionMax: key.resolutionMax,
      models: key.models,
      channels: key.channels,
      assetUrls: key.assetUrls,
      strict: key.strict,
      endUserRequired: key.endUserRequired,
      requestsPerMinute: key.requestsPerMinute,
      concurrentTasks: key.concurrentTasks,
      caps: key.caps,
    }),
  };
}

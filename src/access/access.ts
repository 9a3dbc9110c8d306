import { defined } from '../base/defined.ts';
import type { RandomBytes } from '../base/ids.ts';
import type { KeyStore } from '../store/keys.ts';
import type { OperatorStore } from '../store/operators.ts';
import { createKeyAuth } from './api-keys.ts';
import type { KeyAuth } from './api-keys.ts';
import { createLastUsed } from './last-used.ts';
import { createOperatorAuth } from './operators.ts';
import type { OperatorAuth } from './operators.ts';
import { createReceiptKeys } from './receipt-keys.ts';
import type { ReceiptKeys } from './receipt-keys.ts';
import type { Secrets } from './secrets.ts';

/** Who may come in (callers with keys, operators with tokens), and how they know that an answer is ours. */
export interface Access {
  readonly auth: KeyAuth;
  /** Absent: the operators' API does not exist. */
  readonly operatorAuth?: OperatorAuth;
  readonly receiptKeys: ReceiptKeys;
  /** Writes when keys and tokens were last used; every minute after `start`. Never rejects. */
  flush(): Promise<void>;
  start(): void;
  /** Writes the rest. */
  stop(): Promise<void>;
}

export interface AccessDeps {
  readonly keys: Pick<KeyStore, 'findByHmac' | 'noteUsed'>;
  readonly operators: Pick<OperatorStore, 'findByHmac' | 'noteUsed'>;
  readonly secrets: Pick<Secrets, 'deriveKey'>;
  readonly adminToken: string | undefined;
  /** The last uses could not be written; they are noted again. */
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export function createAccess(deps: AccessDeps): Access {
  const { keys, operators, secrets, adminToken, onError, now, randomBytes } = deps;
  const used = {
    keys: createLastUsed({ write: (noted) => keys.noteUsed(noted), onError, now }),
    operators: createLastUsed({ write: (noted) => operators.noteUsed(noted), onError, now }),
  };
  const secret = secrets.deriveKey('operator-token-hmac');
  const operatorAuth =
    adminToken === undefined
      ? undefined
      : createOperatorAuth({ adminToken, operators, lastUsed: used.operators, secret, now, randomBytes });
  return {
    auth: createKeyAuth({
      keys,
      lastUsed: used.keys,
      secret: secrets.deriveKey('api-key-hmac'),
      now,
      randomBytes,
    }),
    ...defined({ operatorAuth }),
    receiptKeys: createReceiptKeys(secrets.deriveKey('receipt-keys')),
    async flush() {
      await Promise.all([used.keys.flush(), used.operators.flush()]);
    },
    start() {
      used.keys.start();
      used.operators.start();
    },
    async stop() {
      await Promise.all([used.keys.stop(), used.operators.stop()]);
    },
  };
}

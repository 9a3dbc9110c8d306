import { defined } from '../base/defined.ts';
import type { RandomBytes } from '../base/ids.ts';
import type { KeyStore } from '../store/keys.ts';
import type { OperatorSessionStore } from '../store/operator-sessions.ts';
import type { OperatorStore } from '../store/operators.ts';
import { createKeyAuth, type KeyAuth } from './api-keys.ts';
import { createInvitations, type Invitations } from './invitations.ts';
import { createLastUsed } from './last-used.ts';
import { createOperatorAuth, type OperatorAuth } from './operators.ts';
import { createReceiptKeys, type ReceiptKeys } from './receipt-keys.ts';
import type { Secrets } from './secrets.ts';

export interface Access {
  readonly auth: KeyAuth;
  readonly operatorAuth?: OperatorAuth;
  readonly invitations: Invitations;
  readonly receiptKeys: ReceiptKeys;
  flush(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export interface AccessDeps {
  readonly keys: Pick<KeyStore, 'findByHmac' | 'noteUsed'>;
  readonly operators: Pick<OperatorStore, 'findByHmac' | 'noteUsed'>;
  readonly operatorSessions: Pick<OperatorSessionStore, 'findByHmac' | 'open' | 'noteUsed'>;
  readonly secrets: Pick<Secrets, 'deriveKey'>;
  readonly adminToken: string | undefined;
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export function createAccess(deps: AccessDeps): Access {
  const { keys, operators, operatorSessions, secrets, adminToken, onError, now, randomBytes } = deps;
  const used = {
    keys: createLastUsed({ write: (uses) => keys.noteUsed(uses), onError, now }),
    operators: createLastUsed({ write: (uses) => operators.noteUsed(uses), onError, now }),
    sessions: createLastUsed({ write: (uses) => operatorSessions.noteUsed(uses), onError, now }),
  };
  const secret = secrets.deriveKey('operator-token-hmac');
  const operatorAuth =
    adminToken === undefined
      ? undefined
      : createOperatorAuth({
          adminToken,
          operators,
          sessions: operatorSessions,
          lastUsed: used.operators,
          sessionUsed: used.sessions,
          secret,
          now,
          randomBytes,
        });
  return {
    auth: createKeyAuth({
      keys,
      lastUsed: used.keys,
      secret: secrets.deriveKey('api-key-hmac'),
      now,
      randomBytes,
    }),
    ...defined({ operatorAuth }),
    invitations: createInvitations({ secret: secrets.deriveKey('invitation-hmac'), now, randomBytes }),
    receiptKeys: createReceiptKeys(secrets.deriveKey('receipt-keys')),
    async flush() {
      await Promise.all(Object.values(used).map((each) => each.flush()));
    },
    start() {
      for (const each of Object.values(used)) each.start();
    },
    async stop() {
      await Promise.all(Object.values(used).map((each) => each.stop()));
    },
  };
}

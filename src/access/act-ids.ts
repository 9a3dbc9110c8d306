import { createHmac, randomUUID } from 'node:crypto';
import { sameText } from './tokens.ts';

interface Act {
  readonly task: string;
  readonly action: string;
  /** Who acts, or says to. */
  readonly by: string;
}

/**
 * Ids of the updates through which the API acts. Temporal does not say who sends an update, and accepts every id: one that
 * only the API can make is what proves that its operator acts.
 */
export interface ActIds {
  readonly newId: (act: Act) => string;
  /** `anna` for the operator anna of the API, `temporal:anna` for whoever writes that name at Temporal's own tools. */
  readonly actorOf: (act: Act & { readonly id: string }) => string;
}

export function createActIds(key: Buffer): ActIds {
  const proofOf = (nonce: string, { task, action, by }: Act): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([nonce, task, action, by]))
      .digest('base64url');
  return {
    newId(act) {
      const nonce = randomUUID();
      return `${nonce}.${proofOf(nonce, act)}`;
    },
    actorOf({ id, ...act }) {
      const [nonce = '', proof = ''] = id.split('.');
      return sameText(proof, proofOf(nonce, act)) ? act.by : `temporal:${act.by}`;
    },
  };
}

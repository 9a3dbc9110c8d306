import { createHmac, randomUUID } from 'node:crypto';
import { sameText } from './tokens.ts';

interface Act {
  readonly task: string;
  readonly action: string;
  /** The operator named in the update. Anyone can claim any name, so trust it only if the id is valid. */
  readonly by: string;
}

/**
 * Temporal accepts any update id and does not record who sent the update. An id that only the API can generate
 * therefore proves that an operator acted through the API.
 */
export interface ActIds {
  readonly newId: (act: Act) => string;
  /**
   * Returns `anna` if operator anna acted through the API, or `temporal:anna` if the update came from Temporal's own
   * tools.
   */
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

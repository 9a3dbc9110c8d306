import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { createSealer } from '../../src/access/sealer.ts';
import { createErrorTerms } from '../../src/store/error-words.ts';
import { createEndUserNames } from '../../src/store/end-user-names.ts';

/** All processes have the same key, so that each can verify the others' entries. */
export const testLedgerKey = Buffer.alloc(32, 'ledger');
export const testEndUsers = createEndUserNames(testLedgerKey);

export function sealedWith(keys: readonly Uint8Array[]) {
  return { ...createSealer(keys), errorTerms: createErrorTerms(testLedgerKey) };
}

export const testSealing = { ...sealedWith([randomBytes(32)]), endUsers: testEndUsers };

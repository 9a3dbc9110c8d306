import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { createSealer } from '../../src/access/sealer.ts';
import { createEndUserNames } from '../../src/store/end-user-names.ts';

/** The same in every process: what one writes another one verifies. */
export const testLedgerKey = Buffer.alloc(32, 'ledger');
export const testEndUsers = createEndUserNames(testLedgerKey);

/** Seals with a random key, which only this process has. */
export const testSealing = { ...createSealer([randomBytes(32)]), endUsers: testEndUsers };

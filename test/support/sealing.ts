import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { createSealer } from '../../src/access/sealer.ts';

/** With a key of this process. */
export const testSealing = createSealer([randomBytes(32)]);

/** The same in every process: what one writes another one verifies. */
export const testLedgerKey = Buffer.alloc(32, 'ledger');

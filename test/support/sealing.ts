import { randomBytes } from 'node:crypto';
import { createSealer } from '../../src/access/sealer.ts';

/** With a key of this process. */
export const testSealing = createSealer([randomBytes(32)]);

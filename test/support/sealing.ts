import { randomBytes } from 'node:crypto';
import { createSealer } from '../../src/access/sealer.ts';
import { sealingOf } from '../../src/core.ts';

/** With a key of this process. */
export const testSealing = sealingOf(createSealer([randomBytes(32)]));

import { randomBytes } from 'node:crypto';
import { createSecrets } from '../../src/access/secrets.ts';
import { sealingOf } from '../../src/core.ts';

/** With a key of this process. */
export const testSealing = sealingOf(createSecrets(randomBytes(32)));

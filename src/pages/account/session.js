import { createSession } from '../shared/session.js';

/** The owner's key, kept while they are signed in on this tab. */
export const session = createSession('mediary.key');

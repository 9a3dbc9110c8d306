import { createSession } from '../shared/session.js';

export const session = createSession('mediary.key');

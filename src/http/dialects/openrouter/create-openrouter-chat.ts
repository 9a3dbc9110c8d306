import { chatRoute } from '../chat/chat-route.ts';
import { openrouterDialect } from './openrouter-dialect.ts';

export const createOpenrouterChat = chatRoute({
  operationId: 'createOpenrouterChat',
  path: '/api/v1/chat/completions',
  dialect: openrouterDialect,
});

import { chatRoute } from './chat-route.ts';

export const createChatCompletion = chatRoute({
  operationId: 'createChatCompletion',
  path: '/v1/chat/completions',
});

import { Desk } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import type { World } from '../world.ts';
import { OpenAiError, openAiProblems } from './openai-error.ts';
import { createImage } from './openai-images.ts';

/** OpenAI: images. */
export function createOpenAiDialect(world: World): Dialect {
  const desk = new Desk(world, 'openai', openAiProblems);
  return createDialect(desk, {
    prefix: '/openai/v1',
    noSuchRoute: ({ method, path }) =>
      new OpenAiError(404, { message: `Invalid URL (${method} /v1${path})` }),
    routes: {
      'POST /images/generations': (call) => createImage(desk, call, 'generations'),
      'POST /images/edits': (call) => createImage(desk, call, 'edits'),
    },
    headersOf: ({ status }, elapsedMs) => ({
      'openai-processing-ms': String(Math.round(elapsedMs)),
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': status === 429 ? '0' : '499',
      'x-ratelimit-reset-requests': '120ms',
    }),
  });
}

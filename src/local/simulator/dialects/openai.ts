import type { ProblemReplies } from '../disturb.ts';
import type { Reply, WireRequest } from '../wire.ts';
import type { Dialect, World } from '../world.ts';
import { OpenAiError, openAiErrorReply, openAiProblems } from './openai-error.ts';
import { createImage } from './openai-images.ts';

const name = 'openai';

/** OpenAI: images (providers.md 2.3, 2.4). */
export function createOpenAiDialect(world: World): Dialect {
  const problems: ProblemReplies = (problem) => openAiErrorReply(openAiProblems[problem]);
  return {
    name,
    prefix: '/openai/v1',
    async handle(request) {
      const begin = performance.now();
      try {
        if (!world.isAuthorised(request)) throw openAiProblems.unauthorized;
        return withHeaders(await route(world, request, problems), performance.now() - begin);
      } catch (error) {
        if (error instanceof OpenAiError)
          return withHeaders(openAiErrorReply(error), performance.now() - begin);
        throw error;
      }
    },
  };
}

function route(world: World, request: WireRequest, problems: ProblemReplies): Promise<Reply> {
  switch (`${request.method} ${request.path}`) {
    case 'POST /images/generations':
      return createImage(world, name, request, { kind: 'generations', problems });
    case 'POST /images/edits':
      return createImage(world, name, request, { kind: 'edits', problems });
    default:
      throw new OpenAiError(404, { message: `Invalid URL (${request.method} /v1${request.path})` });
  }
}

function withHeaders(reply: Reply, milliseconds: number): Reply {
  if (reply.kind === 'drop') return reply;
  const headers = {
    'openai-processing-ms': String(Math.round(milliseconds)),
    'x-ratelimit-limit-requests': '500',
    'x-ratelimit-remaining-requests': reply.status === 429 ? '0' : '499',
    'x-ratelimit-reset-requests': '120ms',
  };
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

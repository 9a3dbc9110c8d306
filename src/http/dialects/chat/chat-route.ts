import { presentError } from '../../error-response.ts';
import type { Route } from '../../route.ts';
import type { Dialect } from '../dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { waitingImageRoute } from '../waiting-image-route.ts';
import { chatAnswerSchema, chatChunkSchema, chatPresenter, chatStream } from './chat-answer.ts';
import { chatBody, understandChat } from './chat-body.ts';

interface ChatRoute {
  readonly operationId: string;
  readonly path: string;
  readonly dialect?: Dialect;
}

export function chatRoute({ operationId, path, dialect }: ChatRoute) {
  const error = dialect?.errors?.present ?? presentError;
  return (deps: DialectDeps): Route =>
    waitingImageRoute(
      {
        operationId,
        summary: 'Generate images in a chat',
        description:
          'For image models only. Waits up to ten minutes for the images and returns them as data URLs. If you send `stream: true`, each image is sent as one chunk, and a comment line is sent every 15 seconds during rendering.',
        ...(dialect === undefined ? {} : { dialect }),
        paths: [path],
        documentedBody: chatBody,
        success: {
          description: 'The model’s message, with its images.',
          schema: chatAnswerSchema,
          event: chatChunkSchema,
        },
        read(body) {
          const asked = understandChat(body);
          const model = String(asked.body['model']);
          const stream = chatStream(model, error, deps.now);
          return { asked, presenter: chatPresenter(model, error), stream };
        },
      },
      deps,
    );
}

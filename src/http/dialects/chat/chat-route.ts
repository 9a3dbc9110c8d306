import { z } from 'zod';
import { anyFields } from '../../body-fields.ts';
import { presentError } from '../../error-response.ts';
import { eventStreamType } from '../../event-stream.ts';
import { operationOf } from '../../images/image-body.ts';
import { createImages, imageCreate } from '../../images/image-create.ts';
import { keyRoute } from '../../route.ts';
import type { Route } from '../../route.ts';
import type { Dialect } from '../dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { chatAnswerSchema, chatPresenter } from './chat-answer.ts';
import { chatBody, understandChat } from './chat-body.ts';

interface ChatRoute {
  readonly operationId: string;
  readonly path: string;
  readonly dialect?: Dialect;
}

/** Creates images for front ends that only support chats. */
export function chatRoute({ operationId, path, dialect }: ChatRoute) {
  const error = dialect?.errors?.present ?? presentError;
  return (deps: DialectDeps): Route =>
    keyRoute({
      ...imageCreate(deps.images),
      operationId,
      scope: 'create',
      summary: 'Generate images in a chat',
      description:
        'For image models only. Waits up to ten minutes for the images and answers with data URLs.',
      ...(dialect === undefined ? {} : { dialect }),
      paths: [path],
      input: z.object({ body: anyFields }),
      documentedBody: chatBody,
      success: {
        description: 'The message of the model, with its images.',
        schema: chatAnswerSchema,
        mediaType: ['application/json', eventStreamType],
      },
      handle({ body, caller, meta }) {
        const asked = understandChat(body);
        const isStream = body['stream'] === true;
        const presenter = chatPresenter({ model: String(asked.body['model']), isStream }, error);
        const operation = operationOf(asked);
        // A kept answer is repeated in the form in which it was sent.
        const route = isStream ? `${operationId}Stream` : operationId;
        return createImages({ operation, route, asked, caller, meta, presenter }, deps);
      },
    });
}

import { z } from 'zod';
import type { Understood } from '../../intake/understand.ts';
import { anyFields } from '../body-fields.ts';
import { idempotencyHeader } from '../idempotency-key.ts';
import { operationOf } from '../images/image-body.ts';
import { createImages, imageCreate } from '../images/image-create.ts';
import type { Table } from '../../intake/names.ts';
import { eventStreamType } from '../event-stream.ts';
import { streamingPresenter, type ImagePresenter } from '../presenters/image.ts';
import type { ImageStreamPresenter } from '../presenters/image-event.ts';
import { keyRoute, type Route, type Success } from '../route.ts';
import type { DialectDeps } from './dialect-deps.ts';

export const refusedWithoutTasks: Table = {
  async: { refused: 'requests a task, which this endpoint does not support: use /v1/images/generations' },
};

/**
 * The streams of these endpoints cannot contain partial images. A request for them is rejected, because they would be
 * billed without being shown.
 */
export const refusedWithoutPartials: Table = {
  partial_images: {
    refused: 'is not supported when streaming from this endpoint: use /v1/images/generations',
  },
};

interface WaitingImageRoute extends Pick<
  Route,
  'operationId' | 'summary' | 'description' | 'dialect' | 'paths' | 'documentedBody'
> {
  readonly success: Required<Pick<Success, 'description' | 'schema' | 'event'>>;
  readonly read: (body: Readonly<Record<string, unknown>>) => {
    readonly asked: Understood;
    readonly presenter: ImagePresenter;
    readonly stream: ImageStreamPresenter;
  };
}

export function waitingImageRoute(
  { read, success, ...declared }: WaitingImageRoute,
  deps: DialectDeps,
): Route {
  const { readBody, ...create } = imageCreate(deps.images);
  const { operationId } = declared;
  return keyRoute({
    ...create,
    ...declared,
    success: { ...success, mediaType: ['application/json', eventStreamType] },
    scope: 'create',
    readBody: { ...readBody, mediaTypes: ['application/json'] },
    headers: idempotencyHeader,
    input: z.object({ body: anyFields }),
    handle({ body, caller, meta }) {
      const { asked, presenter: whole, stream } = read(body);
      const isStream = asked.body['stream'] === true;
      const presenter = isStream ? streamingPresenter(stream, whole.error) : whole;
      // A stored response must be replayed in its original form, so a streaming request is a separate route.
      const route = isStream ? `${operationId}Stream` : operationId;
      return createImages({ operation: operationOf(asked), route, asked, caller, meta, presenter }, deps);
    },
  });
}

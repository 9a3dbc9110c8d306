import { z } from 'zod';
import { keyRoute, type Route } from '../../route.ts';
import { answerWithPrediction, predictionCreate } from './prediction-create.ts';
import { anyFields } from '../../body-fields.ts';
import { modelOf } from '../create-any-task.ts';
import { modelPredictionBody } from './replicate-body.ts';
import type { DialectDeps } from '../dialect-deps.ts';

export function createModelPrediction(deps: DialectDeps): Route {
  return keyRoute({
    ...predictionCreate,
    operationId: 'createModelPrediction',
    scope: 'create',
    summary: 'Create a prediction with the model in the URL',
    paths: ['/v1/models/:owner/:name/predictions'],
    input: z.object({
      params: z.object({
        owner: z.string().min(1).meta({
          description: 'Can be any text if the model name has no slash.',
        }),
        name: z.string().min(1),
      }),
      body: anyFields,
    }),
    documentedBody: modelPredictionBody,
    handle: ({ params, body, caller, meta }) =>
      answerWithPrediction({ model: modelOf(params, caller, deps), body, caller, meta }, deps),
  });
}

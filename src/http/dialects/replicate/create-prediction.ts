import { z } from 'zod';
import { keyRoute, type Route } from '../../route.ts';
import { answerWithPrediction, predictionCreate } from './prediction-create.ts';
import { anyFields } from '../../body-fields.ts';
import { predictionBody } from './replicate-body.ts';
import type { DialectDeps } from '../dialect-deps.ts';

export function createPrediction(deps: DialectDeps): Route {
  return keyRoute({
    ...predictionCreate,
    operationId: 'createPrediction',
    scope: 'create',
    summary: 'Create a prediction with the model in the body',
    paths: ['/v1/predictions'],
    input: z.object({ body: anyFields }),
    documentedBody: predictionBody,
    handle: ({ body, caller, meta }) => answerWithPrediction({ body, caller, meta }, deps),
  });
}

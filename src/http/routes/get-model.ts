import { z } from 'zod';
import { GatewayError } from '../../errors/errors.ts';
import type { RouteDeps } from '../deps.ts';
import { modelSchema, presentModel } from '../presenters/model.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

export function getModel({ catalogue }: Pick<RouteDeps, 'catalogue'>): Route {
  return keyRoute({
    operationId: 'getModel',
    scope: 'any',
    summary: 'Describe one model',
    tag: 'Models',
    method: 'get',
    paths: ['/v1/models/:model'],
    input: z.object({ params: z.object({ model: z.string().min(1) }) }),
    success: { description: 'The model, its capabilities and its prices.', schema: modelSchema },
    errors: ['model_not_found', 'model_not_allowed', 'channel_not_allowed'],
    // Official clients expect 404 for a missing resource. In a create request, an unknown model is an invalid
    // parameter.
    statuses: { model_not_found: 404 },
    async handle({ params, caller }) {
      const model = catalogue.model(params.model, caller);
      if (!catalogue.models(caller).includes(model)) {
        throw new GatewayError(
          'channel_not_allowed',
          `This API key has no access to a channel that serves ${model.id}.`,
          {
            param: 'model',
          },
        );
      }
      return jsonReply(presentModel(model, catalogue.offered(model, await catalogue.buyer(caller))));
    },
  });
}

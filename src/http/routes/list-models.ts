import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { modelSchema, presentModel } from '../presenters/model.ts';
import { listSchema } from '../presenters/list.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

export function listModels({ catalogue }: Pick<RouteDeps, 'catalogue'>): Route {
  return keyRoute({
    operationId: 'listModels',
    scope: 'any',
    summary: 'List the models that the key may use',
    tag: 'Models',
    method: 'get',
    paths: ['/v1/models'],
    input: z.object({}),
    success: { description: 'All models that the key may use.', schema: listSchema(modelSchema) },
    async handle({ caller }) {
      const buyer = await catalogue.buyer(caller);
      const data = catalogue
        .models(caller)
        .map((model) => presentModel(model, catalogue.offered(model, buyer)));
      return jsonReply({ object: 'list', data });
    },
  });
}

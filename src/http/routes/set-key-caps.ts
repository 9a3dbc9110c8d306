import { z } from 'zod';
import { invalidParameter } from '../../errors/errors.ts';
import { judgeCaps } from '../account-alert.ts';
import type { CapChangeDeps } from '../account-alert.ts';
import { findKey, keyNotFound, keyParams, reason } from '../admin-input.ts';
import { capsFields, parseCaps, parseParts } from '../caps-input.ts';
import type { RouteDeps } from '../deps.ts';
import { keySchema, presentKey } from '../presenters/key.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

const cappedModelsMax = 200;

const body = z.object({
  ...capsFields,
  models: z
    .array(z.object({ model: z.string().min(1), ...capsFields }))
    .max(cappedModelsMax)
    .default([])
    .meta({ description: 'What the key may spend on single models, beside its caps for all of them.' }),
  reason,
});

type Deps = Pick<RouteDeps, 'keys' | 'auth' | 'catalogue' | 'now'> & CapChangeDeps;

export function setKeyCaps(deps: Deps): Route {
  const { keys, auth, catalogue, now } = deps;
  return adminRoute({
    operationId: 'setKeyCaps',
    access: 'money',
    summary: 'Limit what an API key may spend',
    description:
      'Replaces all caps of the key; what is absent is not limited. Effective at once on this node and within five seconds on every other. What is held already stays held, and what the key has spent before counts.',
    method: 'post',
    paths: ['/admin/v1/keys/:key/caps'],
    input: z.object({ params: keyParams, body }),
    success: { description: 'The key.', schema: keySchema },
    errors: ['key_not_found'],
    async handle({ params: { key: id }, body: { reason: why, models, ...all }, operator: by }) {
      const known = new Set(catalogue.current().models.map((model) => model.id));
      const parts = parseParts(models, ({ model }) => model);
      const unknown = models.findIndex(({ model }) => !known.has(model));
      if (parts === undefined || unknown >= 0) {
        const param = unknown >= 0 ? `models[${unknown}].model` : 'models';
        throw invalidParameter(param, 'Each model must be one of the configuration, and named once.');
      }
      const change = { at: now(), by, action: 'caps changed', reason: why };
      const caps = { all: parseCaps(all), models: parts };
      if (!(await keys.setCaps(id, caps, change))) throw keyNotFound();
      auth.forget(id);
      const key = await findKey(keys, id);
      await judgeCaps(key.account, deps);
      return jsonReply(presentKey(key));
    },
  });
}

import { fieldChanges } from '../../base/field-changes.ts';
import { z } from 'zod';
import { judgeCaps, type CapChangeDeps } from '../account-alert.ts';
import { findKey, keyNotFound, keyParams, reason } from '../admin-input.ts';
import { keyCapsFields, parseKeyCaps } from '../caps-input.ts';
import type { RouteDeps } from '../deps.ts';
import { keySchema, presentKey } from '../presenters/key.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

const body = z.object({ ...keyCapsFields, reason });

type Deps = Pick<RouteDeps, 'keys' | 'auth' | 'catalogue' | 'now'> & CapChangeDeps;

export function setKeyCaps(deps: Deps): Route {
  const { keys, auth, catalogue, now } = deps;
  return settingRoute({
    operationId: 'setKeyCaps',
    access: 'money',
    summary: 'Limit what an API key may spend',
    description:
      'Replaces all of the key’s caps. An absent window is unlimited. Takes effect immediately on this node and within five seconds on the others. Existing holds remain, and the key’s previous spending counts.',
    method: 'post',
    paths: ['/admin/v1/keys/:key/caps'],
    input: z.object({ params: keyParams, body }),
    success: { description: 'The key.', schema: keySchema },
    errors: ['key_not_found'],
    async handle({ params: { key: id }, body: { reason: why, ...written }, operator: by }) {
      const caps = parseKeyCaps(written, catalogue);
      const { caps: before } = presentKey(await findKey(keys, id));
      const change = { at: now(), by, action: 'caps changed', reason: why };
      if (!(await keys.setCaps(id, caps, change))) throw keyNotFound();
      auth.forget(id);
      const key = await findKey(keys, id);
      await judgeCaps(key.account, deps);
      const presented = presentKey(key);
      const changes = fieldChanges(fieldsOf(before), fieldsOf(presented.caps));
      return { reply: jsonReply(presented), changes };
    },
  });
}

function fieldsOf(caps: ReturnType<typeof presentKey>['caps']) {
  const { models = [], ...all } = caps ?? {};
  return { ...all, ...Object.fromEntries(models.map(({ model, ...own }) => [`models.${model}`, own])) };
}

import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { configVersionSchema, presentConfigVersion } from '../presenters/config-draft.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function listConfigVersions({ drafts }: Pick<RouteDeps, 'drafts'>): Route {
  return adminRoute({
    operationId: 'listConfigVersions',
    access: 'read',
    isShownWhole: true,
    summary: 'List the versions of the configuration',
    description: 'Lists the active version and the 100 before it, newest first.',
    method: 'get',
    paths: ['/admin/v1/config/versions'],
    input: z.object({}),
    success: {
      description: 'The versions, without their texts.',
      schema: z.object({ object: z.literal('list'), data: z.array(configVersionSchema) }),
    },
    async handle() {
      const versions = await drafts.versions();
      return jsonReply({ object: 'list', data: versions.map(presentConfigVersion) });
    },
  });
}

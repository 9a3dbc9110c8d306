import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { invalidParameter } from '../../errors/errors.ts';
import { fileIdPattern } from '../../base/ids.ts';
import { pageSize } from '../admin-input.ts';
import type { FileRouteDeps } from '../files/own-file.ts';
import { fileListSchema, presentFile } from '../presenters/file.ts';
import { presentOwnPage } from '../presenters/list.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

export function listFiles({ files }: Pick<FileRouteDeps, 'files'>): Route {
  return keyRoute({
    operationId: 'listFiles',
    scope: 'read_own',
    summary: 'List stored files, newest first',
    tag: 'Files',
    method: 'get',
    paths: ['/v1/files'],
    input: z.object({
      query: z.object({
        limit: pageSize,
        after: z.string().optional().meta({
          description: 'The last id of the previous page, even if that file has since been deleted.',
        }),
      }),
    }),
    success: { description: 'One page.', schema: fileListSchema },
    async handle({ query: { limit, after }, reach }) {
      if (after !== undefined && !fileIdPattern.test(after))
        throw invalidParameter('after', 'The parameter after must be the id of a file.');
      const page = await files.list(reach, { limit, ...defined({ after }) });
      return jsonReply(presentOwnPage(page.files.map(presentFile), page.hasMore));
    },
  });
}

import { z } from 'zod';
import { fileParams, findOwnFile, type FileRouteDeps } from '../files/own-file.ts';
import { fileSchema, presentFile } from '../presenters/file.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

export function getFile({ files }: Pick<FileRouteDeps, 'files'>): Route {
  return keyRoute({
    operationId: 'getFile',
    scope: 'read_own',
    summary: 'Describe a stored file',
    tag: 'Files',
    method: 'get',
    paths: ['/v1/files/:file_id'],
    input: z.object({ params: fileParams }),
    success: { description: 'The file.', schema: fileSchema },
    errors: ['file_not_found'],
    handle: async ({ params, reach }) =>
      jsonReply(presentFile(await findOwnFile(files, params.file_id, reach))),
  });
}

import { z } from 'zod';
import { isFromReplicate } from '../dialects/index.ts';
import { fileParams, findOwnFile, type FileRouteDeps } from '../files/own-file.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

export function deleteFile({ files }: Pick<FileRouteDeps, 'files'>): Route {
  return keyRoute({
    operationId: 'deleteFile',
    scope: 'create',
    summary: 'Delete a stored file',
    description:
      'Links to the file stop working immediately. A task that uses the file may fail if it has not been sent to its upstream yet. The file no longer counts toward the storage quota.',
    tag: 'Files',
    method: 'delete',
    paths: ['/v1/files/:file_id'],
    input: z.object({ params: fileParams }),
    success: {
      description: 'The file is deleted.',
      schema: z.object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) }),
    },
    otherAnswers: {
      204: {
        description: 'The file is deleted. Clients of the predictions API expect this status.',
        mediaType: 'none',
      },
    },
    errors: ['file_not_found'],
    async handle({ params, reach, meta }) {
      const file = await findOwnFile(files, params.file_id, reach);
      await files.remove(file);
      if (isFromReplicate(meta)) return { status: 204, headers: {}, mediaType: 'application/json' };
      return jsonReply({ id: file.id, object: 'file', deleted: true });
    },
  });
}

import { z } from 'zod';
import { fileNotFound, fileParams, findOwnFile, type FileRouteDeps } from '../files/own-file.ts';
import { keyRoute, type Route } from '../route.ts';
import { fileAnswers, replyWithFile } from '../stored-file.ts';

export function getFileContent({ files, storage }: Pick<FileRouteDeps, 'files' | 'storage'>): Route {
  return keyRoute({
    operationId: 'getFileContent',
    scope: 'read_own',
    summary: 'Fetch the bytes of a stored file',
    description: 'Supports range requests and `if-none-match`.',
    tag: 'Files',
    method: 'get',
    reads: 'one',
    paths: ['/v1/files/:file_id/content'],
    input: z.object({ params: fileParams }),
    ...fileAnswers,
    errors: ['file_not_found'],
    async handle({ params, reach, meta }) {
      const { id, name, media } = await findOwnFile(files, params.file_id, reach);
      const asked = { key: `${id}/${name}`, mediaType: media.mediaType, maxAge: 0 };
      const reply = await replyWithFile(asked, meta, storage);
      if (reply === undefined) throw fileNotFound();
      return reply;
    },
  });
}

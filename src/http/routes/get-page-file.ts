import { z } from 'zod';
import type { PageFiles } from '../pages/page-files.ts';
import { pageReply } from '../pages/page-reply.ts';
import { openRoute, type Route } from '../route.ts';

export function getPageFile(files: PageFiles): Route {
  return openRoute({
    operationId: 'getPageFile',
    summary: 'Fetch a file that a gateway page needs',
    description:
      'The pages refer to these files. If the URL contains another version, the response is the current file and must not be cached.',
    tag: 'Service',
    method: 'get',
    paths: ['/pages/:version/:folder/:name'],
    input: z.object({ params: z.object({ version: z.string(), folder: z.string(), name: z.string() }) }),
    headers: z.object({ 'if-none-match': z.string().optional() }),
    success: { description: 'The file.', mediaType: ['text/javascript', 'text/css', 'image/svg+xml'] },
    otherAnswers: {
      304: { description: 'The version in `if-none-match` is still current.', mediaType: 'none' },
    },
    errors: ['route_not_found'],
    prepare() {
      for (const name of files.names) files.find(name);
    },
    handle({ params: { version, folder, name }, meta }) {
      const isVersioned = version === files.version;
      return pageReply(files.find(`${folder}/${name}`), { meta, isVersioned });
    },
  });
}

import { z } from 'zod';
import { openRoute } from '../route.ts';
import type { Route } from '../route.ts';
import type { PageFiles } from './page-files.ts';
import { pageReply } from './page-reply.ts';

/** Fields that the declarations of all pages share. */
export const pageOperation = {
  tag: 'Service',
  method: 'get',
  headers: z.object({ 'if-none-match': z.string().optional() }),
  success: { description: 'The page.', mediaType: 'text/html' },
  otherAnswers: {
    304: { description: 'The copy of `if-none-match` is current.', mediaType: 'none' },
    308: { description: 'The page has no slash at its end.', mediaType: 'none' },
  },
} as const;

interface Page extends Pick<Route, 'operationId' | 'summary' | 'description'> {
  readonly path: string;
  /** As in `PageFiles.find`. */
  readonly name: string;
  readonly policy: string;
}

/** A page that everybody may open. */
export function pageRoute({ path, name, policy, ...about }: Page, files: PageFiles): Route {
  return openRoute({
    ...pageOperation,
    ...about,
    paths: [path],
    input: z.object({}),
    handle: ({ meta }) => Promise.resolve(pageReply(files, name, { meta, policy, isVersioned: false })),
  });
}

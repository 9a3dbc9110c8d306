import { z } from 'zod';
import { guideNames } from '../pages/guides.ts';
import { pageOperation, pagePolicy, pageReply } from '../pages/page-reply.ts';
import type { PageFiles } from '../pages/page-files.ts';
import { openRoute, type Route } from '../route.ts';

export function getGuide(files: PageFiles): Route {
  const policy = pagePolicy();
  return openRoute({
    ...pageOperation,
    operationId: 'getGuide',
    summary: 'Read a guide in a browser',
    paths: ['/docs/:guide'],
    input: z.object({
      params: z.object({ guide: z.string().meta({ description: `One of ${guideNames.join(', ')}.` }) }),
    }),
    errors: ['route_not_found'],
    handle({ params: { guide }, meta }) {
      const name = guideNames.find((known) => known === guide) ?? '';
      return pageReply(files.find(`docs/${name}.html`), { meta, policy });
    },
  });
}

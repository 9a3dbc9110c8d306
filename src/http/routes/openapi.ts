import { z } from 'zod';
import { etagOf, matchesEtag } from '../etag.ts';
import { createDocument } from '../openapi.ts';
import { notModified, openRoute, partsReply } from '../route.ts';
import type { Route } from '../route.ts';

/** Describes `routes`, and itself. Written once, however often it is asked for. */
export function openapi(routes: () => readonly Route[]): Route {
  let written: ReturnType<typeof write> | undefined;
  const document = () => (written ??= write(routes()));
  return openRoute({
    operationId: 'openapi',
    summary: 'This document',
    tag: 'Service',
    method: 'get',
    paths: ['/openapi.json'],
    input: z.object({}),
    success: { description: 'OpenAPI 3.1.' },
    prepare: document,
    handle({ meta }) {
      const { bytes, headers } = document();
      const isKnown = matchesEtag(meta.header('if-none-match'), headers.etag);
      return isKnown ? notModified(headers) : partsReply(bytes, headers);
    },
  });
}

function write(routes: readonly Route[]) {
  const text = JSON.stringify(createDocument(routes));
  return { bytes: Buffer.from(text), headers: { etag: etagOf(text) } };
}

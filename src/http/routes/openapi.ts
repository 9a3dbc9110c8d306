import { z } from 'zod';
import { etagOf, matchesEtag } from '../etag.ts';
import { createDocument } from '../openapi.ts';
import { notModified, openRoute, partsReply } from '../route.ts';
import type { Route } from '../route.ts';

/** Describes `routes`, and itself. Written once, however often it is asked for. */
export function openapi(routes: () => readonly Route[]): Route {
  let written: { readonly bytes: Buffer; readonly headers: { readonly etag: string } } | undefined;
  return openRoute({
    operationId: 'openapi',
    summary: 'This document',
    tag: 'Service',
    method: 'get',
    paths: ['/openapi.json'],
    input: z.object({}),
    success: { description: 'OpenAPI 3.1.' },
    errors: [],
    handle({ meta }) {
      written ??= write(routes());
      const { bytes, headers } = written;
      const isKnown = matchesEtag(meta.header('if-none-match'), headers.etag);
      return Promise.resolve(isKnown ? notModified(headers) : partsReply([bytes], headers));
    },
  });
}

function write(routes: readonly Route[]) {
  const text = JSON.stringify(createDocument(routes));
  return { bytes: Buffer.from(text), headers: { etag: etagOf(text) } };
}

import { z } from 'zod';
import { etagOf, matchesEtag } from '../etag.ts';
import type { OpenApiDocument } from '../openapi-schemas.ts';
import { notModified, openRoute, partsReply, type Route } from '../route.ts';

export function openapi(document: () => OpenApiDocument): Route {
  let written: ReturnType<typeof write> | undefined;
  const text = () => (written ??= write(document()));
  return openRoute({
    operationId: 'openapi',
    summary: 'Get this document',
    tag: 'Service',
    method: 'get',
    paths: ['/openapi.json'],
    input: z.object({}),
    success: { description: 'OpenAPI 3.1.' },
    prepare: text,
    handle({ meta }) {
      const { bytes, headers } = text();
      const isKnown = matchesEtag(meta.header('if-none-match'), headers.etag);
      return isKnown ? notModified(headers) : partsReply(bytes, headers);
    },
  });
}

function write(document: OpenApiDocument) {
  const text = JSON.stringify(document);
  return { bytes: Buffer.from(text), headers: { etag: etagOf(text) } };
}

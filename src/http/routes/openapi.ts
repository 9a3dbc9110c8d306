import { z } from 'zod';
import { createDocument } from '../openapi.ts';
import { openRoute, textReply } from '../route.ts';
import type { Route } from '../route.ts';

/** Describes `routes`, and itself. */
export function openapi(routes: () => readonly Route[]): Route {
  let text: string | undefined;
  return openRoute({
    operationId: 'openapi',
    summary: 'This document',
    tag: 'Service',
    method: 'get',
    paths: ['/openapi.json'],
    input: z.object({}),
    success: { description: 'OpenAPI 3.1.' },
    errors: [],
    async handle() {
      text ??= JSON.stringify(createDocument(routes()));
      return textReply(text, 'application/json; charset=utf-8');
    },
  });
}

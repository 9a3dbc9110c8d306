import type { ServerResponse } from 'node:http';
import type { GatewayApp } from '../../src/http/app.ts';
import { GatewayError, type ErrorCode } from '../../src/errors/errors.ts';
import { errorCodesOf } from '../../src/http/openapi.ts';
import type { Route } from '../../src/http/route.ts';

export interface WatchedApp {
  readonly app: GatewayApp;
  readonly undeclared: ReadonlySet<string>;
}

export function watchErrorCodes(app: GatewayApp, logLines: readonly string[]): WatchedApp {
  const declared = new Map(
    app.routes.map((route) => [
      route.operationId,
      new Set(errorCodesOf(route).map((code) => codeIn(route, code))),
    ]),
  );
  const undeclared = new Set<string>();
  const look = (response: ServerResponse, body: unknown): void => {
    const code = codeOf(body);
    if (response.statusCode < 400 || code === undefined) return;
    const operation = operationOf(String(response.getHeader('x-request-id')), logLines);
    if (declared.get(operation)?.has(code) === false) undeclared.add(`${operation}: ${code}`);
  };
  return {
    undeclared,
    app: {
      ...app,
      callback() {
        const handle = app.callback();
        return (request, response) => {
          const end = response.end.bind(response) as (...parts: unknown[]) => ServerResponse;
          response.end = (...parts: unknown[]) => {
            look(response, parts[0]);
            return end(...parts);
          };
          handle(request, response);
        };
      },
    },
  };
}

function codeIn({ dialect }: Route, code: ErrorCode): string | undefined {
  const { errors } = dialect ?? {};
  return errors === undefined ? code : codeOf(JSON.stringify(errors.present(new GatewayError(code, ''))));
}

function operationOf(requestId: string, logLines: readonly string[]): string {
  const quoted = JSON.stringify(requestId);
  const line = logLines.findLast((text) => text.includes(quoted) && text.includes('"status":'));
  const { operation = '' }: { operation?: string } = line === undefined ? {} : JSON.parse(line);
  return operation;
}

function codeOf(body: unknown): string | undefined {
  if (typeof body !== 'string' || !body.startsWith('{"error":')) return undefined;
  const { error }: { error: { code: string | number } } = JSON.parse(body);
  return String(error.code);
}

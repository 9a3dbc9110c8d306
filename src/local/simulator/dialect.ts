import type { Desk } from './desk.ts';
import { bearerToken, WireError } from './wire.ts';
import type { Reply, WireRequest } from './wire.ts';
import type { World } from './world.ts';

/** A provider's wire format: everything below `prefix` is its own. */
export interface Dialect {
  readonly name: string;
  readonly prefix: string;
  handle(request: WireRequest): Promise<Reply>;
}

export type CreateDialect = (world: World) => Dialect;

/** One request that a route accepted; `id` is the value of `:id` in the route, decoded; '' where it has none. */
export interface Call {
  readonly request: WireRequest;
  readonly id: string;
}

/** What a dialect declares; the rest is the same for all. */
export interface WireFormat {
  readonly prefix: string;
  /** `GET /tasks/:id` → what answers it. A handler may throw a WireError wherever it notices one. */
  readonly routes: Readonly<Record<string, (call: Call) => Reply | Promise<Reply>>>;
  /** The answer to a method and path that the vendor does not have. */
  readonly noSuchRoute: (request: WireRequest) => WireError;
  /** Where the caller's key stands; `Authorization: Bearer`, when absent. */
  readonly keyOf?: (request: WireRequest) => string | undefined;
  /** Headers that every answer carries. */
  readonly headersOf?: (reply: { readonly status: number }, elapsedMs: number) => Record<string, string>;
}

/** Authenticates, finds the route, and answers a refusal in the dialect's own words. */
export function createDialect(desk: Desk, format: WireFormat): Dialect {
  const { prefix, keyOf = bearerToken, headersOf, noSuchRoute } = format;
  const routes = Object.entries(format.routes).map(([route, handle]) => ({
    pattern: new RegExp(`^${route.replaceAll('.', String.raw`\.`).replace(':id', '([^/]+)')}$`),
    handle,
  }));

  async function answer(request: WireRequest): Promise<Reply> {
    try {
      if (!desk.world.accepts(keyOf(request))) return desk.problems('unauthorized');
      for (const { pattern, handle } of isDecodable(request.path) ? routes : []) {
        const match = pattern.exec(`${request.method} ${request.path}`);
        if (match !== null) return await handle({ request, id: decodeURIComponent(match[1] ?? '') });
      }
      return noSuchRoute(request).reply(desk.world.now());
    } catch (error) {
      if (error instanceof WireError) return error.reply(desk.world.now());
      throw error;
    }
  }

  return {
    name: desk.name,
    prefix,
    async handle(request) {
      const begin = performance.now();
      const reply = await answer(request);
      if (headersOf === undefined || reply.kind === 'drop') return reply;
      return { ...reply, headers: { ...headersOf(reply, performance.now() - begin), ...reply.headers } };
    },
  };
}

/** A path with a percent sign that begins no byte names nothing that a vendor has. */
function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

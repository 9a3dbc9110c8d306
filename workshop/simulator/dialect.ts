import { Desk, type Format } from './desk.ts';
import type { Rendered } from './job.ts';
import { bearerToken, WireError, type Reply, type WireRequest } from './wire.ts';
import type { World } from './world.ts';

export interface Dialect {
  readonly name: string;
  readonly prefix: string;
  handle(request: WireRequest): Promise<Reply>;
}

export type CreateDialect = (world: World) => Dialect;

export function dialect<Detail extends Rendered>(format: Format<Detail>): CreateDialect {
  const { name, prefix, problems, keyOf = bearerToken, finish = (reply) => reply } = format;
  const noSuchRoute = format.noSuchRoute ?? (() => problems['not-found']);
  return (world) => {
    const desk = new Desk(world, format);
    const routes = Object.entries(format.routes(desk)).map(([route, handle]) => ({
      pattern: new RegExp(`^${route.replaceAll('.', String.raw`\.`).replace(':id', '([^/]+)')}$`),
      handle,
    }));
    const answer = async (request: WireRequest): Promise<Reply> => {
      try {
        if (!world.accepts(keyOf(request, world))) return desk.problem('unauthorized');
        for (const { pattern, handle } of isDecodable(request.path) ? routes : []) {
          const match = pattern.exec(`${request.method} ${request.path}`);
          if (match !== null) return await handle({ request, id: decodeURIComponent(match[1] ?? '') });
        }
        return noSuchRoute(request).reply(world.now());
      } catch (error) {
        if (error instanceof WireError) return error.reply(world.now());
        throw error;
      }
    };
    return { name, prefix, handle: async (request) => finish(await answer(request)) };
  };
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

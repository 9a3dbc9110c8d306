import { randomBytes } from 'node:crypto';
import { bearerToken, empty, json, readForm } from '../engine.ts';
import type { Call, Desk, Rendered, Reply, WireRequest } from '../engine.ts';
import type { WireError } from '../wire.ts';
import type { World } from '../world.ts';

/** Replicate's files. The account's predictions can refer to a file by `urls.get` until it expires. */

interface StoredFile {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly size: number;
  readonly type: string;
  readonly createdAt: number;
}

const lifetimeMs = 86_400_000;
const shelves = new WeakMap<World, Map<string, StoredFile>>();

function shelfOf(world: World): Map<string, StoredFile> {
  const shelf = shelves.get(world) ?? new Map<string, StoredFile>();
  shelves.set(world, shelf);
  return shelf;
}

function find(world: World, request: WireRequest, id: string): StoredFile | undefined {
  const file = shelfOf(world).get(id);
  const isOurs = file !== undefined && file.owner === bearerToken(request);
  return isOurs && file.createdAt + lifetimeMs > world.now() ? file : undefined;
}

export function isKnownFile(world: World, request: WireRequest, url: string): boolean {
  const prefix = addressOf(world, '');
  return !url.startsWith(prefix) || find(world, request, url.slice(prefix.length)) !== undefined;
}

interface FileRefusals {
  readonly notFound: WireError;
  readonly noContent: WireError;
}

export function fileRoutesOf<Detail extends Rendered>(
  desk: Desk<Detail>,
  { notFound, noContent }: FileRefusals,
) {
  const { world } = desk;
  const answer = (call: Call, act: () => Reply) => desk.about('media', call, act, act);
  return {
    async 'POST /files'(call: Call): Promise<Reply> {
      const { request } = call;
      const content = (await readForm(request))?.get('content');
      if (content === null || content === undefined || typeof content === 'string') throw noContent;
      return answer(call, () => {
        const id = randomBytes(20).toString('base64url');
        const { name, size, type } = content;
        const owner = bearerToken(request) ?? '';
        const file = { id, owner, name, size, type, createdAt: world.now() };
        shelfOf(world).set(id, file);
        return json(201, present(world, file));
      });
    },
    'GET /files': (call: Call) =>
      answer(call, () => {
        const files = [...shelfOf(world).values()].filter(({ id }) => find(world, call.request, id));
        return json(200, { next: null, previous: null, results: files.map((file) => present(world, file)) });
      }),
    'GET /files/:id': (call: Call) =>
      answer(call, () => {
        const file = find(world, call.request, call.id);
        if (file === undefined) throw notFound;
        return json(200, present(world, file));
      }),
    'DELETE /files/:id': (call: Call) =>
      answer(call, () => {
        if (find(world, call.request, call.id) === undefined) throw notFound;
        shelfOf(world).delete(call.id);
        return empty(204);
      }),
  };
}

function addressOf(world: World, id: string): string {
  return `${world.parts.origin}/replicate/v1/files/${id}`;
}

function present(world: World, { id, name, size, type, createdAt }: StoredFile): object {
  return {
    id,
    name,
    content_type: type,
    size,
    etag: id,
    checksums: {},
    metadata: {},
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(createdAt + lifetimeMs).toISOString(),
    urls: { get: addressOf(world, id) },
  };
}

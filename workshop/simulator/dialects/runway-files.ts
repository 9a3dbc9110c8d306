import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { bearerToken, check, empty, json, parseJson, readForm } from '../engine.ts';
import type { Call, Desk, Mistake, Rendered, Reply, WireRequest } from '../engine.ts';
import type { WireError } from '../wire.ts';
import type { World } from '../world.ts';

/**
 * Runway's ephemeral uploads. The API issues an upload slot, and the caller sends the file to a storage service. For
 * one day, requests can refer to the file by its `runway://…` URI.
 */

interface Slot {
  readonly owner: string;
  readonly policy: string;
  readonly createdAt: number;
  size?: number;
}

const lifetimeMs = 86_400_000;
const bytesMin = 512;
const shelves = new WeakMap<World, Map<string, Slot>>();

function shelfOf(world: World): Map<string, Slot> {
  const shelf = shelves.get(world) ?? new Map<string, Slot>();
  shelves.set(world, shelf);
  return shelf;
}

const storagePath = /^\/storage\/([\w-]+)$/;

/**
 * The storage service recognises an upload by the form fields of its slot. It rejects requests that contain the
 * account's key.
 */
export function uploadKeyOf(request: WireRequest, world: World): string | undefined {
  const [, id] = storagePath.exec(request.path) ?? [];
  if (id === undefined) return bearerToken(request);
  return request.headers.authorization === undefined ? shelfOf(world).get(id)?.owner : undefined;
}

const uriPattern = /runway:\/\/([\w-]+)/g;

export function areKnownUploads(world: World, request: WireRequest): boolean {
  const named = [...request.body.toString('utf8').matchAll(uriPattern)];
  return named.every(([, id = '']) => {
    const slot = shelfOf(world).get(id);
    const isThere = slot?.size !== undefined && slot.createdAt + lifetimeMs > world.now();
    return isThere && slot.owner === bearerToken(request);
  });
}

const uploadBody = z.strictObject({
  filename: z.string().regex(/\.\w+$/, 'must have an extension'),
  type: z.literal('ephemeral'),
});

/**
 * `give` issues a slot. It requires the API key and version. `store` requires the form fields that were issued with the
 * slot.
 */
export function uploadRoutesOf<Detail extends Rendered>(
  desk: Desk<Detail>,
  { mistake, refused }: { readonly mistake: (mistake: Mistake) => WireError; readonly refused: WireError },
) {
  const { world } = desk;
  const answer = (call: Call, act: () => Reply) => desk.about('media', call, act, act);
  return {
    give: (call: Call) =>
      answer(call, () => {
        check(uploadBody, parseJson(call.request.body), mistake);
        const [id, policy] = [randomUUID(), randomUUID()];
        const owner = bearerToken(call.request) ?? '';
        shelfOf(world).set(id, { owner, policy, createdAt: world.now() });
        const uploadUrl = `${world.parts.origin}/runway/storage/${id}`;
        return json(200, { uploadUrl, fields: { key: id, policy }, runwayUri: `runway://${id}` });
      }),
    store: async (call: Call): Promise<Reply> => {
      const form = await readForm(call.request);
      const file = form?.get('file') ?? '';
      const slot = shelfOf(world).get(call.id);
      const isAllowed = form?.get('key') === call.id && form.get('policy') === slot?.policy;
      if (slot === undefined || !isAllowed || typeof file === 'string' || file.size < bytesMin) throw refused;
      return answer(call, () => {
        slot.size = file.size;
        return empty(204);
      });
    },
  };
}

import { createPlaces, type Places } from '../base/places.ts';
import { isMade, type Identity, type Made, type RawRequest, type Reply, type Route } from './route.ts';

/** A process has 50 connections to MongoDB, so only this many requests may read many documents at the same time. */
export const listsReadMax = { name: 'lists read', placesMax: 16, shareMax: 4 } as const;

/**
 * A route that reads many documents waits for a slot. Accounts and operators share the slots fairly. A streamed reply
 * occupies a slot only while it reads a part, so that slow clients do not block others.
 */
export function createReadInTurn(): (route: Route) => Route {
  const places = createPlaces(listsReadMax);
  return (route) => {
    if (!readsMany(route)) return route;
    const run: Route['run'] = async (request, identity) => {
      const inTurn = turnsOf(places, { request, identity });
      const reply = (await inTurn(() => route.run(request, identity))) ?? unreadReply;
      return isMade(reply.body) ? { ...reply, body: madeInTurn(reply.body, inTurn) } : reply;
    };
    return { ...route, run };
  };
}

export function readsMany({ reads, method, authentication }: Route): boolean {
  return authentication !== 'none' && (reads ?? (method === 'get' ? 'many' : 'one')) === 'many';
}

/** Resolves to undefined if the caller disconnects before a slot is free. */
type InTurn = <Result>(read: () => Promise<Result>) => Promise<Result | undefined>;

const unreadReply: Reply = { status: 204, headers: {}, mediaType: '' };

interface Called {
  readonly request: RawRequest;
  readonly identity: Identity;
}

function turnsOf(places: Places, { request, identity }: Called): InTurn {
  const holder = holderOf(identity);
  const closed = request.meta.closed();
  return (read) => places.run(holder, read, closed);
}

function holderOf(identity: Identity): string {
  if (identity.kind === 'none') return '';
  return identity.kind === 'key' ? identity.caller.account : `operator ${identity.operator}`;
}

async function* madeInTurn(parts: Made, inTurn: InTurn): AsyncIterable<string> {
  const made = parts[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await inTurn(() => made.next());
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    await made.return?.();
  }
}

import type { Call } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import { json } from '../wire.ts';
import type { Reply } from '../wire.ts';
import { FalError } from './fal-error.ts';
import { outputOf, stateOf, unitsOf } from './fal-task.ts';
import type { FalDesk, FalTask } from './fal-task.ts';

/** The platform: the list of requests, and what they cost. */

const dayMs = 86_400_000;
const endpointsMax = 50;
const pageMax = 100;

export function listRequests(desk: FalDesk, call: Call): Promise<Reply> {
  const { world } = desk;
  const { query } = call.request;
  const now = world.now();
  const endpoints = new Set(query.getAll('endpoint_id').flatMap((names) => names.split(',')));
  if (endpoints.size === 0) throw new FalError(422, 'field required', 'missing', ['query', 'endpoint_id']);
  const limit = Number(query.get('limit') ?? 50);
  if (endpoints.size > endpointsMax || !(limit >= 1 && limit <= pageMax))
    throw new FalError(422, 'value is out of range', 'value_error', ['query', 'limit']);
  const id = query.get('request_id');
  const from = timeOf(query.get('start')) ?? now - (id === null ? 1 : 90) * dayMs;
  const to = timeOf(query.get('end')) ?? Number.POSITIVE_INFINITY;
  const status = query.get('status');
  const matching = desk.newestFirst().filter((task) => {
    const isListed = endpoints.has(task.model) && (id === null || task.id === id);
    if (!isListed || task.createdAt < from || task.createdAt > to || desk.find(task.id) === undefined)
      return false;
    const state = stateOf(task, now);
    // Whether what waits is listed is not verified: it is, or with docs-shape it is not.
    if (state.word === 'IN_QUEUE' && FaultSet.of(task.faults).has('docs-shape')) return false;
    return status === null || (state.isEnded && statusWord(state.error) === status);
  });
  const begin = Number(query.get('cursor') ?? 0);
  const page = matching.slice(begin, begin + limit);
  const has_more = matching.length > begin + limit;
  const expands = query.get('expand') === 'payloads';
  return desk.list(call, [], () =>
    json(200, {
      items: page.map((task) => presentItem(task, desk, expands)),
      next_cursor: has_more ? String(begin + limit) : null,
      has_more,
    }),
  );
}

function statusWord(error: FalError | undefined): string {
  if (error === undefined) return 'success';
  return error.status >= 500 ? 'error' : 'user_error';
}

function timeOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new FalError(422, 'invalid datetime', 'value_error', ['query', 'start']);
  return time;
}

function presentItem(task: FalTask, { world }: FalDesk, expands: boolean): object {
  const { id, model, createdAt, queueMs, detail } = task;
  const state = stateOf(task, world.now());
  const time = (at: number) => new Date(at).toISOString();
  const ended = state.isEnded
    ? {
        ended_at: time(state.since),
        status_code: state.error?.status ?? 200,
        duration: (state.since - createdAt) / 1000,
      }
    : {};
  const output = state.error?.body ?? (state.isEnded ? outputOf(task, world, state.since) : undefined);
  const payloads = { json_input: detail.input, ...(output === undefined ? {} : { json_output: output }) };
  return {
    request_id: id,
    endpoint_id: model,
    sent_at: time(createdAt),
    started_at: state.word === 'IN_QUEUE' ? null : time(createdAt + queueMs),
    ...ended,
    ...(expands && detail.isStored ? payloads : {}),
  };
}

/** For the administrator of an account only: a key with that word in it. */
export function listBilling(desk: FalDesk, call: Call): Promise<Reply> {
  if (!/admin/.test(call.request.headers.authorization ?? '')) throw new FalError(403, 'Access denied');
  const id = call.request.query.get('request_id') ?? '';
  const task = desk.find(id);
  const isBilled = task !== undefined && stateOf(task, desk.world.now()).isEnded;
  return desk.list(call, [], () =>
    json(200, {
      billing_events: isBilled
        ? [{ request_id: id, output_units: Number(unitsOf(task)), unit_price: 1 }]
        : [],
    }),
  );
}

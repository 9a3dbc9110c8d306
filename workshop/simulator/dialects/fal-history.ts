import { json, type Call, type Refusal, type Reply } from '../engine.ts';
import { falBody, falError, outputOf, stateOf, type FalDesk, type FalJob } from './fal-task.ts';

const dayMs = 86_400_000;
const endpointsMax = 50;
const pageMax = 100;

export function listRequests(desk: FalDesk, call: Call): Promise<Reply> {
  const { query } = call.request;
  const now = desk.world.now();
  const endpoints = new Set(query.getAll('endpoint_id').flatMap((names) => names.split(',')));
  if (endpoints.size === 0) throw falError(422, 'missing', 'field required', 'query.endpoint_id');
  const limit = Number(query.get('limit') ?? 50);
  if (endpoints.size > endpointsMax || !(limit >= 1 && limit <= pageMax))
    throw falError(422, 'value_error', 'value is out of range', 'query.limit');
  const id = query.get('request_id');
  const from = timeOf(query.get('start')) ?? now - (id === null ? 1 : 90) * dayMs;
  const to = timeOf(query.get('end')) ?? Number.POSITIVE_INFINITY;
  const status = query.get('status');
  const matching = desk.newestFirst().filter((job) => {
    const { task } = job;
    const isListed = endpoints.has(task.model) && (id === null || task.id === id);
    if (!isListed || task.createdAt < from || task.createdAt > to) return false;
    const state = stateOf(job);
    // We have not verified whether the vendor lists waiting requests. The simulator lists them, except with
    // `docs-shape`.
    if (state.word === 'IN_QUEUE' && job.faults.has('docs-shape')) return false;
    return status === null || (state.isEnded && statusWord(state.error) === status);
  });
  const begin = Number(query.get('cursor') ?? 0);
  const page = matching.slice(begin, begin + limit);
  const has_more = matching.length > begin + limit;
  const items = page.map((job) => presentItem(job, query.get('expand') === 'payloads'));
  const next_cursor = has_more ? String(begin + limit) : null;
  return desk.list(call, [], () => json(200, { items, next_cursor, has_more }));
}

function statusWord(error: Refusal | undefined): string {
  if (error === undefined) return 'success';
  return error.status >= 500 ? 'error' : 'user_error';
}

function timeOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw falError(422, 'value_error', 'invalid datetime', 'query.start');
  return time;
}

function presentItem(job: FalJob, expands: boolean): object {
  const { id, model, createdAt, queueMs, detail } = job.task;
  const { word, isEnded, since, error } = stateOf(job);
  const time = (at: number) => new Date(at).toISOString();
  const ended = {
    ended_at: time(since),
    status_code: error?.status ?? 200,
    duration: (since - createdAt) / 1000,
  };
  const output = error !== undefined ? falBody(error) : isEnded ? outputOf(job, since) : undefined;
  return {
    request_id: id,
    endpoint_id: model,
    sent_at: time(createdAt),
    started_at: word === 'IN_QUEUE' ? null : time(createdAt + queueMs),
    ...(isEnded ? ended : {}),
    ...(expands ? { json_input: detail.input, json_output: output } : {}),
  };
}

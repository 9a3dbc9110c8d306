import { randomBytes } from 'node:crypto';
import type { ProblemReplies } from '../disturb.ts';
import { FaultSet } from '../fault.ts';
import { momentOf } from '../task.ts';
import type { TaskStore } from '../task-store.ts';
import { bytes, json } from '../wire.ts';
import type { Reply, WireRequest } from '../wire.ts';
import type { Dialect, World } from '../world.ts';
import { NewApiError, newApiErrorReply, newApiProblems } from './new-api-error.ts';
import { checkBody, newApiDetail, readBody, settleVideo } from './new-api-request.ts';
import type { NewApiDetail } from './new-api-request.ts';
import { mediumOf, presentSubmit, presentTask, presentVideo, urlOf } from './new-api-task.ts';
import type { NewApiTask } from './new-api-task.ts';
import { OpenAiError, openAiErrorReply } from './openai-error.ts';
import { createImage } from './openai-images.ts';

const name = 'new-api';
const taskTimeoutMs = 172_800_000;
const recordKeptMs = 30 * 86_400_000;
const idBytes = 24;

/** Another gateway, new-api style: videos in two dialects, images in OpenAI's (providers.md 3). */
export function createNewApiDialect(world: World): Dialect {
  const store = world.store(name, newApiDetail, recordKeptMs);
  const context: Context = { world, store, problems: (problem) => newApiErrorReply(newApiProblems[problem]) };
  return {
    name,
    prefix: '/new-api',
    async handle(request) {
      try {
        return await route(context, request);
      } catch (error) {
        if (error instanceof NewApiError) return newApiErrorReply(error);
        if (error instanceof OpenAiError) return openAiErrorReply(error);
        throw error;
      }
    },
  };
}

interface Context {
  readonly world: World;
  readonly store: TaskStore<NewApiDetail>;
  readonly problems: ProblemReplies;
}

function route(context: Context, request: WireRequest): Promise<Reply> {
  const { world, problems } = context;
  if (!world.isAuthorised(request)) throw newApiProblems.unauthorized;
  const { method, path } = request;
  if (method === 'POST' && (path === '/v1/video/generations' || path === '/v1/videos'))
    return submit(context, request);
  if (method === 'POST' && path === '/v1/images/generations')
    return createImage(world, name, request, { kind: 'generations', problems });
  if (method === 'POST' && path === '/v1/images/edits')
    return createImage(world, name, request, { kind: 'edits', problems });
  const [, family, id = '', action] =
    /^\/v1\/(video\/generations|videos)\/([\w-]+)(?:\/(\w+))?$/.exec(path) ?? [];
  if (method === 'GET' && family !== undefined && action === undefined) {
    return poll(context, request, { id, present: family === 'videos' ? presentVideo : presentTask });
  }
  if (method === 'GET' && family === 'videos' && action === 'content') return content(context, request, id);
  if (method === 'POST' && family === 'videos' && action === 'remix') return submit(context, request, id);
  throw new OpenAiError(404, { message: `Invalid URL (${method} ${path})` });
}

function submit({ world, store, problems }: Context, request: WireRequest, remixed?: string): Promise<Reply> {
  const source = remixed === undefined ? undefined : store.get(remixed);
  if (remixed !== undefined && source === undefined) throw newApiProblems['not-found'];
  const raw = readBody(request);
  const body = checkBody(source === undefined ? raw : { ...raw, model: source.model });
  const asked = { model: body.model, prompt: body.prompt, texts: [body.prompt], problems };
  return world.create(name, request, asked, ({ model, prompt, faults }) => {
    const task: NewApiTask = {
      id: newId(),
      model,
      prompt,
      ...world.times(faults),
      expiresAfterMs: taskTimeoutMs,
      faults: faults.sources(),
      detail:
        source === undefined
          ? settleVideo(body, model, faults)
          : { ...source.detail, remixedFrom: source.id },
    };
    store.insert(task);
    world.parts.statistics.countPrompt('creates', prompt);
    if (faults.has('ark-shape')) return json(200, { id: task.id });
    return json(200, presentSubmit(task), {
      'x-new-api-other-ratios': JSON.stringify({ seconds: task.detail.seconds }),
    });
  });
}

function poll(
  { world, store, problems }: Context,
  request: WireRequest,
  { id, present }: { id: string; present: (task: NewApiTask, world: World) => Record<string, unknown> },
): Promise<Reply> {
  world.parts.statistics.count('gets');
  const task = visible(world, store.get(id));
  return world.later(
    'poll',
    request,
    { dialect: name, tasks: task === undefined ? [] : [task], problems },
    () => (task === undefined ? problems('not-found') : json(200, present(task, world))),
  );
}

function visible(world: World, task: NewApiTask | undefined): NewApiTask | undefined {
  if (task?.faults === undefined || !FaultSet.of(task.faults).has('vanishes')) return task;
  return momentOf(task, world.now()).phase === 'queued' ? task : undefined;
}

/** The bytes, with the key; or a redirect to them. */
function content({ world, store, problems }: Context, request: WireRequest, id: string): Promise<Reply> {
  world.parts.statistics.count('media');
  const task = visible(world, store.get(id));
  return world.later(
    'media',
    request,
    { dialect: name, tasks: task === undefined ? [] : [task], problems },
    () => {
      if (task === undefined) return problems('not-found');
      const moment = momentOf(task, world.now());
      if (moment.phase !== 'succeeded') throw new OpenAiError(400, { message: 'Task is not completed yet' });
      const faults = FaultSet.of(task.faults);
      if (faults.has('url-403')) return problems('forbidden');
      if (faults.has('content-redirect')) {
        return bytes(302, Buffer.alloc(0), { location: urlOf(task, world, moment, faults) ?? '' });
      }
      return bytes(200, world.parts.media.render(mediumOf(task, faults)), { 'content-type': 'video/mp4' });
    },
  );
}

function newId(): string {
  return `task_${randomBytes(idBytes).toString('base64url').replaceAll(/[-_]/g, '0')}`;
}

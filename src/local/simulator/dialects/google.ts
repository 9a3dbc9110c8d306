import { Desk } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { JobDesk } from '../job-desk.ts';
import { isFinal, momentOf } from '../task.ts';
import { bearerToken } from '../wire.ts';
import type { Reply, WireRequest } from '../wire.ts';
import type { World } from '../world.ts';
import {
  FrontEndError,
  GoogleError,
  googleProblems,
  invalid,
  withRetryInfo,
  wrongKey,
} from './google-error.ts';
import { BlockedPrompt, createImage } from './google-image.ts';
import { googleDetail } from './google-models.ts';
import { omniRoutes } from './google-omni.ts';
import { download, recordKeptMs } from './google-task.ts';
import type { GoogleDesk, GoogleTask } from './google-task.ts';
import { createVideo, fetchVideo, pollVideo } from './google-veo.ts';

/**
 * Google, under three base URLs: `/google/v1beta` is the Gemini API (interactions, Veo, images,
 * files); `/google/v1/projects/P/locations/L/publishers/google` is Vertex (Veo, images), and
 * `/google/v1beta1/projects/P/locations/L` its interactions. Not covered: Imagen, images of interactions, steps of
 * a conversation other than a clip to continue.
 */
export function createGoogleDialect(world: World): Dialect {
  const desk: GoogleDesk = new JobDesk(world, {
    name: 'google',
    problems: googleProblems,
    detail: googleDetail,
    recordKeptMs,
    callbackBody: (task) => event(task, world.now()),
  });
  const images = new Desk(world, 'google', { ...googleProblems, moderated: new BlockedPrompt('') });
  const dialect = createDialect(desk, {
    prefix: '/google',
    keyOf: (request) => keyOf(request, world),
    noSuchRoute: () => new GoogleError([404, 'NOT_FOUND'], 'The requested URL was not found on this server.'),
    routes: {
      ...omniRoutes(desk, '/v1beta/interactions', false),
      ...omniRoutes(desk, `/v1beta1${place}/interactions`, true),
      'POST /v1beta/models/:id': (call) => act({ desk, images }, call, 'gemini'),
      [`POST /v1${place}/publishers/google/models/:id`]: (call: Call) =>
        act({ desk, images }, call, 'vertex'),
      'GET /v1beta/models/[^/]+/operations/:id': (call) => pollVideo(desk, call),
      'GET /v1beta/files/:id': (call) => download(desk, call),
    },
  });
  return { ...dialect, handle: async (request) => withRetryInfo(await dialect.handle(request)) };
}

const place = '/projects/[^/]+/locations/[^/]+';

/** `models/{model}:{verb}` */
function act(
  { desk, images }: { readonly desk: GoogleDesk; readonly images: Desk },
  call: Call,
  api: 'gemini' | 'vertex',
): Promise<Reply> {
  const [model = '', verb] = call.id.split(/:(?=[A-Za-z]+$)/);
  const [, , ...parents] = call.request.path.split('/models/')[0]?.split('/') ?? [];
  if (verb === 'generateContent') return createImage(images, call, model);
  if (verb === 'predictLongRunning') return createVideo(desk, call, { model, api, parents });
  if (verb === 'fetchPredictOperation' && api === 'vertex') return fetchVideo(desk, call);
  throw googleProblems['not-found'];
}

/** Vertex has tokens of its own; the Gemini API takes its key in a header or the query. */
function keyOf(request: WireRequest, world: World): string | undefined {
  if (/^\/v1(?:beta1)?\/projects\//.test(request.path)) {
    const token = bearerToken(request);
    if (world.accepts(token)) return token;
    throw new GoogleError([401, 'UNAUTHENTICATED'], 'Request had invalid authentication credentials.');
  }
  const header = request.headers['x-goog-api-key'];
  const key = (Array.isArray(header) ? header[0] : header) ?? request.query.get('key') ?? undefined;
  if (world.accepts(key)) return key;
  if (key === undefined)
    throw new GoogleError([403, 'PERMISSION_DENIED'], "Method doesn't allow unregistered callers.");
  if (request.path.startsWith('/v1beta/interactions')) throw new FrontEndError(invalid, wrongKey);
  return key;
}

/** Only an end is reported. What stands in an event beside its type is not verified. */
function event(task: GoogleTask, now: number): unknown {
  const { phase } = momentOf(task, now);
  if (!isFinal(phase)) return undefined;
  const { api, name, userMetadata } = task.detail;
  const isDone = phase === 'succeeded';
  const type = api === 'veo' ? 'video.generated' : isDone ? 'interaction.completed' : 'interaction.failed';
  return { type, data: { id: name }, user_metadata: userMetadata };
}

import { bearerToken, dialect, empty, json, type Call, type Reply, type WireRequest } from '../engine.ts';
import type { World } from '../world.ts';
import { createImage } from './google-image.ts';
import { omniRoutes } from './google-omni.ts';
import { googleError, googleProblems, invalidArgument, noKey, wrongKeyAtFront } from './google-task.ts';
import type { GoogleDesk, GoogleDetail, GoogleJob } from './google-task.ts';
import { createVideo, fetchVideo, pollVideo } from './google-veo.ts';

const fileKeptMs = 48 * 3_600_000;

/**
 * Google has three base URLs. `/google/v1beta` is the Gemini API (interactions, Veo, images, files),
 * `/google/v1/projects/P/locations/L/publishers/google` is Vertex (Veo, images), and
 * `/google/v1beta1/projects/P/locations/L` is Vertex's interactions. Imagen, images from interactions, and conversation
 * steps are not supported.
 */
export const google = dialect<GoogleDetail>({
  name: 'google',
  prefix: '/google',
  keptMs: 30 * 86_400_000,
  expiresAfterMs: 86_400_000,
  keyOf,
  mistake: invalidArgument,
  noSuchRoute: () => googleError(404, 'NOT_FOUND', 'The requested URL was not found on this server.'),
  problems: googleProblems,
  finish: withRetryInfo,
  callbackBody: event,
  routes: (desk) => ({
    ...omniRoutes(desk, '/v1beta/interactions', false),
    ...omniRoutes(desk, `/v1beta1${place}/interactions`, true),
    'POST /v1beta/models/:id': (call) => act(desk, call, 'gemini'),
    [`POST /v1${place}/publishers/google/models/:id`]: (call) => act(desk, call, 'vertex'),
    'GET /v1beta/models/[^/]+/operations/:id': (call) => pollVideo(desk, call),
    'GET /v1beta/files/:id': (call) => download(desk, call),
  }),
});

const place = '/projects/[^/]+/locations/[^/]+';

function act(desk: GoogleDesk, call: Call, api: 'gemini' | 'vertex'): Promise<Reply> {
  const [model = '', verb] = call.id.split(/:(?=[A-Za-z]+$)/);
  const [, , ...parents] = call.request.path.split('/models/')[0]?.split('/') ?? [];
  if (verb === 'generateContent') return createImage(desk, call, model);
  if (verb === 'predictLongRunning') return createVideo(desk, call, { model, api, parents });
  if (verb === 'fetchPredictOperation' && api === 'vertex') return fetchVideo(desk, call);
  throw googleProblems['not-found'];
}

/** Vertex has tokens of its own. The Gemini API accepts the key in a header or in the query. */
function keyOf(request: WireRequest, world: World): string | undefined {
  if (/^\/v1(?:beta1)?\/projects\//.test(request.path)) {
    const token = bearerToken(request);
    if (world.accepts(token)) return token;
    throw googleError(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
  }
  const header = request.headers['x-goog-api-key'];
  const given = (Array.isArray(header) ? header[0] : header) ?? request.query.get('key') ?? '';
  if (given === '') throw noKey;
  if (!world.accepts(given) && request.path.startsWith('/v1beta/interactions')) throw wrongKeyAtFront;
  return given;
}

function download(desk: GoogleDesk, call: Call): Promise<Reply> {
  const id = call.id.replace(/:download$/, '');
  if (call.request.query.get('alt') !== 'media')
    throw googleError(400, 'INVALID_ARGUMENT', 'alt must be media.');
  const refused = googleError(403, 'PERMISSION_DENIED', 'You may not access the File, or it may not exist.');
  const found = (job: GoogleJob): Reply => {
    if (job.phase !== 'succeeded' || job.since + fileKeptMs <= job.now) throw refused;
    const [location = ''] = job.links({ lifetimeSeconds: fileKeptMs / 1000 });
    return empty(302, { location });
  };
  return desk.about('media', { ...call, id }, found, () => refused.reply(desk.world.now()));
}

/** A callback is sent only when the job has finished. Of its contents, we have verified only the type. */
function event({ phase, detail, isOver }: GoogleJob): unknown {
  if (!isOver) return undefined;
  const { api, name, userMetadata } = detail;
  const isDone = phase === 'succeeded';
  const type = api === 'veo' ? 'video.generated' : isDone ? 'interaction.completed' : 'interaction.failed';
  return { type, data: { id: name }, user_metadata: userMetadata };
}

function withRetryInfo(reply: Reply): Reply {
  if (reply.kind !== 'send' || reply.status !== 429) return reply;
  const { 'retry-after': seconds, ...headers } = reply.headers;
  if (seconds === undefined || !/^\d+$/.test(seconds)) return reply;
  const { code: status, message } = googleProblems['rate-limited'];
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` };
  return json(429, { error: { code: 429, message, status, details: [retry] } }, headers);
}

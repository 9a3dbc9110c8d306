import { randomBytes } from 'node:crypto';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { momentOf } from '../task.ts';
import { bytes, json } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { newApiProblems } from './new-api-error.ts';
import { checkBody, newApiDetail, readBody, settleVideo } from './new-api-request.ts';
import type { NewApiDetail } from './new-api-request.ts';
import { mediumOf, presentSubmit, presentTask, presentVideo, urlOf } from './new-api-task.ts';
import type { NewApiTask } from './new-api-task.ts';
import { OpenAiError } from './openai-error.ts';
import { createImage } from './openai-images.ts';

const expiresAfterMs = 172_800_000;
const recordKeptMs = 30 * 86_400_000;
const idBytes = 24;

type NewApiDesk = JobDesk<NewApiDetail>;

/** Another gateway, new-api style: videos in two dialects, images in OpenAI's. */
export function createNewApiDialect(world: World): Dialect {
  const desk: NewApiDesk = new JobDesk(world, {
    name: 'new-api',
    problems: newApiProblems,
    detail: newApiDetail,
    recordKeptMs,
  });
  const poll =
    (present: (task: NewApiTask, world: World) => Record<string, unknown>) =>
    (call: Call): Promise<Reply> =>
      desk.about('poll', call, { found: (task) => json(200, present(task, world)) });
  return createDialect(desk, {
    prefix: '/new-api/v1',
    noSuchRoute: ({ method, path }) =>
      new OpenAiError(404, { message: `Invalid URL (${method} /v1${path})` }),
    routes: {
      'POST /video/generations': (call) => submit(desk, call),
      'GET /video/generations/:id': poll(presentTask),
      'POST /videos': (call) => submit(desk, call),
      'GET /videos/:id': poll(presentVideo),
      'GET /videos/:id/content': (call) =>
        desk.about('media', call, { found: (task) => content(desk, task) }),
      'POST /videos/:id/remix': (call) => submit(desk, call),
      'POST /images/generations': (call) => createImage(desk, call, 'generations'),
      'POST /images/edits': (call) => createImage(desk, call, 'edits'),
    },
  });
}

/** A remix is of the task that the route names: its model and its settings. */
async function submit(desk: NewApiDesk, { request, id }: Call): Promise<Reply> {
  const source = id === '' ? undefined : desk.find(id);
  if (id !== '' && source === undefined) throw newApiProblems['not-found'];
  const raw = await readBody(request);
  const body = checkBody(source === undefined ? raw : { ...raw, model: source.model });
  return desk.create(request, body, async (submission) => {
    const { model, faults } = submission;
    const task = await desk.accept(submission, {
      id: `task_${randomBytes(idBytes).toString('base64url').replaceAll(/[-_]/g, '0')}`,
      expiresAfterMs,
      detail:
        source === undefined
          ? settleVideo(body, model, faults)
          : { ...source.detail, remixedFrom: source.id },
    });
    if (faults.has('ark-shape')) return json(200, { id: task.id });
    return json(200, presentSubmit(task), {
      'x-new-api-other-ratios': JSON.stringify({ seconds: task.detail.seconds }),
    });
  });
}

/** The bytes, with the key; or a redirect to them. */
function content({ world, problems }: NewApiDesk, task: NewApiTask): Reply {
  const moment = momentOf(task, world.now());
  if (moment.phase !== 'succeeded') throw new OpenAiError(400, { message: 'Task is not completed yet' });
  const faults = FaultSet.of(task.faults);
  if (faults.has('url-403')) return problems('forbidden');
  if (faults.has('content-redirect')) {
    return bytes(302, Buffer.alloc(0), { location: urlOf(task, world, moment, faults) ?? '' });
  }
  return bytes(200, world.parts.media.render(mediumOf(task, world, faults)), { 'content-type': 'video/mp4' });
}

import { randomInt } from 'node:crypto';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { mediaTypes } from '../media/medium.ts';
import { momentOf } from '../task.ts';
import type { Phase, Task } from '../task.ts';
import { bytes, json } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { confirmedCallback } from './minimax-callback.ts';
import type { HailuoError } from './minimax-error.ts';
import { accepted, hailuoProblems, invalidHailuo, MiniMaxError, outputModerated } from './minimax-error.ts';
import { paintHailuo } from './minimax-image.ts';
import { hailuoDetail, readHailuoBody, settleHailuo } from './minimax-v1-request.ts';
import type { HailuoDetail } from './minimax-v1-request.ts';

type HailuoTask = Task<HailuoDetail>;
type HailuoDesk = JobDesk<HailuoDetail>;

const recordKeptMs = 7 * 86_400_000;
const fileLinkSeconds = 3600;

/** MiniMax v1: Hailuo videos in three calls, and images at once. */
export function createMiniMaxV1Dialect(world: World): Dialect {
  const desk: HailuoDesk = new JobDesk(world, {
    name: 'minimax-v1',
    problems: hailuoProblems,
    detail: hailuoDetail,
    recordKeptMs,
    callbackBody: (task) => presentCallback(task, world.now()),
  });
  return createDialect(desk, {
    prefix: '/minimax/v1',
    noSuchRoute: ({ method, path }) => new MiniMaxError(404, `no such path: ${method} ${path}`),
    routes: {
      'POST /video_generation': (call) => submit(desk, call),
      'GET /query/video_generation': (call) => query(desk, call),
      'GET /files/retrieve': (call) => aboutFile(desk, call, (task) => retrieve(desk, task)),
      'GET /files/retrieve_content': (call) => aboutFile(desk, call, (task) => content(desk, task)),
      'POST /image_generation': (call) => paintHailuo(desk, call),
    },
  });
}

const idDigits = (): string => `${randomInt(100_000_000, 899_999_999)}${randomInt(100_000, 999_999)}`;

function submit(desk: HailuoDesk, { request }: Call): Promise<Reply> {
  const body = readHailuoBody(request.body);
  return desk.create(request, { model: body.model, prompt: body.prompt }, async (submission) => {
    const { model: name, faults } = submission;
    const detail = settleHailuo(body, { name, fileId: idDigits(), faults });
    const callbackUrl = await confirmedCallback(body.callback_url, desk.world);
    const task = await desk.accept(submission, {
      id: idDigits(),
      expiresAfterMs: recordKeptMs,
      detail,
      callbackUrl,
    });
    return json(200, { task_id: task.id, base_resp: accepted });
  });
}

const words: Readonly<Record<Phase, string>> = {
  queued: 'Queueing',
  running: 'Processing',
  succeeded: 'Success',
  failed: 'Fail',
  expired: 'Fail',
  cancelled: 'Fail',
  unknown: 'Reviewing',
};

/** The reason of a failure stands where the answer's own state does. */
function outcomeOf(task: HailuoTask, phase: Phase): HailuoError | undefined {
  if (words[phase] !== 'Fail') return undefined;
  return FaultSet.of(task.faults).has('moderation-in-task') ? outputModerated : hailuoProblems.internal;
}

/** The id stands in the query. */
function query(desk: HailuoDesk, { request }: Call): Promise<Reply> {
  const id = request.query.get('task_id') ?? '';
  return desk.about(
    'poll',
    { request, id },
    {
      found(task) {
        const { phase } = momentOf(task, desk.world.now());
        const { fileId, width, height } = task.detail;
        // Before the queue, a task is prepared: reported of every task as long as it waits, with docs-shape.
        const isPreparing = phase === 'queued' && FaultSet.of(task.faults).has('docs-shape');
        return json(200, {
          task_id: id,
          status: isPreparing ? 'Preparing' : words[phase],
          ...(phase === 'succeeded' ? { file_id: fileId, video_width: width, video_height: height } : {}),
          base_resp: outcomeOf(task, phase)?.base() ?? accepted,
        });
      },
    },
  );
}

/** In small letters; the vendor's sample also has them as the query does: with docs-shape. */
function presentCallback(task: HailuoTask, now: number): Record<string, unknown> {
  const { phase } = momentOf(task, now);
  const outcome = outcomeOf(task, phase);
  const word = outcome !== undefined ? 'Failed' : phase === 'succeeded' ? 'Success' : 'Processing';
  return {
    task_id: task.id,
    status: FaultSet.of(task.faults).has('docs-shape') ? word : word.toLowerCase(),
    ...(phase === 'succeeded' ? { file_id: task.detail.fileId } : {}),
    base_resp: outcome?.base() ?? accepted,
  };
}

/** A file exists once its task succeeded. */
function aboutFile(desk: HailuoDesk, { request }: Call, found: (task: HailuoTask) => Reply): Promise<Reply> {
  const wanted = request.query.get('file_id') ?? '';
  const now = desk.world.now();
  const task = desk
    .newestFirst()
    .find((known) => known.detail.fileId === wanted && momentOf(known, now).phase === 'succeeded');
  const missing = () => invalidHailuo('invalid file_id').reply();
  return desk.about('poll', { request, task }, { found, missing });
}

/** Each retrieval gives a new link. */
function retrieve({ world }: HailuoDesk, task: HailuoTask): Reply {
  const faults = FaultSet.of(task.faults);
  const link = world.link(task, world.video(task.detail, 0, faults), world.now(), fileLinkSeconds);
  return json(200, {
    file: {
      // A number here, text in the query.
      file_id: Number(task.detail.fileId),
      bytes: 0,
      created_at: Math.floor(task.createdAt / 1000),
      filename: 'output_aigc.mp4',
      purpose: 'video_generation',
      ...(faults.has('missing-url') ? {} : { download_url: link }),
    },
    base_resp: accepted,
  });
}

function content({ world }: HailuoDesk, task: HailuoTask): Reply {
  const medium = world.video(task.detail, 0, FaultSet.of(task.faults));
  return bytes(200, world.parts.media.render(medium), { 'content-type': mediaTypes.mp4 });
}

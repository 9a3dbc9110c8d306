import { Context } from '@temporalio/activity';
import { z } from 'zod';
import type { GenerationRequest } from '../src/models/request.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import { orderedTask } from '../src/task/fair-order.ts';
import type { Task } from '../src/task/record.ts';
import { briefMs } from '../src/task/wait.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { isFirstAttempt, later } from './activity-time.ts';
import { measureToSubmit, type NoLength } from './measure.ts';
import { noteWait } from './note-wait.ts';
import type { Sent } from './submit-answer.ts';

/** Null means that the length could not be measured. */
const measuredSchema = z.object({ inputSeconds: z.number().nullable() });

type Preparing = Pick<Sent, 'task' | 'input' | 'request'>;

interface Registering extends Preparing {
  readonly inputSeconds: number | undefined;
}

/**
 * Registers the request's files with the upstream. If the upstream permanently refuses a file, the request is returned
 * unchanged, and the upstream fetches the file from us. Call this only after entering the channel, because an open
 * circuit must also block uploads.
 */
export async function registered(
  preparing: Registering,
  deps: ChannelActivityDeps,
): Promise<GenerationRequest | UpstreamError> {
  const { request, input, task, inputSeconds } = preparing;
  const { cancellationSignal } = Context.current();
  try {
    const registering = deps.registerFiles(request, input.candidate, cancellationSignal);
    return await prepared(preparing, withHeartbeat(registering, memoryOf(task, inputSeconds)), deps);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return error.outcome === 'rejected' ? request : error;
  }
}

/**
 * Measures input videos whose length affects the price. Call this before taking a slot, a circuit's probe or a rate
 * token, so that none of them is held while a slow host responds.
 */
export async function measured(
  preparing: Preparing,
  deps: ChannelActivityDeps,
): Promise<number | NoLength | undefined> {
  const before = measuredSchema.safeParse(Context.current().info.heartbeatDetails);
  if (before.success) return before.data.inputSeconds ?? undefined;
  const { task, request, input } = preparing;
  const { channel } = input.candidate;
  const measuring = withHeartbeat(measureToSubmit(task, { request, channel }, deps));
  const length = await prepared(preparing, measuring, deps);
  const memory = typeof length === 'string' ? undefined : memoryOf(task, length);
  if (memory !== undefined) Context.current().heartbeat(memory);
  return length;
}

function memoryOf(task: Task, inputSeconds: number | undefined): z.infer<typeof measuredSchema> | undefined {
  return task.inputSeconds === 'unmeasured' ? { inputSeconds: inputSeconds ?? null } : undefined;
}

/** If `work` takes a while, records that the task is waiting for its files. */
async function prepared<Result>(
  { task, input }: Preparing,
  work: Promise<Result>,
  deps: ChannelActivityDeps,
): Promise<Result> {
  const wait = { cause: 'files', ...input.candidate } as const;
  const slow = setTimeout(() => void noteWait(task, wait, deps), briefMs / 2);
  return work.finally(() => clearTimeout(slow));
}

/**
 * Takes a token from the credential's rate limit. If there is none within a second, the attempt ends and is retried
 * later.
 */
export async function takeToken(
  { task, input }: Pick<Preparing, 'task' | 'input'>,
  deps: ChannelActivityDeps,
): Promise<void> {
  const { candidate } = input;
  const context = Context.current();
  const isBack = !isFirstAttempt() && task.wait?.cause === 'rate';
  const turn = { ...orderedTask(task), isBack };
  const delay = await deps.submitLimiter(candidate).enter(turn, context.cancellationSignal);
  if (delay === undefined) return;
  const { ms, ahead } = delay;
  await noteWait(task, { cause: 'rate', ...candidate, ahead, until: deps.now() + ms }, deps);
  const nextIn = `next attempt in ${Math.ceil(ms / 1000)} s`;
  throw later(
    'WaitsForItsTurn',
    `the channel has reached its limit of submissions per second; ${nextIn}`,
    ms,
  );
}

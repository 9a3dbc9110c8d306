import { z } from 'zod';
import { callRunway } from './runway-call.ts';
import { runwayFailures } from './runway-failures.ts';
import type { Cost } from '../../money/cost.ts';
import { defined } from '../../base/defined.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import {
  optionalNumber,
  optionalText,
  signedUrlExpiry,
  unknownJob,
  unreadableError,
} from '../shared/http-outcome.ts';
import { cancelledJob, failedJob } from '../shared/job-status.ts';
import { optionalAmount } from '../shared/vendor-cost.ts';
import { UpstreamError } from '../provider.ts';
import type { Operation, OperationStatus, ProviderContext, SubmitContext, Submitted } from '../provider.ts';

export interface RunwaySubmission {
  readonly path: string;
  readonly json: OutgoingObject;
  readonly sound?: boolean;
}

const createdSchema = z.object({ id: z.string().min(1).max(200) });

export async function submitRunway(
  { path, json, sound }: RunwaySubmission,
  context: SubmitContext,
): Promise<Submitted> {
  const answer = await callRunway({ method: 'POST', path, json }, context);
  const id = createdSchema.safeParse(answer.json).data?.id;
  if (id === undefined) throw unreadableError(answer, 'it has no id');
  return { operation: sound === undefined ? { id } : { id, sound: String(sound) }, traceId: id };
}

const taskSchema = z.object({
  status: optionalText,
  createdAt: optionalText,
  progress: optionalNumber,
  output: z.array(optionalText).optional().catch(undefined),
  cost: z.object({ credits: z.number() }).optional().catch(undefined),
  failure: optionalText,
  failureCode: optionalText,
});
type RunwayTask = z.infer<typeof taskSchema>;

export async function runwayStatus(
  operation: Operation,
  context: ProviderContext,
  kind: 'video' | 'image',
): Promise<OperationStatus> {
  const { answer, task } = await ask(operation, context);
  switch (task.status ?? '') {
    // `THROTTLED` means that the task was accepted but is waiting, because our account has too many parallel jobs.
    case 'PENDING':
    case 'THROTTLED':
      return { state: 'pending', phase: 'submitted' };
    case 'SUCCEEDED': {
      const { sound } = operation;
      const facts = sound === undefined ? {} : { generateAudio: sound === 'true' };
      const found = succeeded(task, kind, facts);
      if (found === undefined) throw unreadableError(answer, 'the task succeeded but has no file');
      return found;
    }
    case 'FAILED':
      return failedJob(
        runwayFailures,
        { code: task.failureCode, message: task.failure },
        { cost: costOf(task), unbilled: isReturned(task) },
      );
    case 'CANCELLED':
      return cancelledJob({ cost: costOf(task) });
    default:
      // `RUNNING` and unknown states are treated as running.
      return defined({ state: 'pending' as const, phase: 'running' as const, progress: progressOf(task) });
  }
}

async function ask({ id }: Operation, context: ProviderContext) {
  const answer = await callRunway({ method: 'GET', path: pathOf(id) }, context).catch((error: unknown) => {
    throw isUnknown(error) ? unknownJob(error.status, { message: error.words }) : error;
  });
  const task = taskSchema.safeParse(answer.json).data;
  if (task === undefined) throw unreadableError(answer, 'it is not a task');
  return { answer, task };
}

function pathOf(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`;
}

/**
 * Returns true if the vendor does not know the task. Only the vendor's own format is trusted, because a proxy's error
 * page says nothing about the task.
 */
function isUnknown(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && error.status === 404 && error.outcome === 'rejected';
}

const linkLifeMinSeconds = 24 * 3600;

function succeeded(
  task: RunwayTask,
  kind: 'video' | 'image',
  facts: SettleFacts,
): OperationStatus | undefined {
  const created = Date.parse(task.createdAt ?? '') / 1000;
  const unsigned = Number.isNaN(created) ? undefined : Math.floor(created) + linkLifeMinSeconds;
  const items = (task.output ?? []).flatMap((url) =>
    url === undefined ? [] : [defined({ url, expiresAt: signedUrlExpiry(url) ?? unsigned })],
  );
  if (items.length === 0) return undefined;
  return defined({
    state: 'succeeded' as const,
    items,
    facts: kind === 'image' ? { ...facts, images: items.length } : facts,
    cost: costOf(task),
  });
}

/** The vendor refunds the credits for its own failures, but not for rejected input. */
function isReturned({ failureCode = '' }: RunwayTask): boolean {
  return !/^(?:SAFETY|ASSET|(?:INPUT_PREPROCESSING|THIRD_PARTY)\.(?:SAFETY|INPUT_VALIDATION))\b/.test(
    failureCode,
  );
}

/** Zero is valid, because the vendor reports it for anything that it does not charge for. */
function costOf({ cost }: RunwayTask): Cost | undefined {
  const amount = optionalAmount.parse(cost?.credits);
  return amount === undefined ? undefined : { amount, unit: 'credits' };
}

function progressOf({ progress }: RunwayTask): number | undefined {
  return progress === undefined || progress > 1 ? undefined : Math.round(progress * 100);
}

const waiting = new Set(['PENDING', 'THROTTLED']);

/**
 * The vendor does not refund a running job, and the same request would delete a finished job and its files, so only a
 * waiting job is cancelled. If it starts between the two requests, it is charged. Source: runwayml 5.24.0.
 */
export async function cancelRunway(
  operation: Operation,
  context: ProviderContext,
): Promise<'cancelled' | 'refused'> {
  const { task } = await ask(operation, context);
  if (task.status === 'CANCELLED') return 'cancelled';
  if (!waiting.has(task.status ?? '')) return 'refused';
  try {
    await callRunway({ method: 'DELETE', path: pathOf(operation.id) }, context);
  } catch (error) {
    if (!isUnknown(error)) throw error;
  }
  return 'cancelled';
}

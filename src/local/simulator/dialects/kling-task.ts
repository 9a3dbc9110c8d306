import { randomUUID } from 'node:crypto';
import { FaultSet } from '../fault.ts';
import { momentOf } from '../task.ts';
import type { Phase, Task } from '../task.ts';
import type { World } from '../world.ts';
import { klingProblems, moderatedInTask } from './kling-error.ts';
import type { KlingDetail } from './kling-models.ts';

export type KlingTask = Task<KlingDetail>;

const linkSeconds = 30 * 86_400;
const words: Readonly<Record<Phase, string>> = {
  queued: 'submitted',
  running: 'processing',
  succeeded: 'succeeded',
  failed: 'failed',
  expired: 'failed',
  cancelled: 'failed',
  unknown: 'post_processing',
};

/** One letter less in the legacy standard. */
export function statusOf(task: KlingTask, now: number): string {
  const word = words[momentOf(task, now).phase];
  return task.detail.legacy && word === 'succeeded' ? 'succeed' : word;
}

/** The bare task, as queries hold it and callbacks carry it. */
export function presentKling(task: KlingTask, world: World): Record<string, unknown> {
  return task.detail.legacy ? presentLegacy(task, world) : presentNew(task, world);
}

/** The answer to a create: without result and deductions. */
export function presentCreated(task: KlingTask): Record<string, unknown> {
  const { id, createdAt, detail } = task;
  const { externalId: external } = detail;
  if (!detail.legacy) {
    const named = external === undefined ? {} : { external_id: external };
    return { id, status: 'submitted', create_time: createdAt, update_time: createdAt, ...named };
  }
  const info = external === undefined ? {} : { external_task_id: external };
  return {
    task_id: id,
    task_status: 'submitted',
    task_info: info,
    created_at: createdAt,
    updated_at: createdAt,
  };
}

function presentNew(task: KlingTask, world: World): Record<string, unknown> {
  const now = world.now();
  const { phase, since } = momentOf(task, now);
  const base = {
    ...presentCreated(task),
    status: statusOf(task, now),
    message: failure(task, phase),
    update_time: since,
  };
  if (phase === 'failed') return { ...base, outputs: [] };
  if (phase !== 'succeeded') return base;
  const faults = FaultSet.of(task.faults);
  const reported = !faults.has('missing-usage');
  const outputs = files(task, world, since).map((url) => ({
    type: 'video',
    id: randomUUID(),
    url,
    watermark_url: '',
    ...(reported ? { duration: fileSeconds(task) } : {}),
  }));
  const amount = ((task.detail.charge * faults.usageFactor()) / 100).toFixed(2);
  return {
    ...base,
    outputs,
    ...(reported ? { billing: [{ charge_type: 'unit', package_type: 'video', amount }] } : {}),
  };
}

function presentLegacy(task: KlingTask, world: World): Record<string, unknown> {
  const now = world.now();
  const { phase, since } = momentOf(task, now);
  const base = {
    ...presentCreated(task),
    task_status: statusOf(task, now),
    task_status_msg: failure(task, phase),
    updated_at: since,
  };
  if (phase !== 'succeeded') return base;
  const faults = FaultSet.of(task.faults);
  const reported = !faults.has('missing-usage');
  const units = (task.detail.charge * faults.usageFactor()) / 100;
  const urls = files(task, world, since);
  const images = urls.map((url, index) => ({ index, url, watermark_url: '' }));
  const videos = urls.map((url) => ({
    id: randomUUID(),
    url,
    watermark_url: '',
    ...(reported ? { duration: fileSeconds(task) } : {}),
  }));
  return {
    ...base,
    task_result: task.detail.kind === 'video' ? { videos } : { images },
    ...(reported
      ? {
          final_unit_deduction: String(units),
          final_balance_deduction: { quota: '0', list_price: '0' },
        }
      : {}),
  };
}

function failure(task: KlingTask, phase: Phase): string {
  if (phase !== 'failed') return '';
  return FaultSet.of(task.faults).has('moderation-in-task')
    ? moderatedInTask
    : klingProblems.internal.message;
}

/** The file is a little longer than what was asked for. */
function fileSeconds({ detail, faults }: KlingTask): string {
  return (detail.seconds * FaultSet.of(faults).usageFactor() + 0.1).toFixed(1);
}

function files(task: KlingTask, world: World, since: number): string[] {
  const { detail } = task;
  const faults = FaultSet.of(task.faults);
  if (faults.has('missing-url')) return [];
  if (detail.kind === 'video') return [world.link(task, world.video(detail, 0, faults), since, linkSeconds)];
  return Array.from({ length: detail.images }, (_, tint) =>
    world.link(task, world.image(detail, { format: 'png', tint, marked: false }, faults), since, linkSeconds),
  );
}

import { randomUUID } from 'node:crypto';
import type { Job } from '../job.ts';
import { phaseWords } from '../task.ts';
import type { Task } from '../task.ts';
import { klingProblems } from './kling-request.ts';
import type { KlingDetail } from './kling-request.ts';

type KlingJob = Job<KlingDetail>;

const linkSeconds = 30 * 86_400;
const wordFor = phaseWords('submitted processing succeeded failed failed failed post_processing');

/** One letter less in the legacy standard. */
export function wordOf({ phase, detail }: KlingJob): string {
  return detail.legacy && phase === 'succeeded' ? 'succeed' : wordFor(phase);
}

/** The answer to a create: without result and deductions. */
export function presentCreated({ id, createdAt, detail }: Task<KlingDetail>): Record<string, unknown> {
  const { legacy, externalId } = detail;
  if (!legacy)
    return {
      id,
      status: 'submitted',
      create_time: createdAt,
      update_time: createdAt,
      external_id: externalId,
    };
  return {
    task_id: id,
    task_status: 'submitted',
    task_info: { external_task_id: externalId },
    created_at: createdAt,
    updated_at: createdAt,
  };
}

/** The bare task, as queries hold it and callbacks carry it. A failed one says why in words only. */
export function presentKling(job: KlingJob): Record<string, unknown> {
  const { task, detail, phase, since, faults } = job;
  const isModerated = faults.has('moderation-in-task');
  const failure = isModerated ? 'Failure to pass the risk control system' : klingProblems.internal.message;
  const message = phase === 'failed' ? failure : '';
  const base = presentCreated(task);
  const urls = phase === 'succeeded' ? job.links({ lifetimeSeconds: linkSeconds }) : [];
  // The file is a little longer than what was asked for.
  const duration = job.reported((job.billed(detail.seconds) + 0.1).toFixed(1));
  const videos = urls.map((url) => ({ id: randomUUID(), url, watermark_url: '', duration }));
  const units = job.billed(detail.charge) / 100;
  if (!detail.legacy) {
    const shown = { ...base, status: wordOf(job), message, update_time: since };
    const outputs = videos.map((video) => ({ type: 'video', ...video }));
    if (phase === 'failed') return { ...shown, outputs };
    if (phase !== 'succeeded') return shown;
    const billing = [{ charge_type: 'unit', package_type: 'video', amount: units.toFixed(2) }];
    return { ...shown, outputs, billing: job.reported(billing) };
  }
  const shown = { ...base, task_status: wordOf(job), task_status_msg: message, updated_at: since };
  if (phase !== 'succeeded') return shown;
  const images = urls.map((url, index) => ({ index, url, watermark_url: '' }));
  return {
    ...shown,
    task_result: detail.images === 0 ? { videos } : { images },
    final_unit_deduction: job.reported(String(units)),
    final_balance_deduction: job.reported({ quota: '0', list_price: '0' }),
  };
}

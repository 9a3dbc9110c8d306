import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { dashscopeFailures } from './dashscope-failures.ts';
import type { Refusal } from '../shared/failure-table.ts';
import {
  optionalNumeric,
  optionalText,
  readableItems,
  refusalError,
  reportedNumber,
} from '../shared/http-outcome.ts';
import type { HttpResponse, UpstreamError } from '../provider.ts';

const resultSchema = z.object({ url: optionalText, code: optionalText, message: optionalText });
const choiceSchema = z.object({
  message: z.object({ content: readableItems(z.object({ image: optionalText })) }),
});

const jobSchema = z.object({
  request_id: optionalText,
  output: z.object({
    task_id: optionalText,
    task_status: optionalText,
    code: optionalText,
    message: optionalText,
    end_time: optionalText,
    video_url: optionalText,
    results: readableItems(resultSchema).optional().catch(undefined),
    choices: readableItems(choiceSchema).optional().catch(undefined),
  }),
  usage: z
    .object({
      duration: reportedNumber,
      output_video_duration: reportedNumber,
      video_duration: reportedNumber,
      input_video_duration: reportedNumber,
      SR: optionalNumeric,
      size: optionalText,
      video_ratio: optionalText,
      image_count: optionalNumeric,
      width: optionalNumeric,
      height: optionalNumeric,
    })
    .optional()
    .catch(undefined),
});

export type DashscopeJob = z.infer<typeof jobSchema>;

export function readDashscopeJob(json: unknown): DashscopeJob | undefined {
  return jobSchema.safeParse(json).data;
}

export function imageLinks({ output }: DashscopeJob): string[] {
  const asynchronous = (output.results ?? []).map(({ url }) => url);
  const synchronous = (output.choices ?? []).flatMap(({ message }) =>
    message.content.map(({ image }) => image),
  );
  return [...asynchronous, ...synchronous].filter((url) => url !== undefined);
}

export const linkLifetimeSeconds = 24 * 3600;

/** Links expire one day after the job finishes. `endTime` is Chinese local time without a time zone. */
export function linkExpiry(endTime: string | undefined): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})/.exec(endTime ?? '');
  if (match === null) return undefined;
  const at = Date.parse(`${match[1]}T${match[2]}+08:00`);
  return Number.isNaN(at) ? undefined : at / 1000 + linkLifetimeSeconds;
}

const refusalSchema = z.object({ code: z.string().min(1), message: optionalText });

export function readDashscopeRefusal(json: unknown): Refusal | undefined {
  const said = refusalSchema.safeParse(json).data;
  if (said === undefined) return undefined;
  const field = /^InvalidParameter\.([a-z][\w.]*)$/.exec(said.code)?.[1];
  return defined({ code: said.code, message: said.message ?? '', field });
}

export function dashscopeRefusal(answer: HttpResponse): UpstreamError {
  return refusalError(answer, readDashscopeRefusal(answer.json), dashscopeFailures);
}

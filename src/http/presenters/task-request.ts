import { z } from 'zod';
import type { RequestRecord } from '../../store/requests.ts';

export const taskRequestSchema = z
  .object({
    object: z.literal('task.request'),
    task: z.string(),
    request: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        'The request as the gateway interpreted it. Encoded files are replaced with their length. Null if the request is no longer kept.',
    }),
  })
  .meta({ id: 'TaskRequest' });

export function presentTaskRequest(
  task: string,
  record: RequestRecord | undefined,
): z.output<typeof taskRequestSchema> {
  return {
    object: 'task.request',
    task,
    request: record === undefined ? null : withoutFiles(record.request),
  };
}

function withoutFiles(request: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(request).map(([name, value]) => [name, shorten(value, name)]));
}

function shorten(value: unknown, name: string): unknown {
  if (typeof value === 'string') {
    const [head] = /^data:[^,]{0,200},/.exec(value) ?? [name === 'base64' ? '' : undefined];
    return head === undefined ? value : `${head}… (${value.length - head.length} characters)`;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map((item: unknown) => shorten(item, name)) : withoutFiles(value);
}

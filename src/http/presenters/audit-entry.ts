import { z } from 'zod';
import { actOrigins, actOutcomes } from '../../base/operator.ts';
import type { AuditEntry, AuditItem } from '../../store/audit.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

export const auditEntrySchema = z
  .object({
    object: z.literal('audit.entry'),
    id: z.string(),
    at: unixSeconds(),
    by: z
      .string()
      .meta({ description: 'The operator; `temporal:…`: who Temporal’s own tools were used as.' }),
    via: z.enum(actOrigins),
    address: z.string().nullable().meta({ description: 'Null: Temporal does not say.' }),
    action: z.string(),
    target: z.string().meta({ description: 'Which task, account, key, channel or operator.' }),
    task: z.string().nullable(),
    reason: z.string(),
    what: z.string().meta({ description: 'JSON of what was asked for.' }),
    outcome: z.enum(actOutcomes).meta({
      description:
        '`begun`: it runs, or the process died before it could say what came of it: the target says whether it was done. `failed`: it may have been done all the same.',
    }),
    result: z.string().nullable().meta({ description: 'Why it was refused, or failed.' }),
    ended_at: unixSeconds().nullable(),
    items: z
      .array(
        z.object({
          task: z.string(),
          at: unixSeconds(),
          outcome: z.enum(actOutcomes),
          result: z.string().nullable(),
          ended_at: unixSeconds().nullable(),
        }),
      )
      .nullable()
      .meta({ description: 'What an act on several tasks did to each of them. Null for other acts.' }),
  })
  .meta({ id: 'AuditEntry' });

export function presentAuditEntry(entry: AuditEntry): z.output<typeof auditEntrySchema> {
  const { at, address, task, result, endedAt, items, ...same } = entry;
  return {
    object: 'audit.entry',
    ...same,
    at: toSeconds(at),
    address: address ?? null,
    task: task ?? null,
    result: result ?? null,
    ended_at: secondsOrNull(endedAt),
    items: items === undefined ? null : items.map(presentItem),
  };
}

function presentItem({ task, at, outcome, result, endedAt }: AuditItem) {
  return {
    task,
    at: toSeconds(at),
    outcome,
    result: result ?? null,
    ended_at: secondsOrNull(endedAt),
  };
}

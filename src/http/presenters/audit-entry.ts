import { z } from 'zod';
import { actOrigins, actOutcomes } from '../../base/operator.ts';
import type { AuditEntry, AuditItem } from '../../store/audit.ts';
import { configChangeSchema, presentConfigChange } from './config.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

export const auditEntrySchema = z
  .object({
    object: z.literal('audit.entry'),
    id: z.string(),
    at: unixSeconds(),
    by: z.string().meta({
      description: 'The operator. `temporal:…` is the name that was given in Temporal’s own tools.',
    }),
    via: z.enum(actOrigins),
    address: z.string().nullable().meta({ description: 'Null if Temporal does not report it.' }),
    action: z.string(),
    target: z.string().meta({
      description: 'The task, account, key, channel or operator that the act concerned.',
    }),
    task: z.string().nullable(),
    reason: z.string(),
    what: z.string().meta({ description: 'The request as JSON.' }),
    outcome: z.enum(actOutcomes).meta({
      description:
        '`begun`: the act is running, or the process died before it could record the outcome. Look at the target to see whether the act was done. `failed`: the act may have been done all the same.',
    }),
    result: z.string().nullable().meta({ description: 'The reason why it was refused or failed.' }),
    changes: z.array(configChangeSchema).nullable().meta({
      description: 'The values before and after the act, at most 50. Null if they are not recorded.',
    }),
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
  const { at, address, task, result, changes, endedAt, items, ...same } = entry;
  return {
    object: 'audit.entry',
    ...same,
    at: toSeconds(at),
    address: address ?? null,
    task: task ?? null,
    result: result ?? null,
    changes: changes === undefined ? null : changes.map(presentConfigChange),
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

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
      description: 'The operator. `temporal:…` is the name entered in Temporal’s own tools.',
    }),
    via: z.enum(actOrigins),
    address: z.string().nullable().meta({ description: 'Null if Temporal does not report it.' }),
    action: z.string(),
    target: z.string().meta({
      description: 'The task, account, key, channel or operator that the action affected.',
    }),
    task: z.string().nullable(),
    reason: z.string(),
    what: z.string().meta({ description: 'The request as JSON.' }),
    outcome: z.enum(actOutcomes).meta({
      description:
        '`begun`: the action is running, or the process died before it could record the outcome. Check the target to see whether the action was completed. `failed`: the action may have been completed nevertheless.',
    }),
    result: z.string().nullable().meta({ description: 'Why the action was rejected or failed.' }),
    changes: z.array(configChangeSchema).nullable().meta({
      description: 'The values before and after the action, at most 50. Null if they are not recorded.',
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
      .meta({
        description: 'The effect on each task, for an action on multiple tasks. Null for other actions.',
      }),
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

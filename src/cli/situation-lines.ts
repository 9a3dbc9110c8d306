import { z } from 'zod';
import { moneyInWords } from '../operating/money-preview.ts';
import { formatTime } from './table.ts';

const amount = z.string().nullable();
const situationSchema = z.object({
  what: z.string(),
  since: z.number(),
  until: z.number().nullable(),
  attention: z.string().nullable(),
  advice: z.string().nullable(),
  where: z.object({ channel: z.string(), credential: z.string() }).nullable(),
  marker: z.string().nullable(),
  charge: z.string().nullable(),
  actions: z.array(
    z.object({
      command: z.string(),
      charged: amount,
      released: amount,
      refunded: amount,
      unpaid_jobs: z.int(),
    }),
  ),
});

export function situationLines(situation: unknown): string {
  const { data } = situationSchema.safeParse(situation);
  if (data === undefined) return '';
  const { what, since, until, attention, advice, where, marker, charge, actions } = data;
  const end = until === null ? '' : `, until ${formatTime(until)}`;
  const lines = [
    what,
    `Since ${formatTime(since)}${end}.`,
    attention === null ? (advice ?? '') : `Needs attention: ${attention}. ${advice ?? ''}`,
    where === null || marker === null ? '' : `Look at ${where.channel}/${where.credential} for ${marker}.`,
    charge === null ? '' : `The charge would be ${charge}.`,
    ...(actions.length === 0 ? [] : ['Possible actions (try each with --dry-run first):']),
    ...actions.flatMap(({ command, unpaid_jobs: unpaidJobs, ...money }) => [
      `  ${command}`,
      `    ${moneyInWords({ ...money, unpaidJobs })}`,
    ]),
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

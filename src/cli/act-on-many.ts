import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { formatMicros, parseMicros } from '../money/money.ts';
import { needsPlan, type OperatorActionName } from '../operating/acts.ts';
import { moneyInWords } from '../operating/money-preview.ts';
import { unfinishedStatuses } from '../task/task.ts';
import type { AdminClient, Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import type { Output } from './output.ts';
import { doneSchema, isConfirmed, requireConfirmable, triedSchema } from './planned-act.ts';
import type { Terminal } from './terminal.ts';

const pageSize = '100';
const atOnce = 4;
/** The run stops after this many consecutive failures. Rejections by the gateway are not failures. */
const consecutiveFailuresMax = 5;
const bulkMax = 1_000;

const manyOutdated =
  'The plan no longer applies: a task has changed since its dry run, or the query now finds different tasks. Nothing was done. Run the command with --dry-run again.';

export interface ManyTasks {
  readonly selection: Readonly<Record<string, string | undefined>>;
  readonly action: OperatorActionName;
  readonly body: Row & { readonly reason: string };
  readonly dryRun: boolean;
  /** The plan from a dry run. Nothing is done if a new dry run produces a different plan. */
  readonly plan?: string | undefined;
  readonly isConfirmed: boolean;
  /** Resumes an interrupted run. Skips tasks whose record already contains this action with the same reason. */
  readonly continues: boolean;
}

export interface BulkSession {
  readonly client: AdminClient;
  readonly output: Output;
  readonly terminal: Terminal | undefined;
}

export async function actOnMany(many: ManyTasks, session: BulkSession): Promise<boolean> {
  const { client, output, terminal } = session;
  const confirmation = { ...many, terminal };
  if (!many.dryRun) requireConfirmable(confirmation);
  const found = await collect(many, client);
  const chosen = many.continues ? found.filter((task) => !isDone(task, many)) : found;
  const skipped = found.length - chosen.length;
  const held = totalOf(chosen.filter(isUnfinished).map(({ hold }) => hold));
  const left = skipped === 0 ? '' : ` (${skipped} were already done)`;
  const { action } = many;
  output.note(
    `${action}: ${chosen.length} tasks${left}${held === null ? '' : `, ${held} is held for them`}.`,
  );
  const isPlanned = many.dryRun || needsPlan(action) || many.plan !== undefined;
  const tried = isPlanned ? await each(chosen, { ...many, dryRun: true }, session) : undefined;
  const plan = tried === undefined ? undefined : planOfMany(tried);
  const facts = { action, dry_run: many.dryRun, tasks: chosen.length, held, skipped };
  if (many.dryRun && tried !== undefined) {
    output.result({ ...facts, plan, ...listed(tried) }, `${report(many, tried)}\nplan  ${plan}`);
    return tried.done.length === chosen.length;
  }
  if (tried !== undefined && many.plan === undefined) output.note(report({ ...many, dryRun: true }, tried));
  if (many.plan !== undefined && many.plan !== plan) throw new CommandError('refused', manyOutdated);
  if (chosen.length > 0 && !(await isConfirmed(confirmation))) {
    output.note('Nothing was done.');
    return false;
  }
  const done = await each(
    tried?.done.map(({ row, plan: own }) => ({ ...row, plan: own })) ?? chosen,
    many,
    session,
  );
  const all = {
    ...done,
    refused: [...(tried?.refused ?? []), ...done.refused],
    untried: done.untried + (tried?.untried ?? 0),
  };
  output.result({ ...facts, ...listed(all) }, report(many, all));
  return all.done.length === chosen.length;
}

function listed({ done, refused }: Outcome): Row {
  return { done: done.map(({ row }) => row['id']), refused };
}

function planOfMany({ done }: Outcome): string {
  const plans = done.map(({ plan = '' }) => plan).toSorted((one, other) => (one < other ? -1 : 1));
  return createHash('sha256').update(plans.join()).digest('hex').slice(0, 16);
}

/** Reads the entire list first, because each action changes what the query finds. */
async function collect({ selection }: ManyTasks, client: AdminClient): Promise<Row[]> {
  const found = new Map<string, Row>();
  for await (const row of client.all('/tasks', { ...selection, limit: pageSize }))
    found.set(String(row['id']), row);
  return [...found.values()];
}

const recordsSchema = z.array(z.object({ action: z.string(), reason: z.string() })).catch([]);

function isDone({ actions }: Row, { action, body }: ManyTasks): boolean {
  return recordsSchema.parse(actions).some((made) => made.action === action && made.reason === body.reason);
}

function isUnfinished({ status }: Row): boolean {
  return unfinishedStatuses.some((unfinished) => unfinished === status);
}

/** Returns null if any amount is hidden or unknown, because the total then is too. */
function totalOf(amounts: readonly unknown[]): string | null {
  if (amounts.includes(null)) return null;
  return formatMicros(
    amounts.reduce<bigint>((total, amount) => total + (parseMicros(String(amount)) ?? 0n), 0n),
  );
}

interface NotDone {
  readonly task: string;
  readonly message: string;
}

interface Touched {
  readonly row: Row;
  readonly sentence: string;
  readonly plan?: string | undefined;
  readonly preview?: z.output<typeof previewSchema> | undefined;
}

interface Outcome {
  readonly done: readonly Touched[];
  readonly refused: readonly NotDone[];
  readonly untried: number;
}

const amount = z.string().nullable();
const previewSchema = z.object({
  name: z.string(),
  charged: amount,
  released: amount,
  refunded: amount,
  unpaid_jobs: z.int(),
});
const answerSchema = z.object({
  result: z.union([triedSchema, doneSchema]),
  situation: z.object({ actions: z.array(previewSchema) }),
});

async function each(
  tasks: readonly Row[],
  { body, dryRun, action }: ManyTasks,
  { client, terminal }: BulkSession,
): Promise<Outcome> {
  const done: Touched[] = [];
  const refused: NotDone[] = [];
  const bulks: string[] = [];
  let begun = 0;
  let consecutiveFailures = 0;
  let isStopped = false;
  const stop = () => void (isStopped = true);
  const act = async (row: Row, index: number): Promise<Touched> => {
    const bulk = (bulks[Math.floor(index / bulkMax)] ??= randomUUID());
    const sent = dryRun ? { ...body, dry_run: true } : { ...body, plan: row['plan'], bulk };
    const path = `/tasks/${encodeURIComponent(String(row['id']))}/actions`;
    const { result, situation } = answerSchema.parse(await client.call('POST', path, sent));
    if ('did' in result) return { row, sentence: result.did.task };
    const preview = situation.actions.find(({ name }) => name === action);
    return { row, sentence: result.would.task, plan: result.plan, preview };
  };
  const workOff = async (): Promise<void> => {
    for (;;) {
      const index = begun;
      const row = tasks[index];
      if (row === undefined || isStopped || consecutiveFailures >= consecutiveFailuresMax) return;
      begun += 1;
      try {
        done.push(await act(row, index));
        consecutiveFailures = 0;
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        consecutiveFailures = error.code === 'action_not_possible' ? 0 : consecutiveFailures + 1;
        refused.push({ task: String(row['id']), message: error.message });
      }
      terminal?.progress(`${done.length + refused.length} of ${tasks.length}, ${refused.length} not done`);
    }
  };
  process.once('SIGINT', stop);
  try {
    await Promise.all(Array.from({ length: atOnce }, workOff));
  } finally {
    process.off('SIGINT', stop);
  }
  terminal?.progress('');
  return { done, refused, untried: tasks.length - done.length - refused.length };
}

function report({ dryRun, body }: ManyTasks, { done, refused, untried }: Outcome): string {
  const tasks = done.length + refused.length + untried;
  const counts = new Map<string, number>();
  for (const { sentence } of done) counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
  return [
    `${done.length} of ${tasks} ${dryRun ? 'would be done' : 'done'}.`,
    ...[...counts].map(([sentence, count]) => `${count} × ${sentence}`),
    ...(dryRun && done.length > 0 ? [`In total, it ${moneyOfMany(done, body['amount'])}.`] : []),
    ...refused.map(({ task, message }) => `${task}  ${message}`),
    ...(untried === 0
      ? []
      : [
          `${untried} were not tried: the command was stopped, or the gateway did not respond. Run the same command with --continue for the rest.`,
        ]),
  ].join('\n');
}

function moneyOfMany(done: readonly Touched[], written: unknown): string {
  const previews = done.flatMap(({ preview }) => preview ?? []);
  const given = previews.map(({ refunded }) => (typeof written === 'string' ? written : refunded));
  return moneyInWords({
    charged: totalOf(previews.map(({ charged }) => charged)),
    released: totalOf(previews.map(({ released }) => released)),
    refunded: totalOf(given),
    unpaidJobs: previews.reduce((jobs, { unpaid_jobs: more }) => jobs + more, 0),
  });
}

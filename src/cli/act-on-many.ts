import { z } from 'zod';
import { formatMicros, parseMicros } from '../money/money.ts';
import { unfinishedStatuses } from '../task/task.ts';
import type { OperatorActionName } from '../task/acts.ts';
import type { AdminClient, Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import type { Output } from './output.ts';
import type { Terminal } from './terminal.ts';

const pageSize = '100';
const atOnce = 4;
/** As many consecutive failures that are not refusals mean that the gateway is away. */
const consecutiveFailuresMax = 5;

export interface ManyTasks {
  /** Filters of the list of tasks. */
  readonly selection: Readonly<Record<string, string | undefined>>;
  readonly action: OperatorActionName;
  /** What the API is sent for each task: the action, its reason and its fields. */
  readonly body: Row & { readonly reason: string };
  readonly dryRun: boolean;
  /** Acts without asking. */
  readonly isConfirmed: boolean;
  /** Leaves out tasks on whose record this action with this reason stands: an earlier run was interrupted. */
  readonly continues: boolean;
}

export interface BulkSession {
  readonly client: AdminClient;
  readonly output: Output;
  /** Undefined: nobody watches. */
  readonly terminal: Terminal | undefined;
}

/** Acts on every task that the list finds. Resolves with whether all was done; each task that was not is named. */
export async function actOnMany(many: ManyTasks, session: BulkSession): Promise<boolean> {
  const { client, output, terminal } = session;
  const found = await collect(many, client);
  const chosen = many.continues ? found.filter((task) => !isDone(task, many)) : found;
  const skipped = found.length - chosen.length;
  const held = formatMicros(sum(chosen.filter(isUnfinished).map(({ hold }) => hold)));
  const left = skipped === 0 ? '' : ` (${skipped} were done before)`;
  output.note(`${many.action}: ${chosen.length} tasks${left}, ${held} is held for them.`);
  if (chosen.length > 0 && !(await mayAct(many, terminal))) {
    output.note('Nothing was done.');
    return false;
  }
  const { done, refused } = await each(chosen, many, session);
  output.result(
    { action: many.action, dry_run: many.dryRun, tasks: chosen.length, held, skipped, done, refused },
    report(many, { tasks: chosen.length, done, refused }),
  );
  return done === chosen.length;
}

/** All of them first: acting changes what the list finds. */
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

/** What was held for a task that has ended is settled. */
function isUnfinished({ status }: Row): boolean {
  return unfinishedStatuses.some((unfinished) => unfinished === status);
}

function sum(amounts: readonly unknown[]): bigint {
  return amounts.reduce<bigint>((total, amount) => total + (parseMicros(String(amount)) ?? 0n), 0n);
}

async function mayAct({ dryRun, isConfirmed }: ManyTasks, terminal: Terminal | undefined): Promise<boolean> {
  if (dryRun || isConfirmed) return true;
  if (terminal === undefined) {
    throw new CommandError(
      'usage',
      'There is no terminal to ask for confirmation. Add --yes, or try it with --dry-run.',
    );
  }
  return terminal.confirm('Continue?');
}

interface NotDone {
  readonly task: string;
  readonly message: string;
}

interface Outcome {
  readonly done: number;
  readonly refused: readonly NotDone[];
}

/** A few at a time. Stops beginning new ones when the gateway does not answer any more. */
async function each(
  tasks: readonly Row[],
  { body, dryRun }: ManyTasks,
  { client, terminal }: BulkSession,
): Promise<Outcome> {
  const refused: NotDone[] = [];
  let done = 0;
  let begun = 0;
  let consecutiveFailures = 0;
  const workOff = async (): Promise<void> => {
    for (;;) {
      const task = tasks[begun];
      if (task === undefined || consecutiveFailures >= consecutiveFailuresMax) return;
      begun += 1;
      const id = String(task['id']);
      try {
        await client.call('POST', `/tasks/${encodeURIComponent(id)}/actions`, { ...body, dry_run: dryRun });
        done += 1;
        consecutiveFailures = 0;
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        consecutiveFailures = error.code === 'action_not_possible' ? 0 : consecutiveFailures + 1;
        refused.push({ task: id, message: error.message });
      }
      terminal?.progress(`${done + refused.length} of ${tasks.length}, ${refused.length} not done`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workOff));
  terminal?.progress('');
  return { done, refused };
}

function report(
  { dryRun }: ManyTasks,
  { tasks, done, refused }: Outcome & { readonly tasks: number },
): string {
  const untried = tasks - done - refused.length;
  return [
    `${done} of ${tasks} ${dryRun ? 'would be done' : 'done'}.`,
    ...refused.map(({ task, message }) => `${task}  ${message}`),
    ...(untried === 0
      ? []
      : [
          `${untried} were not tried: the gateway does not answer. Run the same command with --continue for the rest.`,
        ]),
  ].join('\n');
}

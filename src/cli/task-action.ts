import { Argument, Help, Option, type Command } from 'commander';
import { isImageId } from '../base/ids.ts';
import { actionFieldNames, actionFields, optionOf, type ActionField } from '../operating/act-fields.ts';
import { actionTable, actsWith, needsPlan, operatorActions } from '../operating/acts.ts';
import type { OperatorActionName } from '../operating/acts.ts';
import { stateWords } from '../task/state.ts';
import { actOnMany, type BulkSession, type ManyTasks } from './act-on-many.ts';
import type { Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { adminCommand, type CliContext } from './context.ts';
import { parseAmount, parseCount } from './option-values.ts';
import { isConfirmed, requireConfirmable, triedSchema } from './planned-act.ts';
import { examples } from './program.js';

export const queryMeaning = 'tasks that match a Temporal query: \'NeedsAttention = "submit_ambiguous"\'';

interface ActionOptions {
  readonly reason: string;
  readonly query?: string;
  readonly callbackFailed?: true;
  readonly action?: OperatorActionName;
  readonly yes?: true;
  readonly continue?: true;
  readonly dryRun?: true;
  readonly plan?: string;
}

export function addTaskAction(tasks: Command, context: CliContext): void {
  const command = tasks
    .command('action')
    .alias('act')
    .description('Acts on a task. The task’s record states who acted, when and why.')
    .configureHelp({ visibleOptions: optionsOfAct })
    .addHelpText('after', ({ command }) => helpOfAct(actIn(command)))
    .argument('[id]', 'a task; for `refund`, also synchronous images (img_…)')
    .addArgument(new Argument('[action]').choices(operatorActions))
    .requiredOption('--reason <text>')
    .option('--dry-run', 'show the effect on the task and the money without acting')
    .option('--plan <plan>', 'the plan from a dry run; act only if a new dry run would show the same')
    .option('--query <query>', `act on many tasks, without an id: ${queryMeaning}`)
    .option('--callback-failed', 'act on all tasks with an abandoned callback')
    .addOption(new Option('--action <action>', 'for many tasks: the action').choices(operatorActions))
    .option(
      '--yes',
      'for many tasks: do not ask for confirmation; only for actions that move no money and cannot cause double billing',
    )
    .option(
      '--continue',
      'for many tasks: skip tasks for which this action was already tried with this reason',
    )
    .action(
      adminCommand(
        context,
        async (
          { client, output },
          ...[id, action, options]: [string | undefined, OperatorActionName | undefined, ActionOptions]
        ) => {
          const target = readTarget({ id, action, options });
          if (target.many !== undefined) {
            const { terminal } = context;
            if (!(await actOnMany(target.many, { client, output, terminal }))) context.fail(1);
            return;
          }
          await actOnOne(target.one, { client, output, terminal: context.terminal });
        },
      ),
    );
  for (const name of actionFieldNames(actionFields)) command.addOption(optionFor(name));
}

function optionFor(name: ActionField): Option {
  const { value, description, type } = actionFields[name];
  const option = new Option(`--${optionOf(name)} <${value}>`, `${actsWith(name).join(', ')}: ${description}`);
  if (type === 'text') return option;
  return option.argParser(type === 'count' ? parseCount : parseAmount);
}

function actIn(command: Command): OperatorActionName | undefined {
  const words = [...command.args, command.getOptionValue('action')];
  return operatorActions.find((name) => words.includes(name));
}

function optionsOfAct(command: Command): Option[] {
  const act = actIn(command);
  const options = new Help().visibleOptions(command);
  if (act === undefined) return options;
  const others = actionFieldNames(actionFields).filter(
    (name) => !Object.hasOwn(actionTable[act].fields, name),
  );
  const hidden = new Set(others.map((name) => `--${optionOf(name)}`));
  return options.filter(({ long }) => !hidden.has(long ?? ''));
}

function helpOfAct(act: OperatorActionName | undefined): string {
  if (act === undefined) {
    const table = operatorActions.map((name) => `  ${name.padEnd(15)}${actionTable[name].description}`);
    const one = examples('tasks action task_… retry_now --reason "the key is valid again"');
    const many = `tasks act --query 'NeedsAttention = "submit_ambiguous"' --action fail --reason outage --dry-run`;
    return `\nActions (\`gateway tasks action adopt --help\` for one of them):\n${table.join('\n')}\n${one}\n  gateway ${many}`;
  }
  const { description, possible, example } = actionTable[act];
  const fields = actionFieldNames(example).map((name) => ` --${optionOf(name)} ${example[name] ?? ''}`);
  const states = possible.map((name) => `  ${name.padEnd(12)}${stateWords[name]}`);
  const line = examples(`tasks action task_… ${act}${fields.join('')} --reason "…"`);
  return `\n${act}: ${description}\n\nPossible while the task is:\n${states.join('\n')}\n${line}`;
}

interface OneTask {
  readonly action: OperatorActionName;
  readonly path: string;
  readonly body: Row;
  readonly dryRun: boolean;
  readonly plan: string | undefined;
}

async function actOnOne(
  { action, path, body, dryRun, plan }: OneTask,
  { client, output, terminal }: BulkSession,
): Promise<void> {
  const confirmation = { action, plan, isConfirmed: !needsPlan(action), terminal };
  if (!dryRun) requireConfirmable(confirmation);
  const isPlanned = plan !== undefined || !needsPlan(action);
  const tried =
    dryRun || !isPlanned ? await client.call('POST', path, { ...body, dry_run: true }) : undefined;
  if (tried !== undefined) output.answer(tried, 'result');
  if (dryRun) return;
  const { plan: shown } = tried === undefined ? { plan } : triedSchema.parse(tried['result']);
  if (!(await isConfirmed(confirmation))) throw new CommandError('failed', 'Nothing was done.');
  output.answer(await client.call('POST', path, { ...body, plan: shown }), 'result');
}

interface Typed {
  readonly id?: string | undefined;
  readonly action?: OperatorActionName | undefined;
  readonly options: ActionOptions;
}

type Target = { readonly one: OneTask; readonly many?: undefined } | { readonly many: ManyTasks };

function readTarget({ id, action: named, options }: Typed): Target {
  const { query, callbackFailed, action: forMany, yes, continue: continues, ...given } = options;
  const { dryRun, reason, plan, ...written } = given;
  const action = named ?? forMany;
  const isMany = query !== undefined || callbackFailed === true;
  if (action === undefined || isMany === (id !== undefined)) {
    throw new CommandError(
      'usage',
      'Specify either one task and its action (`tasks action ID fail`) or a query for many tasks and their action (`tasks act --query QUERY --action fail`).',
    );
  }
  const body = { ...fieldsIn(written), action, reason };
  if (id !== undefined) return { one: { action, ...callFor(id, body), dryRun: dryRun === true, plan } };
  if (actionTable[action].isForOne === true) {
    throw new CommandError(
      'usage',
      `\`${action}\` needs details of one specific task, so it cannot be used with --query.`,
    );
  }
  const selection = { query, callback_failed: callbackFailed === true ? 'true' : undefined };
  return {
    many: {
      selection,
      action,
      body,
      dryRun: dryRun === true,
      plan,
      isConfirmed: yes === true,
      continues: continues === true,
    },
  };
}

/** Commander has converted the API's field names to camel case (`resultUrl`), so convert them back. */
function fieldsIn(written: object): Row {
  const given: ReadonlyMap<string, unknown> = new Map(Object.entries(written));
  const entries = actionFieldNames(actionFields).map((name) => {
    const key = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return [name, given.get(key)] as const;
  });
  return Object.fromEntries(entries);
}

function callFor(id: string, { action, ...body }: Row): Pick<OneTask, 'path' | 'body'> {
  const isOfImages = isImageId(id) && action === 'refund';
  return isOfImages
    ? { path: `/images/${encodeURIComponent(id)}/refund`, body }
    : { path: `/tasks/${encodeURIComponent(id)}/actions`, body: { action, ...body } };
}

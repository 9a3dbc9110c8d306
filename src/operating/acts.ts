import { isActionInput, wrongField, type ActionField, type ActionInput } from './act-fields.ts';
import { defined } from '../base/defined.ts';
import { namesOf } from '../base/names-of.ts';
import { stateWords, type EventName, type StateName } from '../task/state.ts';

/**
 * The Temporal UI, `temporal workflow update`, the command line, the operators' API, the console and the documentation
 * all derive their actions from this table.
 */

interface ActionRow {
  readonly title: string;
  /** One sentence, shown in the Temporal UI, the command line and the documentation. */
  readonly description: string;
  readonly possible: readonly StateName[];
  readonly fields: Readonly<Partial<Record<ActionField, boolean>>>;
  readonly example: Readonly<Partial<Record<ActionField, string | number>>>;
  readonly money: MoneyEffect;
  readonly bills: UpstreamBill;
  readonly ends?: true;
  /** If set, the console shows this text with a checkbox that the operator must tick. */
  readonly confirmation?: string;
  /**
   * The events through which the action can change the record. Empty for actions on ended tasks, because no workflow
   * handles them.
   */
  readonly events: readonly EventName[];
  /** Set if the action's fields are specific to one task, so the action cannot be applied to several tasks at once. */
  readonly isForOne?: true;
}

/**
 * `by_facts` means that the charge is computed from the facts that the operator enters. `proposed` accepts the charge
 * that is waiting for a decision.
 */
export type MoneyEffect = 'none' | 'releases' | 'by_facts' | 'proposed' | 'refunds';

/**
 * Whether the upstream may bill a job for which the caller does not pay: the task's only job (`unpaid`) or a second one
 * (`twice`).
 */
export type UpstreamBill = 'none' | 'unpaid' | 'twice';

const submitting = ['creating', 'queued', 'sending', 'pausing'] as const;
const lost = ['searching', 'asking'] as const;
const withJob = ['waiting', 'stopping', 'broken'] as const;
const beforeItsEnd = [...submitting, ...lost, ...withJob, 'review'] as const;

const withoutFields = { fields: {}, example: {} } as const;
const harmless = { money: 'none', bills: 'none' } as const;

const table = {
  retry_now: {
    title: 'Try now',
    description: 'Ends the wait: submits, polls, looks for the lost job or settles immediately.',
    possible: beforeItsEnd,
    ...withoutFields,
    ...harmless,
    events: ['resumed', 'acted'],
  },
  adopt: {
    title: 'Adopt a job',
    description:
      'Adopts the upstream job that belongs to the task, after asking the upstream whether it has that job.',
    possible: lost,
    fields: { upstream_id: true },
    example: { upstream_id: 'cgt-20261122-abcde' },
    ...harmless,
    events: ['adopted'],
    isForOne: true,
  },
  resubmit: {
    title: 'Resubmit',
    description:
      'Submits the task again, to the same channel or to one that you name. If the first submission was accepted, both are billed.',
    possible: lost,
    fields: { channel: false },
    example: { channel: 'main' },
    money: 'none',
    bills: 'twice',
    confirmation: 'I checked the upstream: it has no job from the first submission.',
    events: ['resubmitted'],
  },
  fail: {
    title: 'Fail',
    description: 'Fails the task and releases its hold in full.',
    possible: [...beforeItsEnd, 'ending'],
    ...withoutFields,
    money: 'releases',
    bills: 'unpaid',
    ends: true,
    events: ['wanted'],
  },
  cancel: {
    title: 'Cancel',
    description: 'Cancels the task if its upstream allows it, and releases its hold.',
    possible: [...submitting, ...withJob],
    ...withoutFields,
    money: 'releases',
    bills: 'none',
    ends: true,
    events: ['wanted'],
  },
  complete: {
    title: 'Complete',
    description: 'Ends the task as succeeded, with a result that you provide, and charges it.',
    possible: [...lost, ...withJob, 'review'],
    fields: { result_url: true, duration: false, resolution: false, total_tokens: false, images: false },
    example: { result_url: 'https://files.example/video.mp4', duration: 5 },
    money: 'by_facts',
    bills: 'none',
    events: ['completed'],
    isForOne: true,
  },
  extend: {
    title: 'Extend the deadline',
    description: 'Moves the deadline by this many seconds (60 to 604800). The hold does not change.',
    possible: beforeItsEnd,
    fields: { seconds: true },
    example: { seconds: 3600 },
    ...harmless,
    events: ['extended'],
  },
  accept_charge: {
    title: 'Accept the charge',
    description: 'Accepts the charge that awaits a decision.',
    possible: ['review'],
    ...withoutFields,
    money: 'proposed',
    bills: 'none',
    events: ['approved'],
  },
  undo: {
    title: 'Undo the adoption',
    description: 'Undoes an `adopt` whose job has not ended. The task then needs an operator again.',
    possible: withJob,
    ...withoutFields,
    ...harmless,
    events: ['undone'],
  },
  redeliver: {
    title: 'Send the callback again',
    description: 'Redelivers the callback of a task that has ended.',
    possible: ['ended'],
    ...withoutFields,
    ...harmless,
    events: [],
  },
  refund: {
    title: 'Refund',
    description: 'Refunds the charge of a task that succeeded, or a part of it, once.',
    possible: ['ended'],
    fields: { amount: false },
    example: { amount: '0.5' },
    money: 'refunds',
    bills: 'none',
    events: [],
  },
} as const satisfies Record<string, ActionRow>;

type Table = typeof table;
export type OperatorActionName = keyof Table;
export type ActionEvent<Name extends OperatorActionName> = Table[Name]['events'][number];

export const actionTable: Readonly<Record<OperatorActionName, ActionRow>> = table;

export const operatorActions = namesOf(table);

/** Ending a task releases its hold, which requires `tasks`. Charging or refunding requires `money`. */
export function accessOfAct(name: OperatorActionName): 'tasks' | 'money' {
  const { money } = actionTable[name];
  return money === 'none' || money === 'releases' ? 'tasks' : 'money';
}

/** True for actions that require a dry run first, because they move money or may cause a second upstream bill. */
export function needsPlan(name: OperatorActionName): boolean {
  const { money, bills } = actionTable[name];
  return money !== 'none' || bills !== 'none';
}

export const planOutdated =
  'The plan no longer applies: the task or the action’s fields have changed since the dry run. Repeat the dry run to see what the action would do now.';

export type EndedActionName = {
  [Name in OperatorActionName]: Table[Name]['events'] extends readonly [] ? Name : never;
}[OperatorActionName];
export type RunningActionName = Exclude<OperatorActionName, EndedActionName>;

/** The task's workflow has one update for each of these actions. Callers can use `cancel` too. */
export const workflowActions = operatorActions.filter(
  (name): name is RunningActionName => actionTable[name].events.length > 0,
);
export function actsWith(field: ActionField): readonly OperatorActionName[] {
  return operatorActions.filter((name) => Object.hasOwn(actionTable[name].fields, field));
}

export interface Said {
  readonly task: string;
  readonly money: string;
}

/** With `dry_run`, the result describes what the action would do. Sending the action with `plan` does exactly that. */
export type ActionResult = { readonly did: Said } | { readonly would: Said; readonly plan: string };

export function describeAction(name: OperatorActionName): string {
  return `${introduceAction(name)} ${dryRunMeaning}`;
}

export const dryRunMeaning =
  'If "dry_run" is true, the action changes nothing and returns what it would do, with a `plan`. An action with this plan is rejected if the task has changed since then.';

export function introduceAction(name: OperatorActionName): string {
  const { description, example } = actionTable[name];
  const input = JSON.stringify({ ...example, reason: 'why', by: 'your name' });
  return `${description} Input: ${input}.`;
}

/** Some actions depend on more than the state. `situation` lists those that are possible for a task. */
export function isPossibleIn(name: OperatorActionName, at: StateName): boolean {
  return actionTable[name].possible.includes(at);
}

export function refusalWords(
  name: OperatorActionName,
  { at, possible }: { readonly at: StateName; readonly possible: readonly OperatorActionName[] },
): string {
  const hint = possible.length === 0 ? '' : ` Possible now: ${possible.join(', ')}.`;
  return `\`${name}\` is not possible: ${stateWords[at]}.${hint}`;
}

export type ReadInput =
  | { readonly ok: true; readonly input: ActionInput }
  | { readonly ok: false; readonly message: string };

const nameCharactersMax = 64;

/**
 * Validates the input of an update. Never throws, because any error other than a refusal would block the task's
 * workflow.
 */
export function readActionInput(name: OperatorActionName, given: unknown): ReadInput {
  const refuse = (problem: string): ReadInput => ({
    ok: false,
    message: `${problem} \`${name}\`: ${describeAction(name)}`,
  });
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return refuse(
      'Nothing was done: the input must be a JSON object that says why (`reason`) and who (`by`).',
    );
  const values: Readonly<Record<string, unknown>> = { ...given };
  const { fields } = actionTable[name];
  const known = new Set(['reason', 'by', 'dry_run', 'plan', ...Object.keys(fields)]);
  const unknown = Object.keys(values).find((field) => !known.has(field) && values[field] !== undefined);
  if (unknown !== undefined) return refuse(`\`${unknown.slice(0, nameCharactersMax)}\` is not a field.`);
  const required = ['reason', 'by', ...Object.entries(fields).flatMap(([field, is]) => (is ? [field] : []))];
  const missing = required.find((field) => values[field] === undefined || values[field] === '');
  if (missing !== undefined) return refuse(`\`${missing}\` is missing.`);
  if (!isActionInput(given)) return refuse(`\`${wrongField(given) ?? ''}\` is not valid.`);
  const { dry_run: isDryRun, ...input } = defined({ ...given });
  return { ok: true, input: isDryRun === true ? { ...input, dry_run: true } : input };
}

import type { ActionField, ActionInput } from './act-fields.ts';
import { isActionInput, wrongField } from './act-fields.ts';
import { defined } from '../base/defined.ts';
import { stateWords } from './state.ts';
import type { EventName, StateName } from './state.ts';

/**
 * Everything that operators can do to a task: one row for each act. The Temporal UI, `temporal workflow update`, the
 * command line, the operators' API, the console and the documentation are rendered from it.
 */

interface ActionRow {
  /** Of its button and its dialog. */
  readonly title: string;
  /** One sentence for the Temporal UI, the command line and the documentation. */
  readonly description: string;
  readonly possible: readonly StateName[];
  /** True: required. */
  readonly fields: Readonly<Partial<Record<ActionField, boolean>>>;
  /** What a person fills in, beside `reason`. */
  readonly example: Readonly<Partial<Record<ActionField, string | number>>>;
  readonly money: MoneyEffect;
  readonly bills: UpstreamBill;
  /** The act makes the task fail. */
  readonly ends?: true;
  /** What a person has to have done before, as the words beside a box that is ticked. Absent: nothing. */
  readonly confirmation?: string;
  /** What it does to the record's state: one of these events. None: the task has ended, and no workflow takes part. */
  readonly events: readonly EventName[];
  /** Its fields name something that belongs to one task. */
  readonly isForOne?: true;
}

/** `by_facts`: the facts that are given decide the charge. `proposed`: the charge that waits for a decision. */
export type MoneyEffect = 'none' | 'releases' | 'by_facts' | 'proposed' | 'refunds';

/** Whether the upstream may bill a job that no charge pays for: the task's own (`unpaid`) or a second one (`twice`). */
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
      'Gives the task the upstream job that belongs to it, after asking the upstream whether it has that job.',
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
      'Submits the task again, to the same channel or a named one. If the first submission was accepted, both are billed.',
    possible: lost,
    fields: { channel: false },
    example: { channel: 'main' },
    money: 'none',
    bills: 'twice',
    confirmation: 'I looked at the upstream: it has no job of the first submission.',
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
    description: 'Ends the task as succeeded, with a result that you have, and charges it.',
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
    description: 'Moves the deadline by this many seconds (60 to 604800). The hold stays as it is.',
    possible: beforeItsEnd,
    fields: { seconds: true },
    example: { seconds: 3600 },
    ...harmless,
    events: ['extended'],
  },
  accept_charge: {
    title: 'Accept the charge',
    description: 'Accepts the charge that waits for a decision.',
    possible: ['review'],
    ...withoutFields,
    money: 'proposed',
    bills: 'none',
    events: ['approved'],
  },
  undo: {
    title: 'Undo the adoption',
    description: 'Takes back an `adopt` whose job has not ended; the task asks for an operator again.',
    possible: withJob,
    ...withoutFields,
    ...harmless,
    events: ['undone'],
  },
  redeliver: {
    title: 'Send the callback again',
    description: 'Sends the callback of a task that has ended again.',
    possible: ['ended'],
    ...withoutFields,
    ...harmless,
    events: [],
  },
  refund: {
    title: 'Refund',
    description: 'Gives back what a task that succeeded was charged, or a part of it, once.',
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

function isAction(name: string): name is OperatorActionName {
  return Object.hasOwn(table, name);
}

export const operatorActions = Object.keys(actionTable).filter(isAction);

/**
 * The role that an operator needs for this act. Releasing a whole hold is part of ending a task, so it needs `tasks`.
 * Charging or refunding needs `money`.
 */
export function accessOfAct(name: OperatorActionName): 'tasks' | 'money' {
  const { money } = actionTable[name];
  return money === 'none' || money === 'releases' ? 'tasks' : 'money';
}

/**
 * Whether the API and the command line require the plan of its dry run: a slip of the hand must not move money or let
 * an upstream bill twice.
 */
export function needsPlan(name: OperatorActionName): boolean {
  const { money, bills } = actionTable[name];
  return money !== 'none' || bills !== 'none';
}

export const planOutdated =
  'The plan no longer fits: the task has changed since its dry run, or the act has other fields. Repeat the dry run to see what the act would do now.';

/** Those for tasks that have ended: no workflow takes part. */
export type EndedActionName = {
  [Name in OperatorActionName]: Table[Name]['events'] extends readonly [] ? Name : never;
}[OperatorActionName];
export type RunningActionName = Exclude<OperatorActionName, EndedActionName>;

/** Those that are updates of the task's workflow, one each; a `cancel` is the caller's, too. */
export const workflowActions = operatorActions.filter(
  (name): name is RunningActionName => actionTable[name].events.length > 0,
);
export function actsWith(field: ActionField): readonly OperatorActionName[] {
  return operatorActions.filter((name) => Object.hasOwn(actionTable[name].fields, field));
}

/** One sentence about the task, and one about the money. */
export interface Said {
  readonly task: string;
  readonly money: string;
}

/**
 * What an action did or, with `dry_run`, what it would do. `plan` identifies what was shown, for the act that follows.
 */
export type ActionResult = { readonly did: Said } | { readonly would: Said; readonly plan: string };

export function describeAction(name: OperatorActionName): string {
  const { description, example } = actionTable[name];
  const input = JSON.stringify({ ...example, reason: 'why', by: 'your name' });
  return `${description} Input: ${input}. With "dry_run": true it changes nothing and answers what it would do, with a \`plan\`. An act with this plan is refused if the task has changed since.`;
}

/** Undefined: the action is possible. Otherwise one sentence that says why not, and what is. */
export function refusalOf(name: OperatorActionName, at: StateName): string | undefined {
  if (actionTable[name].possible.includes(at)) return undefined;
  const instead = operatorActions.filter((other) => actionTable[other].possible.includes(at));
  const hint = instead.length === 0 ? '' : ` Possible now: ${instead.join(', ')}.`;
  return `\`${name}\` is not possible: ${stateWords[at]}.${hint}`;
}

export type ReadInput =
  | { readonly ok: true; readonly input: ActionInput }
  /** `message`: a sentence for the person who wrote it. */
  | { readonly ok: false; readonly message: string };

const nameCharactersMax = 64;

/**
 * Reads what a person typed: a flat object. Never throws, whatever came: an update that throws anything but a refusal
 * would stop the task's workflow.
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

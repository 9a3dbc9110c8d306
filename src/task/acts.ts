import { idCharactersMax, isPlain, isToken } from '../base/plain-text.ts';
import { defined } from '../base/defined.ts';
import { parseMicros } from '../money/money.ts';
import { stateWords } from './state.ts';
import type { StateName } from './state.ts';

/**
 * What an operator can do to a task, in every way that there is: the Temporal UI, `temporal workflow update`, our command
 * line and the operators' API. Pure: the workflow, the API and the documentation read the same tables.
 */

export type ActionField = Exclude<keyof ActionInput, 'reason' | 'by' | 'dry_run'>;

interface ActionRow {
  /** One sentence for the Temporal UI, the command line and the documentation. */
  readonly description: string;
  readonly possible: readonly StateName[];
  /** True: required. */
  readonly fields: Readonly<Partial<Record<ActionField, boolean>>>;
  /** What a person fills in, beside `reason`. */
  readonly example: Readonly<Partial<Record<ActionField, string | number>>>;
}

const beforeItsEnd = ['submitting', 'pausing', 'lost', 'waiting', 'broken', 'review'] as const;

const withoutFields = { fields: {}, example: {} } as const;

export const actionTable = {
  retry_now: {
    description: 'Ends the wait: submits, polls, looks for the lost job or settles immediately.',
    possible: beforeItsEnd,
    ...withoutFields,
  },
  adopt: {
    description:
      'Gives the task the upstream job that belongs to it, after asking the upstream whether it has that job.',
    possible: ['lost'],
    fields: { upstream_id: true },
    example: { upstream_id: 'cgt-20261122-abcde' },
  },
  resubmit: {
    description:
      'Submits the task again, to the same channel or a named one. If the first submission was accepted, both are billed.',
    possible: ['lost'],
    fields: { channel: false },
    example: { channel: 'main' },
  },
  fail: {
    description: 'Fails the task and releases its hold in full.',
    possible: [...beforeItsEnd, 'ending'],
    ...withoutFields,
  },
  cancel: {
    description: 'Cancels the task if its upstream allows it, and releases its hold.',
    possible: ['submitting', 'pausing', 'waiting', 'broken'],
    ...withoutFields,
  },
  complete: {
    description: 'Ends the task as succeeded, with a result that you have, and charges it.',
    possible: ['lost', 'waiting', 'broken', 'review'],
    fields: { result_url: true, duration: false, resolution: false, total_tokens: false, images: false },
    example: { result_url: 'https://files.example/video.mp4', duration: 5 },
  },
  extend: {
    description: 'Moves the deadline by this many seconds (60 to 604800). The hold stays as it is.',
    possible: beforeItsEnd,
    fields: { seconds: true },
    example: { seconds: 3600 },
  },
  accept_charge: {
    description: 'Accepts the charge that waits for a decision.',
    possible: ['review'],
    ...withoutFields,
  },
  undo: {
    description: 'Takes back an `adopt` whose job has not ended; the task asks for an operator again.',
    possible: ['waiting', 'broken'],
    ...withoutFields,
  },
  redeliver: {
    description: 'Sends the callback of a task that has ended again.',
    possible: ['ended'],
    ...withoutFields,
  },
  refund: {
    description: 'Gives back what a task that succeeded was charged, or a part of it, once.',
    possible: ['ended'],
    fields: { amount: false },
    example: { amount: '0.5' },
  },
} as const satisfies Record<string, ActionRow>;

export type OperatorActionName = keyof typeof actionTable;

const rows: Readonly<Record<OperatorActionName, ActionRow>> = actionTable;

export const operatorActions = [
  'retry_now', 'adopt', 'resubmit', 'fail', 'cancel', 'complete', 'extend', 'accept_charge', 'undo', 'redeliver', 'refund',
] as const satisfies readonly OperatorActionName[]; // prettier-ignore

/** Those for tasks that have ended: no workflow takes part. */
export type EndedActionName = 'redeliver' | 'refund';
export type RunningActionName = Exclude<OperatorActionName, EndedActionName>;

/** Those that are updates of the task's workflow, one each; a `cancel` is the caller's, too. */
export const workflowActions = operatorActions.filter(
  (name): name is RunningActionName => name !== 'redeliver' && name !== 'refund',
);

/** The input of an action, as it is written in JSON. */
export interface ActionInput {
  readonly reason: string;
  /** Who acts: the operator whom the API has authenticated, or whoever a person at Temporal's tools says to be. */
  readonly by: string;
  /** Says what would happen, and does nothing. */
  readonly dry_run?: boolean;
  readonly upstream_id?: string;
  readonly channel?: string;
  readonly seconds?: number;
  readonly result_url?: string;
  readonly duration?: number;
  readonly resolution?: string;
  readonly total_tokens?: number;
  readonly images?: number;
  /** Decimal string. */
  readonly amount?: string;
}

/** One sentence about the task, and one about the money. */
export interface Said {
  readonly task: string;
  readonly money: string;
}

/** What an action did; or, where the input says `dry_run`, what it would do: its first word says which. */
export type ActionResult = { readonly did: Said } | { readonly would: Said };

export function saidOf(said: Said, { dry_run: isDryRun }: ActionInput): ActionResult {
  return isDryRun === true ? { would: said } : { did: said };
}

export function describeAction(name: OperatorActionName): string {
  const { description, example } = rows[name];
  const input = JSON.stringify({ ...example, reason: 'why', by: 'your name' });
  return `${description} Input: ${input}; with "dry_run": true it does nothing, and answers what it would do.`;
}

/** Undefined: the action is possible. Otherwise one sentence that says why not, and what is. */
export function refusalOf(name: OperatorActionName, at: StateName): string | undefined {
  if (rows[name].possible.includes(at)) return undefined;
  const instead = operatorActions.filter((other) => rows[other].possible.includes(at));
  const hint = instead.length === 0 ? '' : ` Possible now: ${instead.join(', ')}.`;
  return `\`${name}\` is not possible: ${stateWords[at]}.${hint}`;
}

export type ReadInput =
  | { readonly ok: true; readonly input: ActionInput }
  /** `message`: a sentence for the person who wrote it. */
  | { readonly ok: false; readonly message: string };

const reasonCharactersMax = 500;
const nameCharactersMax = 64;
const textCharactersMax = 2048;
const secondsMin = 60;
const secondsMax = 604_800;

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
  const { fields } = rows[name];
  const known = new Set(['reason', 'by', 'dry_run', ...Object.keys(fields)]);
  const unknown = Object.keys(values).find((field) => !known.has(field) && values[field] !== undefined);
  if (unknown !== undefined) return refuse(`\`${unknown.slice(0, nameCharactersMax)}\` is not a field.`);
  const required = ['reason', 'by', ...Object.entries(fields).flatMap(([field, is]) => (is ? [field] : []))];
  const missing = required.find((field) => values[field] === undefined || values[field] === '');
  if (missing !== undefined) return refuse(`\`${missing}\` is missing.`);
  if (!isInput(given)) return refuse(`\`${wrongField(given) ?? ''}\` is not valid.`);
  const { dry_run: isDryRun, ...input } = defined({ ...given });
  return { ok: true, input: isDryRun === true ? { ...input, dry_run: true } : input };
}

type FieldType = (value: unknown) => boolean;
const text =
  (max: number): FieldType =>
  (value) =>
    typeof value === 'string' && value.length > 0 && value.length <= max && isPlain(value);
const integer =
  (min: number, max: number): FieldType =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;

const fieldTypes: Readonly<Record<keyof ActionInput, FieldType>> = {
  reason: text(reasonCharactersMax),
  by: text(nameCharactersMax),
  dry_run: (value) => typeof value === 'boolean',
  upstream_id: (value) => typeof value === 'string' && isToken(value, idCharactersMax),
  channel: text(128),
  seconds: integer(secondsMin, secondsMax),
  result_url: (value) => text(textCharactersMax)(value) && /^https?:\/\/[^\s/]+/.test(String(value)),
  duration: (value) => typeof value === 'number' && value > 0 && value <= 86_400,
  resolution: text(32),
  total_tokens: integer(0, 1_000_000_000),
  images: integer(1, 1000),
  amount: (value) => typeof value === 'string' && (parseMicros(value) ?? 0n) > 0n,
};

function isField(name: string): name is keyof ActionInput {
  return Object.hasOwn(fieldTypes, name);
}

function wrongField(values: object): string | undefined {
  const isWrong = ([field, value]: [string, unknown]): boolean =>
    value !== undefined && !(isField(field) && fieldTypes[field](value));
  return Object.entries(values).find(isWrong)?.[0];
}

/** Of values among which nothing is missing. */
function isInput(values: object): values is ActionInput {
  return wrongField(values) === undefined;
}

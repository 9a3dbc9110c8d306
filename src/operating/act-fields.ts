import { idCharactersMax, isPlain, isToken } from '../base/plain-text.ts';
import { parseMicros } from '../money/money.ts';

export interface ActionInput {
  readonly reason: string;
  /** The operator authenticated by the API, or whatever name was entered in Temporal's tools. */
  readonly by: string;
  readonly dry_run?: boolean;
  /** From the action's dry run. The action is refused if the task has changed since. */
  readonly plan?: string;
  readonly upstream_id?: string;
  readonly channel?: string;
  readonly seconds?: number;
  readonly result_url?: string;
  readonly duration?: number;
  readonly resolution?: string;
  readonly total_tokens?: number;
  readonly images?: number;
  readonly amount?: string;
}

export type ActionField = Exclude<keyof ActionInput, 'reason' | 'by' | 'dry_run' | 'plan'>;

interface FieldRow {
  readonly label: string;
  /** Starts in lower case, because the command line and the API print it after the action's name. */
  readonly description: string;
  readonly value: string;
  readonly type: 'text' | 'count' | 'number';
}

export const actionFields: Readonly<Record<ActionField, FieldRow>> = {
  upstream_id: {
    label: 'Id of the upstream’s job',
    description: 'the upstream job that belongs to the task',
    value: 'id',
    type: 'text',
  },
  channel: {
    label: 'Channel (empty: the same)',
    description: 'a channel from the task’s plan; defaults to the channel that lost the submission',
    value: 'id',
    type: 'text',
  },
  seconds: {
    label: 'Additional seconds (60 to 604800)',
    description: 'how many seconds to add to the deadline',
    value: 'n',
    type: 'count',
  },
  result_url: {
    label: 'Address of the result',
    description: 'the http or https URL of the result',
    value: 'url',
    type: 'text',
  },
  duration: {
    label: 'Duration in seconds',
    description: 'the length of the result in seconds',
    value: 'seconds',
    type: 'number',
  },
  resolution: {
    label: 'Resolution',
    description: 'the resolution of the result',
    value: 'name',
    type: 'text',
  },
  total_tokens: {
    label: 'Tokens that the upstream bills',
    description: 'the number of tokens to bill, if the upstream bills by tokens',
    value: 'n',
    type: 'number',
  },
  images: {
    label: 'Number of images',
    description: 'the number of images',
    value: 'n',
    type: 'count',
  },
  amount: {
    label: 'Amount (empty: all that was charged)',
    description: 'the amount to refund, as a decimal string; defaults to the whole charge',
    value: 'decimal',
    type: 'text',
  },
};

export function actionFieldNames(fields: Readonly<Partial<Record<ActionField, unknown>>>): ActionField[] {
  return Object.keys(fields).filter((name): name is ActionField => Object.hasOwn(actionFields, name));
}

export function optionOf(field: ActionField): string {
  return field.replaceAll('_', '-');
}

const reasonCharactersMax = 500;
const nameCharactersMax = 64;
export const planCharactersMax = 64;
const textCharactersMax = 2048;
const secondsMin = 60;
const secondsMax = 604_800;

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
  plan: (value) => typeof value === 'string' && isToken(value, planCharactersMax),
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

export function wrongField(values: object): string | undefined {
  const isWrong = ([field, value]: [string, unknown]): boolean =>
    value !== undefined && !(isField(field) && fieldTypes[field](value));
  return Object.entries(values).find(isWrong)?.[0];
}

export function isActionInput(values: object): values is ActionInput {
  return wrongField(values) === undefined;
}

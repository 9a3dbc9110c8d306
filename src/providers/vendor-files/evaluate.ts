import jsonata from 'jsonata';
import { createRecent } from '../../base/recent.ts';
import { isRecord } from '../../base/is-record.ts';

const depthMax = 200;
const sequenceMax = 10_000;
const resultCharactersMax = 512 * 1024;
const compiledMax = 200;

/**
 * `eval` could run a response as an expression, and `pad` can create text of any length. The others return a different
 * value on each call.
 */
const refusedFunctions = new Set(['eval', 'random', 'shuffle', 'now', 'millis', 'pad']);
/** A text of hundreds of megabytes would crash the whole process, whatever the thread's limits. */
const textCharactersMax = 4 * 1024 * 1024;

const compiled = createRecent<jsonata.Expression>(compiledMax);

export function compile(source: string): jsonata.Expression {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const expression = jsonata(source, { stack: depthMax, sequence: sequenceMax });
  refuseUnsafe(expression.ast());
  compiled.set(source, expression);
  return expression;
}

function refuseUnsafe(ast: unknown): void {
  const seen = new Set<unknown>();
  const open: unknown[] = [ast];
  for (let node = open.pop(); node !== undefined || open.length > 0; node = open.pop()) {
    if ((!isRecord(node) && !Array.isArray(node)) || seen.has(node)) continue;
    seen.add(node);
    if (isRecord(node)) refuseNode(node);
    const parts: unknown[] = Object.values(node);
    open.push(...parts);
  }
}

function refuseNode({ type, value }: Readonly<Record<string, unknown>>): void {
  if (type === 'regex')
    throw new Error('regular expressions are not permitted: compare strings, or use $contains');
  if (type === 'variable' && typeof value === 'string' && refusedFunctions.has(value))
    throw new Error(`$${value} is not permitted`);
}

/** JSONata calls this after each step. The fourth argument is the step's result. */
function refuseLongText(...[, , , result]: readonly unknown[]): void {
  if (typeof result === 'string' && result.length > textCharactersMax)
    throw new Error(`it produces a text of more than ${textCharactersMax} characters`);
}

export interface Evaluation {
  readonly source: string;
  readonly input: unknown;
  readonly bindings: Readonly<Record<string, unknown>>;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Resolves with the result as JSON, or with undefined if there is none. Rejects if the expression fails or exceeds a
 * limit. Evaluations run one at a time, because JSONata counts steps per expression.
 */
export function evaluate(evaluation: Evaluation, stepsMax: number): Promise<string | undefined> {
  const result = last.then(() => evaluateNow(evaluation, stepsMax));
  last = result.catch(() => undefined);
  return result;
}

async function evaluateNow(
  { source, input, bindings }: Evaluation,
  stepsMax: number,
): Promise<string | undefined> {
  const expression = compile(source);
  let steps = 0;
  const count = (): void => {
    steps += 1;
    if (steps > stepsMax) throw new Error(`it needs more than ${stepsMax} steps`);
  };
  // The type of `assign` allows only strings as names, and these are symbols, so call it by reflection.
  const assign: unknown = Reflect.get(expression, 'assign');
  if (typeof assign !== 'function') throw new TypeError('steps cannot be counted');
  Reflect.apply(assign, expression, [Symbol.for('jsonata.__evaluate_entry'), count]);
  Reflect.apply(assign, expression, [Symbol.for('jsonata.__evaluate_exit'), refuseLongText]);
  const result: unknown = await expression.evaluate(input, bindings);
  const text = JSON.stringify(result);
  if (text !== undefined && text.length > resultCharactersMax) throw new Error('its result is too large');
  return text;
}

/** The message must not be logged, because it may quote the input. */
export function reasonOf(error: unknown): string {
  const message: unknown = isRecord(error)
    ? error['message']
    : error instanceof Error
      ? error.message
      : undefined;
  return typeof message === 'string' ? message : 'it cannot be evaluated';
}

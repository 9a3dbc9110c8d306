import { parentPort } from 'node:worker_threads';
import jsonata from 'jsonata';
import { LRUCache } from 'lru-cache';
import { isRecord } from '../base/is-record.ts';
import type { FromThread, ToThread } from './expressions.ts';

/** The thread in which expressions of vendor files are evaluated. */

/** The limits of one evaluation. */
const stepsMax = 100_000;
const depthMax = 200;
const sequenceMax = 10_000;
const resultCharactersMax = 512 * 1024;
const compiledMax = 200;

/** `eval` could run an answer as an expression, and `pad` makes a text of any length. The others change at each call. */
const refusedFunctions = new Set(['eval', 'random', 'shuffle', 'now', 'millis', 'pad']);
/** A text of hundreds of megabytes would end the whole process, whatever the thread's limits are. */
const textCharactersMax = 4 * 1024 * 1024;

const compiled = new LRUCache<string, jsonata.Expression>({ max: compiledMax });

function compile(source: string): jsonata.Expression {
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
    throw new Error('regular expressions are not permitted: compare texts, or use $contains');
  if (type === 'variable' && typeof value === 'string' && refusedFunctions.has(value))
    throw new Error(`$${value} is not permitted`);
}

/** JSONata calls it after each step, with the expression, its input, its scope and its result. */
function refuseLongText(...[, , , result]: readonly unknown[]): void {
  if (typeof result === 'string' && result.length > textCharactersMax)
    throw new Error(`it makes a text of more than ${textCharactersMax} characters`);
}

/** Returns the result as JSON. Undefined: there is no result. */
async function evaluate({ source, input, bindings }: ToThread): Promise<string | undefined> {
  const expression = compile(source);
  if (bindings === undefined) return undefined;
  let steps = 0;
  const count = (): void => {
    steps += 1;
    if (steps > stepsMax) throw new Error(`it needs more than ${stepsMax} steps`);
  };
  // The types of `assign` accept strings only, but this name is a symbol.
  const assign: unknown = Reflect.get(expression, 'assign');
  if (typeof assign !== 'function') throw new TypeError('steps cannot be counted');
  Reflect.apply(assign, expression, [Symbol.for('jsonata.__evaluate_entry'), count]);
  Reflect.apply(assign, expression, [Symbol.for('jsonata.__evaluate_exit'), refuseLongText]);
  const result: unknown = await expression.evaluate(input, bindings);
  const text = JSON.stringify(result);
  if (text !== undefined && text.length > resultCharactersMax) throw new Error('its result is too large');
  return text;
}

function wordsOf(error: unknown): string {
  const message: unknown = isRecord(error)
    ? error['message']
    : error instanceof Error
      ? error.message
      : undefined;
  return typeof message === 'string' ? message : 'it cannot be evaluated';
}

const send = (message: FromThread): void => parentPort?.postMessage(message);

parentPort?.on('message', (message: ToThread) => {
  evaluate(message).then(
    (text) => send(text === undefined ? { kind: 'done' } : { kind: 'done', text }),
    (error: unknown) => send({ kind: 'failed', reason: wordsOf(error) }),
  );
});

send({ kind: 'ready' });

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { next } from '../../src/task/next.ts';
import type { Task, TaskActionRecord } from '../../src/task/record.ts';
import { updateWith } from '../../src/store/mongo.ts';
import { createTaskForm } from '../../src/store/task-words.ts';
import { testSealing } from '../support/sealing.ts';
import { readSources } from '../support/source-rules.ts';
import { transitionSamples } from '../support/state-table.ts';
import { start } from '../support/task-model.ts';

const form = createTaskForm(testSealing);
const { tasks, events } = transitionSamples();
const noted = {
  wait: { cause: 'slot', since: start },
  concern: 'poll_failing',
} as unknown as Partial<Task>;
const act = { id: 'act-1' } as unknown as TaskActionRecord;

describe('a change of a task’s record', () => {
  it.each(events)('has no empty operator when %s happens, wherever the task stands', (_name, event) => {
    const sent = tasks.flatMap(([, task]) =>
      [task, { ...task, ...noted }].flatMap((before) => {
        const answer = next(before, event, start);
        if (!answer.ok || Object.keys(answer.changes).length === 0) return [];
        const withAct = { ...answer.changes, actions: [act] };
        return [answer.changes, withAct].map((changes) => form.updateOf(before, changes));
      }),
    );
    expect(sent.flatMap(emptyOperators)).toEqual([]);
  });

  it('has none if fields are only removed, or only derived', () => {
    const [, task] = tasks[0] ?? [];
    if (task === undefined) throw new Error('there is no task');
    const update = form.updateOf(task, { wait: undefined });
    expect(update).toEqual({ $inc: { rev: 1 }, $unset: { behind: '', wait: '' } });
  });

  it('is tried with every event, and most of them change something', () => {
    const changing = events.filter(([, event]) =>
      tasks.some(([, task]) => {
        const answer = next(task, event, start);
        return answer.ok && Object.keys(answer.changes).length > 0;
      }),
    );
    expect(changing.length).toBeGreaterThan(events.length * 0.9);
  });
});

it('updateWith leaves out fields that are undefined, and operators without fields', () => {
  const update = { $set: { a: 1, b: undefined }, $unset: {}, $max: { c: undefined } };
  expect(updateWith(update as object)).toEqual({ $set: { a: 1 } });
});

/** An object literal that starts with a field is never empty. All other updates must use `updateWith`. */
it('each update of the stores and the ledger names a field in its operators, or is made by updateWith', () => {
  const sources = readSources(join(import.meta.dirname, '../..'), ['src/store', 'src/ledger']);
  expect(
    Object.entries(sources).flatMap(([path, text]) =>
      (sends.test(text) ? unnamedOperands(text) : []).map((at) => `${path}: ${at}`),
    ),
  ).toEqual([]);
});

it('the rule detects an operand that may be empty', () => {
  const found = (text: string): number => unnamedOperands(text).length;
  expect(
    [
      'x({ $set: fields })',
      'x({ $set: {} })',
      'x({ $unset: { ...gone } })',
      'const $set = make();',
      'x({ $set })',
    ].map(found),
  ).toEqual([1, 1, 1, 1, 1]);
  expect(
    [
      'updateWith({ $set: fields, $unset })',
      'x({ $set: { a } })',
      'const $set = { a };\nx({ $set })',
      "x({ $max: {\n 'a.b': 1 } })",
    ].map(found),
  ).toEqual([0, 0, 0, 0]);
});

const sends = /\.(updateOne|updateMany|findOneAndUpdate|bulkWrite)\(|updateWith/;
const operator = 'set|unset|inc|max|min|push|pull|addToSet|setOnInsert|currentDate';

function unnamedOperands(source: string): readonly string[] {
  const text = source
    .replaceAll(/updateWith(<\w+>)?\((\{(?:[^{}]|\{[^{}]*\})*\})\)/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/const \$\w+: /g, 'const ');
  const named = /^\{ ?['[\w]/;
  const operands = [...text.matchAll(new RegExp(`\\$(${operator})( ?[:=] |,| \\})(.{0,30})`, 'g'))];
  return operands.flatMap(([found, name = '', sign = '', rest = '']) => {
    if (sign === ',' || sign === ' }') return text.includes(`const $${name} = `) ? [] : [found];
    return named.test(rest) || /^(pushed\(|state === )/.test(rest) ? [] : [found];
  });
}

function emptyOperators(update: object): readonly string[] {
  return Object.entries(update).flatMap(([name, fields]) =>
    Object.values(fields as object).some((value) => value !== undefined) ? [] : [name],
  );
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actionTable, describeAction, operatorActions, readActionInput } from '../../src/operating/acts.ts';
import type { ActionInput } from '../../src/operating/act-fields.ts';
import type { OperatorActionName } from '../../src/operating/acts.ts';

/** Operators type this input into the Temporal UI. An update that throws would stop the task's workflow. */

const complete: ActionInput = { reason: 'r', by: 'ada', result_url: 'https://files.example/a.mp4' };

function readsAs(name: OperatorActionName, raw: unknown): ActionInput | string {
  const read = readActionInput(name, raw);
  return read.ok ? read.input : read.message.replace(/ `\w+`: .*/s, '');
}

describe('input that an operator typed', () => {
  it('never ends a workflow, and is accepted only with known fields', () => {
    const value = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
    const field = fc.constantFrom(
      'reason',
      'by',
      'dry_run',
      'seconds',
      'amount',
      'upstream_id',
      '__proto__',
      'toString',
    );
    const object = fc.dictionary(fc.oneof(field, fc.string()), value);
    fc.assert(
      fc.property(fc.constantFrom(...operatorActions), fc.oneof(value, object), (name, raw) => {
        const read = readActionInput(name, raw);
        if (!read.ok) {
          expect(read.message).toContain(describeAction(name));
          return;
        }
        const known = ['reason', 'by', 'dry_run', ...Object.keys(actionTable[name].fields)];
        expect(known).toEqual(expect.arrayContaining(Object.keys(read.input)));
        expect(read.input.reason.length).toBeGreaterThan(0);
      }),
    );
  });

  it('must name the operator: plain text has no effect', () => {
    expect(readsAs('fail', 'the vendor says so')).toMatch(
      /^Nothing was done: the input must be a JSON object/,
    );
    expect(readsAs('fail', { reason: 'the vendor says so' })).toBe('`by` is missing.');
    expect(readsAs('fail', { reason: 'r', by: '' })).toBe('`by` is missing.');
  });

  it.each([null, undefined, 7, true, [], ['reason'], 'x'.repeat(501), ''])('%j is refused', (raw) => {
    expect(readsAs('fail', raw)).toMatch(/^Nothing was done: the input must be a JSON object/);
  });

  it('names an unknown field, shortened for the log', () => {
    expect(readsAs('fail', { reason: 'r', seconds: 60 })).toBe('`seconds` is not a field.');
    expect(readsAs('fail', { reason: 'r', ['y'.repeat(5000)]: 1 })).toBe(
      `\`${'y'.repeat(64)}\` is not a field.`,
    );
    expect(readsAs('fail', JSON.parse('{"reason":"r","__proto__":1}'))).toBe('`__proto__` is not a field.');
  });

  it('with an undefined field is equivalent to input without it', () => {
    expect(readsAs('fail', { reason: 'r', by: 'a', seconds: undefined })).toEqual({ reason: 'r', by: 'a' });
  });

  it('dry_run is kept only if it is true', () => {
    expect(readsAs('fail', { reason: 'r', by: 'a', dry_run: false })).toEqual({ reason: 'r', by: 'a' });
    expect(readsAs('fail', { reason: 'r', by: 'a', dry_run: true })).toEqual({
      reason: 'r',
      by: 'a',
      dry_run: true,
    });
    expect(readsAs('fail', { reason: 'r', by: 'a', dry_run: 'true' })).toBe('`dry_run` is not valid.');
  });
});

describe('the bounds of a field', () => {
  it.each<[OperatorActionName, string, readonly unknown[], readonly unknown[]]>([
    ['extend', 'seconds', [60, 604_800], [59, 604_801, 60.5, '60', Number.NaN, Infinity]],
    ['adopt', 'upstream_id', ['j', 'j'.repeat(256)], ['j'.repeat(257), 'a job', 'j\u001B', 7, {}]],
    ['resubmit', 'channel', ['c', 'c'.repeat(128)], ['c'.repeat(129), false]],
    ['complete', 'duration', [0.001, 86_400], [0, -1, 86_400.1, '5', Number.NaN]],
    ['complete', 'total_tokens', [0, 1_000_000_000], [-1, 1.5, 1_000_000_001]],
    ['complete', 'images', [1, 1000], [0, 1001, 2.5]],
    ['complete', 'resolution', ['720p', 'r'.repeat(32)], ['r'.repeat(33), 720]],
    [
      'refund',
      'amount',
      ['0.000001', '7', '999999999999'],
      ['0', '-1', '0.0000001', '1e3', '', 0.5, 1n, null],
    ],
    ['fail', 'by', ['a', 'a'.repeat(64)], ['a'.repeat(65), 'a\u202E', 1]],
    ['fail', 'reason', ['a', 'a'.repeat(500)], ['a'.repeat(501), 'a\u001B[2J', 1]],
  ])('of %s: %s', (name, field, accepted, refused) => {
    const base = { ...actionTable[name].example, reason: 'r', by: 'a' };
    for (const value of accepted) {
      expect(readsAs(name, { ...base, [field]: value })).toEqual({ ...base, [field]: value });
    }
    for (const value of refused) {
      expect(readsAs(name, { ...base, [field]: value })).toBe(`\`${field}\` is not valid.`);
    }
  });

  it.each([
    'ftp://files.example/a.mp4', 'javascript:alert(1)', 'files.example/a.mp4', 'https://', 'https:// x', 'http:///a',
    `https://files.example/${'a'.repeat(2048)}`,
  ])('a result is not at %s', (url) => {
    expect(readsAs('complete', { ...complete, result_url: url })).toBe('`result_url` is not valid.');
  }); // prettier-ignore
});

it('every example is accepted as shown', () => {
  for (const name of operatorActions) {
    const shown = /Input: (\{.*?\})\. If/.exec(describeAction(name))?.[1] ?? '';
    expect(readActionInput(name, JSON.parse(shown))).toMatchObject({ ok: true, input: JSON.parse(shown) });
  }
});

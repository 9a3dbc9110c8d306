import { afterAll, describe, expect, it } from 'vitest';
import { createExpressions, ExpressionError } from '../../../src/providers/vendor-files/expressions.ts';

const expressions = createExpressions();
afterAll(() => expressions.close());

const refusal = (source: string, input: unknown = {}) =>
  expressions.evaluate(source, input).then(
    (result) => `it is ${JSON.stringify(result)}`,
    (error: unknown) => (error instanceof ExpressionError ? error.reason : String(error)),
  );

describe('expressions of vendor files', () => {
  it('read a document and variables', async () => {
    const answer = { data: [{ url: 'a' }, { url: null }, { url: 'b' }] };
    expect(await expressions.evaluate('data[url].url', answer)).toEqual(['a', 'b']);
    expect(await expressions.evaluate('$id & "/" & $status', {}, { id: 'x', status: 200 })).toBe('x/200');
    expect(await expressions.evaluate('nothing', answer)).toBeUndefined();
    expect(await expressions.evaluate('nothing', undefined)).toBeUndefined();
  });

  it.each([
    ['$eval("1")', 'not permitted'],
    ['($f := $eval; $f("1"))', 'not permitted'],
    ['$map(["1"], $eval)', 'not permitted'],
    ['"1" ~> $eval', 'not permitted'],
    ['$eval(?, {})', 'not permitted'],
    ['$random()', 'not permitted'],
    ['$pad("x", 10)', 'not permitted'],
    ['$now()', 'not permitted'],
    ['$match(a, /a/)', 'regular expressions'],
    ['$replace(a, /(a+)+$/, "")', 'regular expressions'],
    ['{"a": [1, (true ? /x/ : 2)]}', 'regular expressions'],
    ['a.(', ''],
  ])('%s is refused', async (source, words) => {
    const said = await refusal(source);
    expect(said).toContain(words);
    expect(said).not.toMatch(/^it is/);
    await expect(expressions.check(source)).rejects.toThrow(ExpressionError);
  });

  it.each([
    ['a loop', '($f := function($n) { $f($n + 1) }; $f(1))'],
    ['a recursion', '($f := function($n) { 1 + $f($n + 1) }; $f(1))'],
    ['a list without end', '[1..10000000]'],
    ['many lists', '$map([1..1000], function($a) { $map([1..1000], function($b) { $a * $b }) })'],
    ['a text that would end the process', '$length($reduce([1..27], function($s, $n) { $s & $s }, "x"))'],
    ['a work that is not made of steps', '$join($split($reduce([1..21], function($s, $n) { $s & $s }, "x"), ""))'],
    ['a result that is too large', '$reduce([1..20], function($s, $n) { $s & $s }, "x")'],
  ])('%s ends, and the next expression is evaluated', async (_name, source) => {
    expect(await refusal(source)).not.toMatch(/^it is/);
    expect(await expressions.evaluate('a + 1', { a: 1 })).toBe(2);
  }); // prettier-ignore

  it('a document that nests too deep for a message is refused', async () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 200_000; depth += 1) deep = [deep];
    await expect(expressions.evaluate('$', deep)).rejects.toThrow(ExpressionError);
    expect(await expressions.evaluate('a', { a: 1 })).toBe(1);
  });

  it('have no access to processes, files or functions of JavaScript', async () => {
    for (const source of [
      '$process',
      '$require',
      '$globalThis',
      'constructor.constructor',
      '$constructor',
      '__proto__',
    ])
      expect(await expressions.evaluate(source, { a: 1 })).toBeUndefined();
    expect(await refusal('constructor.constructor("return 1")()')).not.toBe('it is 1');
  });
});

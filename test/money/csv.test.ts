import { expect, it } from 'vitest';
import { csvLine } from '../../src/money/csv.ts';

it.each([
  ['=1+1', `'=1+1`],
  ['+1', `'+1`],
  ['-1', `'-1`],
  ['@SUM(A1)', `'@SUM(A1)`],
  [' =1', `' =1`],
  ['\t=1', `"'\t=1"`],
  ['\r=1', `"'\r=1"`],
  ['\n=1', `"'\n=1"`],
  ['\u200B=1', `'\u200B=1`],
  ['＝1', `'＝1`],
  ['a=1', 'a=1'],
  ['', ''],
  ['one,two', '"one,two"'],
  ['one;two', '"one;two"'],
  ['she said "no"', '"she said ""no"""'],
  ['two\nlines', '"two\nlines"'],
])('the text %j', (text, cell) => {
  expect(csvLine([text])).toBe(`${cell}\r\n`);
});

it('amounts and numbers are numbers, negative ones too', () => {
  expect(csvLine([-1_500_000n, 7n, -3, undefined])).toBe('-1.500000,0.000007,-3,\r\n');
});

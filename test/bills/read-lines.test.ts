import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { billAt, readBill, readTime, type BillLine } from '../../src/bills/read-lines.ts';
import { providers } from '../../src/providers/index.ts';
import type { BillFormat } from '../../src/providers/provider.ts';

const format: BillFormat = { source: '', columns: { job: 'id', amount: 'cost', at: 'time' }, unit: 'USD' };

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bill-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function read(text: string | Uint8Array, as = format): Promise<BillLine[]> {
  const file = join(directory, 'bill.csv');
  writeFileSync(file, text);
  return collect(readBill(billAt(file), as));
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

it('accepts a byte order mark, CRLF, quotes, empty lines, and extra fields', async () => {
  const text = '\uFEFFtime,"id","the ""cost""",cost\r\n2026-11-01T10:00:00Z,"a, ""b""\n2",x,0.10\r\n\r\n';
  expect(await read(text)).toEqual([
    {
      job: 'a, "b"\n2',
      unit: 'USD',
      amount: '0.1',
      lines: 1,
      at: Date.parse('2026-11-01T10:00:00Z'),
      spanMs: 0,
    },
  ]);
  expect(await read('id,cost,time\na,,2026-11-01\n')).toEqual(['skipped']);
  expect(await read('id,cost,time\n')).toEqual([]);
});

it('a bill of jobs needs no column for the model, but one of days does', async () => {
  const { job: _job, ...days } = format.columns;
  const named = (columns: BillFormat['columns']) => ({ ...format, columns: { ...columns, model: 'model' } });
  const text = 'id,cost,time\na,1,2026-11-01\n';
  expect(await read(text, named(format.columns))).toMatchObject([{ job: 'a' }]);
  expect(await read(text.replace('id', 'model'), named(days))).toMatchObject([{ model: 'a' }]);
  await expect(read(text, named(days))).rejects.toThrow('there is no column model (model)');
});

it.each([
  ['nothing', '', 'is empty'],
  ['a column less', 'id,cost\na,1\n', 'line 1: there is no column time (at). Its columns are id, cost.'],
  ['a column twice', 'id,cost,time,cost\na,1,2026-11-01,1\n', 'line 1: there is more than one column cost'],
  ['a field less', 'id,cost,time\na,1,2026-11-01\nb,1\n', 'on line 3'],
  ['an open quote', 'id,cost,time\n"a,1,2026-11-01\n', 'Quote Not Closed'],
  ['a comma', 'id,cost,time\na,1,2026-11-01\nb,"1,5",2026-11-01\n', 'line 3: cost is "1,5", not a number'],
  ['a formula', 'id,cost,time\na,=1+1,2026-11-01\n', 'line 2: cost is "=1+1", not a number'],
  ['a date in words', 'id,cost,time\na,1,1 November\n', 'line 2: time is "1 November", not a time'],
  ['a long id', `id,cost,time\n${'a'.repeat(301)},1,2026-11-01\n`, 'line 2: id is'],
  ['a huge field', `id,cost,time\n${'a'.repeat(2_000_000)},1,2026-11-01\n`, 'bytes of 1048576 at line 2'],
  [
    'another encoding',
    Uint8Array.from([...Buffer.from('id,cost,time\na,1,2026-11-01\n'), 0xd6, 0xd0, 0x0a]),
    'is not UTF-8 in line 3',
  ],
])('%s is refused, and the error names the line', async (_what, text, words) => {
  await expect(read(text)).rejects.toMatchObject({
    name: 'BillError',
    message: expect.stringContaining(words),
  });
});

it('a file that does not exist', async () => {
  const missing = collect(readBill(billAt(join(directory, 'none.csv')), format));
  await expect(missing).rejects.toMatchObject({
    name: 'BillError',
    message: expect.stringContaining('cannot be read'),
  });
});

it.each([
  ['1790467200', 0, '2026-09-27T00:00:00.000Z'],
  ['1790467200123', 0, '2026-09-27T00:00:00.123Z'],
  ['2026-11-01', 8, '2026-10-31T16:00:00.000Z'],
  ['2026-11-01 10:00:00', 8, '2026-11-01T02:00:00.000Z'],
  ['2026-11-01T10:00:00.5+08:00', 0, '2026-11-01T02:00:00.500Z'],
  ['2026-11-01T10:00:00 UTC', 8, '2026-11-01T10:00:00.000Z'],
])('%s in a bill of UTC+%i', (text, offset, at) => {
  expect(new Date(readTime(text, offset)?.at ?? Number.NaN).toISOString()).toBe(at);
});

it.each(['2026-13-01', '2026-11-01T25:00:00Z', '26-11-01', '', '12'])('%j is not a time', (text) => {
  expect(readTime(text, 0)).toBeUndefined();
});

describe('the formats of the vendors', () => {
  const formatOf = (name: string): BillFormat => {
    const bill = providers[name]?.bill;
    if (bill === undefined) throw new Error(name);
    return bill;
  };

  it('fal: a line for each request, in nano dollars', async () => {
    const text =
      'request_id,endpoint_id,timestamp,output_units,unit_price,percent_discount,cost_subtotal,cost_discount,cost_total,cost_estimate_nano_usd\n' +
      'req-1,fal-ai/flux/dev,2026-07-26T00:00:08Z,2,0.025,10,0.05,0.005,0.045,45000000\n';
    expect(await read(text, formatOf('fal'))).toEqual([
      {
        job: 'req-1',
        unit: 'USD',
        amount: '0.045',
        lines: 1,
        at: Date.parse('2026-07-26T00:00:08Z'),
        spanMs: 0,
        model: 'fal-ai/flux/dev',
      },
    ]);
  });

  it('openai: sums of a day, and days without any', async () => {
    const text =
      'start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,quantity,quantity_unit,line_item,user_id,api_key_id,project_id,organization_id,project_name,organization_name,user_email,api_source\n' +
      '1790467200,1790553600,2026-09-27T00:00:00+00:00,2026-09-28T00:00:00+00:00,,,,,,,,,,,,,\n' +
      '1790553600,1790640000,2026-09-28T00:00:00,2026-09-29T00:00:00,0.003835980000000000000000000000,usd,,,"image, output",,,,org,,Org,a@example.com,\n';
    expect(await read(text, formatOf('openai'))).toEqual([
      'skipped',
      {
        job: '',
        unit: 'USD',
        amount: '0.00383598',
        lines: 1,
        at: Date.parse('2026-09-28T00:00:00Z'),
        spanMs: 0,
        model: 'image, output',
      },
    ]);
  });

  it('ark: sums of a day in Beijing', async () => {
    const text =
      'BillPeriod,ExpenseDate,Product,ConfigName,PayableAmount,Currency\n2026-10,2026-10-05,Ark,seedance,1.96,CNY\n';
    expect(await read(text, formatOf('ark'))).toMatchObject([
      {
        unit: 'CNY',
        amount: '1.96',
        at: Date.parse('2026-10-04T16:00:00Z'),
        spanMs: 86_400_000,
        model: 'seedance',
      },
    ]);
  });
});

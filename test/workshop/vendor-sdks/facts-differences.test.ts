import { describe, expect, it } from 'vitest';
import type { FactsTable } from '../../../src/models/facts-table.ts';
import { factsDifferences, type ReadList } from '../../../workshop/vendor-sdks/facts-differences.ts';

const table: FactsTable = {
  origin: { source: 'sdk 1.0.0', read: '2026-11' },
  retired: { source: 'a page', read: '2026-11', models: [[/^old$/, '2026-01-01']] },
  unoffered: [[/^preview$/, 'a preview']],
  models: [
    [
      /^a/,
      {
        resolutions: ['720p'],
        seconds: { only: [5] },
        cases: [{ when: { brings: ['videos'] }, facts: { resolutions: ['1080p'] } }],
      },
    ],
    [/^b/, {}, { source: 'a page', read: '2026-11' }],
  ],
  others: {},
};
const list: ReadList = {
  vendor: 'v',
  kind: 'video',
  sdk: 'sdk',
  version: '1.1.0',
  type: 'T',
  lists: 'models',
  read: ['a1'],
};
const said = (lists: readonly Partial<ReadList>[], offered: readonly string[] = []) =>
  factsDifferences({
    vendor: 'v',
    kind: 'video',
    table,
    lists: lists.map((one) => ({ ...list, ...one })),
    offered,
  });

describe('the differences between a table of facts and the SDKs', () => {
  it('are empty if both agree', () => {
    expect(said([{ read: ['a1', 'b1', 'old', 'preview'] }], ['a1', 'b9'])).toEqual([]);
  });

  it('include the models that the table lacks', () => {
    expect(said([{ read: ['a1', 'c1', 'audio-1'], only: /^[ac]\d/ }])).toEqual([
      'v, video: c1 is new: sdk 1.1.0 has it, but the table does not',
    ]);
  });

  it('include rows and offered models that no SDK has any longer', () => {
    expect(said([{ read: ['preview'] }])).toEqual(['v, video: /^a/ is gone: no SDK has it any more']);
    expect(said([{ read: ['a2'] }], ['a1', 'b1', 'old'])).toEqual([
      'v, video: a1 is gone: no SDK has it any more',
    ]);
    expect(said([{ read: ['a2'] }, { sdk: 'other', read: ['a1'] }], ['a1'])).toEqual([]);
  });

  it('include values that only one side has, over all cases of a model', () => {
    expect(said([{ lists: 'resolutions', read: ['720p', '4k'] }, list])).toEqual([
      'v, video: resolutions: 4k is in sdk 1.1.0, but not in the table',
      'v, video: resolutions: 1080p is in the table, but not in sdk 1.1.0',
    ]);
    expect(
      said([{ lists: 'resolutions', read: ['720p', '4k'], differs: { '4k': 'x', '1080p': 'x' } }, list]),
    ).toEqual([]);
    expect(said([{ lists: 'seconds', read: ['5s'] }, list])).toEqual([]);
    // If the table has no ratios, the vendor decides which ones are valid, so there is no difference.
    expect(said([{ lists: 'ratios', read: ['1:1'] }, list])).toEqual([]);
  });

  it('include every list that cannot be read', () => {
    expect(
      said([
        { read: { unreadable: 'it is any' } },
        { lists: 'ratios', read: { unreadable: 'it is string' } },
      ]),
    ).toEqual([
      'v, video: T of sdk 1.1.0 cannot be read: it is any',
      'v, video: T of sdk 1.1.0 cannot be read: it is string',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { originOf, type FactsOrigin, type FactsTable } from '../../src/models/facts-table.ts';
import { providers } from '../../src/providers/index.ts';
import { testOrigin } from '../support/test-origin.ts';

const tables = Object.entries(providers).flatMap(([name, { video, image, imageTask }]) =>
  [video?.facts, image?.facts, imageTask?.facts].flatMap((facts) =>
    facts === undefined || typeof facts === 'function' ? [] : [[name, facts] as const],
  ),
);

const isDay = (text: string) => new Date(text).toISOString().slice(0, text.length) === text;

describe.each(tables)('the facts of %s', (_, { origin, models, retired }) => {
  it('have a source, and the day on which it was read', () => {
    const own = models.flatMap(([, , row]) => (row === undefined ? [] : [row]));
    const all: FactsOrigin[] = [origin, ...own, ...(retired === undefined ? [] : [retired])];
    for (const { source, read } of all) {
      expect([source.trim().length > 3, isDay(read), read]).toEqual([
        true,
        true,
        expect.stringMatching(/^2\d{3}-/),
      ]);
    }
    for (const [, on] of retired?.models ?? []) expect([on, isDay(on)]).toEqual([on, true]);
  });
});

describe('where the facts of a model come from', () => {
  const row = { source: 'a row', read: '2026-10-02' } as const;
  const retired = { source: 'a page', read: '2026-11-29', models: [[/^b$/, '2026-12-01']] } as const;
  const table: FactsTable = {
    origin: testOrigin,
    retired,
    models: [
      [/^a$/, {}, row],
      [/^b/, {}],
    ],
    others: {},
  };

  it('is that of its row, or of its table', () => {
    expect(originOf(table, 'a')).toEqual(row);
    expect(originOf(table, 'b2')).toEqual(testOrigin);
    expect(originOf(table, 'other')).toEqual(testOrigin);
    expect(originOf(() => ({}), 'a')).toBeUndefined();
  });

  it('has the day on which the vendor shuts it down', () => {
    const retirement = { source: 'a page', read: '2026-11-29', on: '2026-12-01' };
    expect(originOf(table, 'b')).toEqual({ ...testOrigin, retirement });
  });

  it.each([
    ['openai', 'gpt-image-1', '2026-10-23'],
    ['openai', 'gpt-image-1-mini', '2026-12-01'],
    ['openai', 'gpt-image-2', undefined],
    ['google', 'veo-3.0-generate-001@gs://bucket', '2026-06-30'],
    ['google', 'veo-3.1-generate-001', undefined],
    ['ark', 'seedance-1-0-lite-t2v-250428', '2026-05-13'],
    ['ark', 'doubao-seedance-1-0-lite-t2v-250428', undefined],
  ])('%s: %s on %s', (vendor, model, on) => {
    const { video, image } = providers[vendor] ?? {};
    const facts = (video ?? image)?.facts;
    expect(facts && originOf(facts, model)?.retirement?.on).toBe(on);
  });
});

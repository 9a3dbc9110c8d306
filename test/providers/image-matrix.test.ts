import { describe, expect, it } from 'vitest';
import type { ImageRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { foreignProbesOf, imageProbesOf, imageRowsOf, imageSubmissionOf } from './image-matrix.ts';
import { isHandedOn, ownColumns, saidOfImage, triedColumns } from './image-matrix.ts';

/** Tries every image field of every vendor on every row. Exactly the promised fields must be sent upstream. */

const rows = Object.entries(providers).flatMap(([name, provider]) =>
  imageRowsOf(provider).map((row) => [name, row.model, row] as const),
);

const anyway: ReadonlySet<string> = new Set(['auto', '2K', '1024x1024', '2048x2048', '1600x1600']);

describe.each(rows)('%s, %s', (_, model, row) => {
  const submissions = new Map<ImageRequest, Promise<string>>();
  function submissionOfPlain(request: ImageRequest): Promise<string> {
    const known = submissions.get(request) ?? imageSubmissionOf(row, request);
    submissions.set(request, known);
    return known;
  }

  it('matches its own row', () => {
    const source = (row.provider.image ?? row.provider.imageTask)?.facts;
    const found =
      typeof source === 'object' ? source.models.find(([name]) => name.test(model))?.[0] : undefined;
    expect(found).toBe(row.pattern);
  });

  it('sends exactly the promised fields of its own', async () => {
    const cells = ownColumns(row).map(async (column) => brokenCell(column));
    expect((await Promise.all(cells)).flat()).toEqual([]);
  });

  it('lists the fields of other vendors as unused, and does not send them', async () => {
    const own = new Set(ownColumns(row));
    const foreign = triedColumns.filter((column) => !own.has(column));
    for (const probe of foreignProbesOf(foreign)) {
      const plain = { ...probe, request: probe.plain };
      if (saidOfImage(row, plain, '') === 'refused' || !isHandedOn(row, probe.plain)) continue;
      const said = Object.keys(probe.fields).map((column) => saidOfImage(row, probe, column));
      expect([...new Set(said)]).toEqual(['warned']);
      expect(await imageSubmissionOf(row, probe.request)).toBe(await submissionOfPlain(probe.plain));
    }
  });

  async function brokenCell(column: string): Promise<readonly unknown[]> {
    const accepted = imageProbesOf(column).flatMap((probe) => {
      const said = saidOfImage(row, probe, column);
      return said !== 'refused' && isHandedOn(row, probe.request) ? [{ ...probe, said }] : [];
    });
    const tried = await Promise.all(
      accepted.map(async ({ request, plain, texts, said }) => {
        const body = await imageSubmissionOf(row, request);
        const isThere =
          texts?.every((text) => body.includes(text)) ?? body !== (await submissionOfPlain(plain));
        const value = request.extra[column] ?? request.size ?? request.quality;
        return { column, said, isThere, value, body };
      }),
    );
    const isAsSaid = tried.map(({ said, isThere }) => isThere === (said === 'sent'));
    // The default need not be sent if the model accepts no other value, or if the model chooses when the field is
    // missing.
    const isAll = new Set(tried.map(({ value }) => JSON.stringify(value))).size === 1;
    if (tried.length > 0 && !isAll && !isAsSaid.includes(true)) return [`${column} is never as promised`];
    return tried.filter(
      ({ said, value }, index) =>
        isAsSaid[index] !== true &&
        !(said === 'sent' && (isAll || (typeof value === 'string' && anyway.has(value)))),
    );
  }
});

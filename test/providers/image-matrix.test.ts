import { describe, expect, it } from 'vitest';
import type { ImageRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import {
  imageProbesOf,
  imageRowsOf,
  imageSubmissionOf,
  isHandedOn,
  saidOfImage,
  triedColumns,
} from './image-matrix.ts';

/** Every field of image requests that some vendor has, at every row: what is said to be sent is, and nothing else. */

const rows = Object.entries(providers).flatMap(([name, provider]) =>
  imageRowsOf(provider).map((row) => [name, row.model, row] as const),
);

/** Sizes that some model renders where none is named. */
const anyway: ReadonlySet<string> = new Set(['auto', '2K', '1024x1024', '2048x2048', '1600x1600']);

describe.each(rows)('%s, %s', (_, model, row) => {
  const submissions = new Map<ImageRequest, Promise<string>>();
  /** All columns share it. */
  function submissionOfPlain(request: ImageRequest): Promise<string> {
    const known = submissions.get(request) ?? imageSubmissionOf(row, request);
    submissions.set(request, known);
    return known;
  }

  it('is the model of its own row', () => {
    const source = (row.provider.image ?? row.provider.imageTask)?.facts;
    const found =
      typeof source === 'object' ? source.models.find(([name]) => name.test(model))?.[0] : undefined;
    expect(found).toBe(row.pattern);
  });

  it.each(triedColumns)('%s', async (column) => {
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
        return { said, isThere, value, body };
      }),
    );
    const isAsSaid = tried.map(({ said, isThere }) => isThere === (said === 'sent'));
    // What the model does anyway need not be sent: where it is all that is accepted, or leaves the choice.
    const isAll = new Set(tried.map(({ value }) => JSON.stringify(value))).size === 1;
    const broken = tried.filter(
      ({ said, value }, index) =>
        isAsSaid[index] !== true &&
        !(said === 'sent' && (isAll || (typeof value === 'string' && anyway.has(value)))),
    );
    expect(broken).toEqual([]);
    expect(tried.length === 0 || isAll || isAsSaid.includes(true)).toBe(true);
  });
});

import { z } from 'zod';
import { capWindows, type Caps, type KeyCaps } from '../money/caps.ts';
import { invalidParameter } from '../errors/errors.ts';
import { parseMicros, sixPlaces } from '../money/money.ts';
import type { Catalogue } from '../routing/catalogue.ts';

const limit = z
  .string()
  .refine(
    (text) => (parseMicros(text) ?? -1n) >= 0n,
    'must be a decimal string with at most 6 places, and not negative',
  )
  .transform(sixPlaces)
  .optional();

/** Per UTC day, per calendar month, and in total. A missing field means no cap. */
export const capsFields = { day: limit, month: limit, total: limit };

type WrittenCaps = { readonly [Window in keyof Caps]?: string | undefined };

export function parseCaps(written: WrittenCaps): Caps {
  return Object.fromEntries(
    capWindows.flatMap((window) => {
      const micros = parseMicros(written[window] ?? '');
      return micros === undefined ? [] : [[window, micros]];
    }),
  );
}

/** Returns undefined if a name occurs twice. */
export function parseParts<Part extends WrittenCaps>(
  parts: readonly Part[],
  nameOf: (part: Part) => string,
): ReadonlyMap<string, Caps> | undefined {
  const named = new Map(parts.map((part) => [nameOf(part), parseCaps(part)]));
  return named.size === parts.length ? named : undefined;
}

const cappedModelsMax = 200;

export const keyCapsFields = {
  ...capsFields,
  models: z
    .array(z.object({ model: z.string().min(1), ...capsFields }))
    .max(cappedModelsMax)
    .default([])
    .meta({ description: 'Caps for individual models, in addition to the key’s caps for all models.' }),
};

type WrittenKeyCaps = WrittenCaps & {
  readonly models: readonly (WrittenCaps & { readonly model: string })[];
};

export function parseKeyCaps(
  { models, ...all }: WrittenKeyCaps,
  catalogue: Pick<Catalogue, 'current'>,
  path = '',
): KeyCaps {
  const known = new Set(catalogue.current().models.map((model) => model.id));
  const parts = parseParts(models, ({ model }) => model);
  const unknown = models.findIndex(({ model }) => !known.has(model));
  if (parts !== undefined && unknown < 0) return { all: parseCaps(all), models: parts };
  const param = unknown >= 0 ? `models[${unknown}].model` : 'models';
  throw invalidParameter(
    `${path}${param}`,
    'Each model must be in the configuration, and must not be repeated.',
  );
}

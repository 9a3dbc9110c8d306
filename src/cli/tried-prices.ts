import { parse } from 'yaml';
import { z } from 'zod';

const sums = {
  tasks: z.int(),
  before: z.string(),
  after: z.string(),
  difference: z.string(),
  cost: z.string(),
  cost_unknown: z.int(),
  margin_before: z.string(),
  margin_after: z.string(),
  unpriced: z.int(),
};

/** Kept in a separate module so that `--help` does not load zod. */
export const triedSchema = z.object({
  ...sums,
  by_model: z.array(z.object({ model: z.string(), ...sums })),
  by_account: z.array(z.object({ account: z.string().nullable(), ...sums })),
  unpriced_tasks: z.array(z.object({ task: z.string(), why: z.string() })),
});

export type TriedPrices = z.infer<typeof triedSchema>;

/** Fields that affect only holds are dropped. The gateway validates all others. */
const priceSchema = z
  .looseObject({})
  .transform(({ minimum, lines }: Readonly<Record<string, unknown>>) => ({ minimum, lines }));

const fileSchema = z.object({
  models: z.array(z.object({ id: z.string(), price: priceSchema })),
  channels: z
    .array(
      z.object({
        id: z.string(),
        models: z.record(z.string(), z.object({ price: priceSchema.optional() })).default({}),
      }),
    )
    .default([]),
});

export function readPrices(text: string) {
  const { data: file } = fileSchema.safeParse(parseYaml(text));
  if (file === undefined) return undefined;
  const own = file.channels.map(({ id, models }) => {
    const priced = Object.entries(models).flatMap(([model, { price }]) =>
      price === undefined ? [] : [[model, price] as const],
    );
    return [id, Object.fromEntries(priced)] as const;
  });
  return {
    models: Object.fromEntries(file.models.map(({ id, price }) => [id, price])),
    channels: Object.fromEntries(own.filter(([, models]) => Object.keys(models).length > 0)),
  };
}

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

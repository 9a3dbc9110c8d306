import { z } from 'zod';

export function listSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ object: z.literal('list'), data: z.array(item) });
}

export function pageSchema<Item extends z.ZodType>(item: Item) {
  return listSchema(item).extend({ has_more: z.boolean() });
}

/** If there is a next page, `found` contains one more item than fits on this page. */
export function presentPage<Found>(found: readonly Found[], limit: number, present: (one: Found) => object) {
  const data = found.slice(0, limit).map((one) => present(one));
  return { object: 'list', data, has_more: found.length > limit };
}

export function ownPageSchema<Item extends z.ZodType>(item: Item) {
  return listSchema(item).extend({
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });
}

export function presentOwnPage<Item extends { readonly id: string }>(data: Item[], hasMore: boolean) {
  return {
    object: 'list' as const,
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

import { z } from 'zod';

export const link = z.string().regex(/^https?:\/\/\S+$/, 'must be a URL');
export const media = z
  .string()
  .regex(/^(?:https?:\/\/\S+|data:[\w.+-]+\/[\w.+-]+;base64,\S+)$/, 'must be a URL or a data URL');
export const base64 = z.string().regex(/^[A-Za-z0-9+/]+=*$/, 'must be base64');

export function word(words: string) {
  return z.enum(words.split(' '));
}

const types = {
  text: z.string(),
  int: z.int(),
  number: z.number(),
  flag: z.boolean(),
  link,
  media,
  any: z.unknown(),
};

/** Returns a schema for fields that are accepted but never read. Names are grouped by type and separated by spaces. */
export function taken(names: Partial<Record<keyof typeof types, string>>): Readonly<Record<never, never>> {
  return Object.fromEntries(
    Object.entries(types).flatMap(([type, schema]) => {
      const list =
        Object.entries(names)
          .find(([name]) => name === type)?.[1]
          ?.split(' ') ?? [];
      return list.map((name) => [name, schema.optional()]);
    }),
  );
}

import { z } from 'zod';

const modelCharactersMax = 128;
const promptCharactersMax = 32_000;
const wordCharactersMax = 64;
const callbackUrlCharactersMax = 2_048;
const expiresAfterSecondsMax = 259_200;

export const word = z.string().min(1).max(wordCharactersMax);

export const model = z.string().min(1).max(modelCharactersMax);

export const callbackUrl = z.string().min(1).max(callbackUrlCharactersMax).optional();
export const expiresAfterSeconds = z.int().min(1).max(expiresAfterSecondsMax).optional();

/** Checks the length first, so that a multi-megabyte prompt is rejected without being scanned. */
export const prompt = z
  .string()
  .refine((text) => !isLongerThan(text, promptCharactersMax), {
    error: `must have at most ${promptCharactersMax} characters`,
    abort: true,
  })
  .refine((text) => text.trim() !== '', 'must not be empty')
  .meta({ pattern: '\\S', maxLength: promptCharactersMax });

/** Counts code points. `length` counts UTF-16 code units, and some characters need two of them. */
function isLongerThan(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  return text.length > 2 * charactersMax || Array.from(text).length > charactersMax;
}

/** Not recursive, so malicious nesting cannot exhaust the stack. Later steps do recurse and rely on this check. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= levels; depth += 1) {
    level = level.flatMap((item): unknown[] =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}

export const anyFields = z.record(z.string(), z.unknown());

/**
 * Removes fields that are `null`, because many clients send `null` for optional fields that they do not set. `names`
 * restricts this to some of the fields.
 */
export function withoutNulls(
  fields: Readonly<Record<string, unknown>>,
  names?: ReadonlySet<string>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== null || names?.has(name) === false),
  );
}

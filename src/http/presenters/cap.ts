import { z } from 'zod';
import { capStates, capsOf, capWindows } from '../../money/caps.ts';
import type { Caps, CapState, SpentUse } from '../../money/caps.ts';
import { defined } from '../../base/defined.ts';
import { formatMicros } from '../../money/money.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

const resetsAt = unixSeconds('The begin of the next UTC day or month; absent: never.').optional();

export const capSchema = z
  .object({
    scope: z.enum(['key', 'model', 'end_user']).meta({
      description: '`model`: of the key with this model.',
    }),
    window: z.enum(['day', 'month', 'total']),
    limit: z.string(),
    used: z.string().meta({ description: 'Charges and open holds.' }),
    left: z.string(),
    resets_at: resetsAt,
  })
  .meta({ id: 'Cap' });

export function presentCap(cap: CapState): z.output<typeof capSchema> {
  return {
    scope: cap.scope,
    window: cap.window,
    limit: formatMicros(cap.limit),
    used: formatMicros(cap.used),
    left: formatMicros(cap.left),
    ...defined({ resets_at: cap.resetsAt === undefined ? undefined : toSeconds(cap.resetsAt) }),
  };
}

const limit = z.string().optional();
export const capsSchema = z.object({ day: limit, month: limit, total: limit });

/** Windows without a cap are absent. */
export function presentCaps(caps: Caps): z.output<typeof capsSchema> {
  return Object.fromEntries(
    capWindows.flatMap((window) => {
      const micros = caps[window];
      return micros === undefined ? [] : [[window, formatMicros(micros)]];
    }),
  );
}

const windowSchema = z.object({
  used: z.string().meta({ description: 'Charges and open holds.' }),
  limit: z.string().nullable().meta({ description: 'null: no cap.' }),
  left: z.string().nullable(),
  resets_at: resetsAt,
});

export const spentSchema = z.object({ day: windowSchema, month: windowSchema, total: windowSchema });

const unused: SpentUse = { day: { used: 0n }, month: { used: 0n }, total: { used: 0n } };

/** What a scope has used in each window, beside its cap. */
export function presentSpent(use: SpentUse = unused, caps: Caps = {}): z.output<typeof spentSchema> {
  const states = capStates(capsOf('key', caps), new Map([['key', use]]));
  const window = (name: (typeof capWindows)[number]) => {
    const state = states.find((cap) => cap.window === name);
    const { used, resetsAt: at } = use[name];
    return {
      used: formatMicros(used),
      limit: state === undefined ? null : formatMicros(state.limit),
      left: state === undefined ? null : formatMicros(state.left),
      ...defined({ resets_at: at === undefined ? undefined : toSeconds(at) }),
    };
  };
  return { day: window('day'), month: window('month'), total: window('total') };
}

/** Of a create: the cap that has least left after its hold. */
export function capHeaders(cap: CapState | undefined): Readonly<Record<string, string>> {
  if (cap === undefined) return {};
  const { scope, window, limit: most, left, resetsAt: at } = cap;
  return {
    'x-mediary-cap': `${scope}/${window}`,
    'x-mediary-cap-limit': formatMicros(most),
    'x-mediary-cap-remaining': formatMicros(left),
    ...(at === undefined ? {} : { 'x-mediary-cap-reset': String(toSeconds(at)) }),
  };
}

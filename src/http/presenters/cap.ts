import { z } from 'zod';
import { capPercents, highestReached, type CapPercent, type ReachedCap } from '../../money/cap-alerts.ts';
import { capWindows, chargedOf } from '../../money/caps.ts';
import type { Caps, CapState, CapWindow, SpentUse } from '../../money/caps.ts';
import { defined } from '../../base/defined.ts';
import { formatMicros } from '../../money/money.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

const resetsAt = unixSeconds(
  'The start of the next UTC day or month. Absent if the window never resets.',
).optional();

export const capSchema = z
  .object({
    scope: z.enum(['key', 'model', 'end_user']).meta({
      description: '`model`: one of the key’s caps for a single model.',
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

export function presentCaps(caps: Caps): z.output<typeof capsSchema> {
  return Object.fromEntries(
    capWindows.flatMap((window) => {
      const micros = caps[window];
      return micros === undefined ? [] : [[window, formatMicros(micros)]];
    }),
  );
}

const windowSchema = z.object({
  used: z.string().meta({ description: 'The amount counted against the cap: `charged` + `held`.' }),
  charged: z.string().meta({ description: 'Charges minus refunds.' }),
  held: z.string().meta({ description: 'The amount of open holds.' }),
  limit: z.string().nullable().meta({ description: 'Null means no cap.' }),
  left: z.string().nullable(),
  reached: z.literal(capPercents).nullable().meta({
    description:
      'The highest of these percentages of the cap that has been reached. Null if none has been reached or there is no cap. While the account gets events about caps (`POST /v1/alert`), a percentage that was reached earlier in the window still counts as reached after the amount is released.',
  }),
  resets_at: resetsAt,
});

export const spentSchema = z.object({ day: windowSchema, month: windowSchema, total: windowSchema });

const nothing = { used: 0n, held: 0n };
const unused: SpentUse = { day: nothing, month: nothing, total: nothing };

export interface SpentOfScope {
  readonly use?: SpentUse | undefined;
  readonly caps: readonly CapState[];
  readonly reported: readonly Pick<ReachedCap, 'cap' | 'percent'>[];
}

export function presentSpent({ use = unused, caps, reported }: SpentOfScope): z.output<typeof spentSchema> {
  const window = (name: CapWindow) => {
    const cap = caps.find((one) => one.window === name);
    const { used, held, resetsAt: at } = use[name];
    return {
      used: formatMicros(used),
      charged: formatMicros(chargedOf({ used, held })),
      held: formatMicros(held),
      limit: cap === undefined ? null : formatMicros(cap.limit),
      left: cap === undefined ? null : formatMicros(cap.left),
      reached: cap === undefined ? null : reachedOf(cap, reported),
      ...defined({ resets_at: at === undefined ? undefined : toSeconds(at) }),
    };
  };
  return { day: window('day'), month: window('month'), total: window('total') };
}

function reachedOf(cap: CapState, reported: SpentOfScope['reported']): CapPercent | null {
  const earlier = reported.filter((one) => one.cap === cap).map(({ percent }) => percent);
  const now = highestReached(cap) ?? 0;
  return capPercents.findLast((percent) => percent <= now || earlier.includes(percent)) ?? null;
}

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

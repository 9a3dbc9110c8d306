import type { AttentionCount } from '../task/census.ts';
import { marginOf } from '../money/margin.ts';
import type { MarginAsked, MarginRow } from '../money/margin.ts';
import { advice } from '../task/situation.ts';
import { formatAmount, parseMicros } from '../money/money.ts';
import type { Micros } from '../money/money.ts';
import type { ChannelHealth } from '../health/channel-health.ts';
import type { Condition } from '../base/notice.ts';
import type { Service } from '../task/service.ts';
import { createSightings } from '../process/sightings.ts';
import { dayMs, utcDay } from '../base/times.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { ClockJump, ClockMarks } from '../store/clock-marks.ts';
import type { TaskStore } from '../store/tasks.ts';

/** What can be seen by a look. A source that throws says nothing: its notices stay as they are. */
export type Source = () => Promise<readonly Condition[]>;

const callbacksMax = 1_000;
/** A restart of the only worker is over by then. */
const withoutWorkersMs = 60_000;

export interface SourceDeps {
  readonly tasks: Pick<TaskStore, 'countUnfinished' | 'abandonedCallbacks'> & {
    readonly countAttention: () => Promise<readonly AttentionCount[]>;
  };
  readonly health: () => Promise<readonly ChannelHealth[]>;
  readonly accounts: Pick<AccountStore, 'closedAmong'>;
  readonly clockMarks: Pick<ClockMarks, 'find'>;
  readonly workers: () => Promise<Pick<Service, 'unserved'>>;
  readonly margin: (asked: MarginAsked) => AsyncIterable<MarginRow>;
  /** Accounts that have less than this available, those with least first. */
  readonly lowBalances: (below: Micros) => Promise<readonly Pick<LowBalance, 'account' | 'available'>[]>;
  /** The configured models that their vendors no longer serve. */
  readonly retired: () => readonly {
    readonly channel: string;
    readonly model: string;
    readonly text: string;
  }[];
  /** The one in force. */
  readonly config: () => {
    readonly currency: string;
    readonly notify: { readonly low_balance?: string | undefined };
  };
  readonly now: () => number;
}

export function createSources(deps: SourceDeps) {
  const { tasks, health, clockMarks, workers, now } = deps;
  const sightings = createSightings(now);

  /** The reconciler, which asks for people about a single channel, is a worker's. */
  async function withoutWorkers(): Promise<readonly Condition[]> {
    const missing = (await workers()).unserved();
    const lasts =
      missing !== undefined && sightings.unchangedMs('workers', missing.since ?? 0) >= withoutWorkersMs;
    sightings.forgetOthers();
    if (!lasts) return [];
    const count = (await tasks.countUnfinished()).reduce((sum, kind) => sum + kind.count, 0);
    const text = `No worker runs. ${taskCount(count)} until one does. ${advice.no_worker}`;
    return count === 0 ? [] : [{ kind: 'attention', subject: 'no_worker', count, text }];
  }

  return {
    async attention() {
      const [asking, stopped] = await Promise.all([tasks.countAttention(), withoutWorkers()]);
      const conditions = asking.map(({ reason, channel, count }) => ({
        kind: 'attention' as const,
        subject: channel === '' ? reason : `${reason}/${channel}`,
        count,
        text:
          `${taskCount(count)} for a person${channel === '' ? '' : ` at ${channel}`} ` +
          `(${reason}). ${advice[reason]} \`gateway tasks list --needs-attention\` lists them.`,
      }));
      return [...conditions, ...stopped];
    },

    async callbacks_abandoned() {
      const { length: count } = await tasks.abandonedCallbacks(callbacksMax);
      if (count === 0) return [];
      const text =
        `${count === callbacksMax ? `At least ${count}` : count} callbacks were abandoned: their receivers did not take them for ` +
        'days, or said that they are gone. `gateway tasks list --callback-failed` lists them; the action `redeliver` sends them again.';
      return [{ kind: 'callbacks_abandoned', subject: 'all', count, text }];
    },

    async circuit_open() {
      return (await health()).flatMap(circuitsNotClosed);
    },
    async model_retired() {
      return deps.retired().map(({ channel, model, text }) => {
        return { kind: 'model_retired', subject: `${channel}/${model}`, count: 1, text };
      });
    },
    async clock_jumped() {
      const jump = (await clockMarks.find())?.jump;
      return jump === undefined ? [] : [clockJumped(jump)];
    },
    margin_negative: everyMs(lossesEveryMs, () => readLosses(deps), now),
    low_balance: everyMs(balancesEveryMs, () => readLowBalances(deps), now),
  } satisfies Record<string, Source>;
}

function circuitsNotClosed({ channel, parts, waiting }: ChannelHealth): readonly Condition[] {
  return parts
    .filter(({ state }) => state !== 'serving')
    .map(({ credential, model, text }) => ({
      kind: 'circuit_open',
      subject: [channel, credential, ...(model === undefined ? [] : [model])].join('/'),
      count: Math.max(1, waiting?.tasks ?? 0),
      text: `${text} \`gateway channels show\` has its history; tasks go to other channels, or wait.`,
    }));
}

function clockJumped({ expected, seen }: ClockJump): Condition {
  const [was, is] = [expected, seen].map((time) => new Date(time).toISOString());
  const text =
    `The time of the database is ${is} but should be ${was}. Processes that have noticed write no money until this is fixed. ` +
    'Correct the clock of its machine or, if the time is right, accept it with `gateway ledger accept-clock`.';
  return { kind: 'clock_jumped', subject: 'database', count: 1, text };
}

/** A sum over two days of the ledger is not read with each look. */
const lossesEveryMs = 15 * 60_000;
/** Nor is the last entry of every account. */
const balancesEveryMs = 60_000;
/** Accounts with notices of their own. */
const lowBalancesMax = 100;

/** A source that is read again after so long. */
function everyMs(ms: number, read: Source, now: () => number): Source {
  let known: { readonly conditions: readonly Condition[]; readonly at: number } | undefined;
  return async () => {
    const at = now();
    if (known === undefined || at - known.at >= ms) known = { conditions: await read(), at };
    return known.conditions;
  };
}

/** Of yesterday and today (UTC), so that the first task of a day does not decide. */
async function readLosses({ margin, config, now }: SourceDeps): Promise<readonly Condition[]> {
  const { currency } = config();
  const losses: Condition[] = [];
  const asked = { from: utcDay(now() - dayMs), before: utcDay(now() + dayMs), by: ['channel'] } as const;
  for await (const row of margin(asked)) {
    const { of, tasks: count, cost } = row;
    if (marginOf(row) >= 0n) continue;
    const earned = formatAmount(row.charged - row.refunded, currency);
    const text =
      `Tasks at ${of.channel ?? 'no channel'} that have ended since yesterday cost ${formatAmount(cost, currency)} and earned ${earned}. ` +
      '`gateway margin --by channel,model` says of which model; compare its price with what the channel costs.';
    losses.push({ kind: 'margin_negative', subject: of.channel ?? 'none', count, text });
  }
  return losses;
}

/** As the ledger has them: a process that remembers an earlier balance decides nothing. */
async function readLowBalances({ accounts, lowBalances, config }: SourceDeps): Promise<readonly Condition[]> {
  const { notify, currency } = config();
  const limit = parseMicros(notify.low_balance ?? '');
  if (limit === undefined) return [];
  const low = await lowBalances(limit);
  const closed = await accounts.closedAmong(low.map(({ account }) => account));
  const open = low.filter(({ account }) => !closed.has(account));
  const named = open.slice(0, lowBalancesMax).map((one) => lowBalance({ ...one, limit }, currency));
  const count = open.length - named.length;
  if (count === 0) return named;
  const text = `${count} more accounts have less than ${formatAmount(limit, currency)}: \`gateway accounts list\` shows their balances.`;
  return [...named, { kind: 'low_balance', subject: 'more accounts', count, text }];
}

function taskCount(count: number): string {
  return count === 1 ? 'A task waits' : `${count} tasks wait`;
}

interface LowBalance {
  readonly account: string;
  readonly available: Micros;
  readonly limit: Micros;
}

function lowBalance({ account, available, limit }: LowBalance, currency: string): Condition {
  const text = `Account ${account} has ${formatAmount(available, currency)} left, less than ${formatAmount(limit, currency)}.`;
  return { kind: 'low_balance', subject: account, count: 1, text };
}

export function ledgerViolation(count: number): Condition {
  const text = `\`gateway ledger verify\` found ${count === 1 ? 'a violation' : `${count} violations`}: run it again to see them, and charge nothing by hand before they are understood.`;
  return { kind: 'ledger_violation', subject: 'ledger', count, text };
}

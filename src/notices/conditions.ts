import type { AttentionCount } from '../reports/census.ts';
import { marginOf, type MarginAsked, type MarginRow } from '../money/margin.ts';
import { generalAdvice } from '../operating/advice.ts';
import { formatAmount, parseMicros, type Micros } from '../money/money.ts';
import type { ChannelHealth } from '../health/channel-health.ts';
import type { Condition, StorageStep } from '../base/notice.ts';
import type { Service } from '../task/service.ts';
import { createSightings } from '../process/sightings.ts';
import { dayMs, utcDay } from '../base/times.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { ClockJump, ClockMarks } from '../store/clock-marks.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { UpkeepFailureStore } from '../store/upkeep-failures.ts';

/** If a source throws, its notices stay unchanged. */
export type Source = () => Promise<readonly Condition[]>;

const callbacksMax = 1_000;
const storageTexts: ReadonlyMap<string, string> = new Map(
  Object.entries({
    storage_full:
      'The storage for results had no space for a file. Rendered images wait a few minutes for space. Other work that needs the storage waits or is rejected. Free some space or enlarge the storage. Search the logs for step=storage_full.',
    storage_away:
      'The storage for results did not accept a file, or a file could not be read: the storage does not respond or rejects the gateway’s requests. Rendered images wait a few minutes for the storage. Other work that needs it waits or is rejected. Check the storage, and `results` in gateway.yaml. Search the logs for step=storage_away.',
  } satisfies Record<StorageStep, string>),
);
const withoutWorkersMs = 60_000;

export interface SourceDeps {
  readonly tasks: Pick<TaskStore, 'countUnfinished' | 'abandonedCallbacks'> & {
    readonly countAttention: () => Promise<readonly AttentionCount[]>;
  };
  readonly health: () => Promise<readonly ChannelHealth[]>;
  readonly accounts: Pick<AccountStore, 'closedAmong'>;
  readonly clockMarks: Pick<ClockMarks, 'find'>;
  readonly upkeepFailures: Pick<UpkeepFailureStore, 'list'>;
  readonly workers: () => Promise<Pick<Service, 'unserved'>>;
  readonly margin: (asked: MarginAsked) => AsyncIterable<MarginRow>;
  readonly lowBalances: (below: Micros) => Promise<readonly Pick<LowBalance, 'account' | 'available'>[]>;
  readonly retired: () => readonly {
    readonly channel: string;
    readonly model: string;
    readonly text: string;
  }[];
  readonly config: () => {
    readonly currency: string;
    readonly notify: { readonly low_balance?: string | undefined };
  };
  readonly now: () => number;
}

export function createSources(deps: SourceDeps) {
  const { tasks, health, clockMarks, workers, now } = deps;
  const sightings = createSightings(now);

  /**
   * Checks only whether any worker runs at all. Individual channels are checked by the reconciler, which itself needs a
   * worker.
   */
  async function withoutWorkers(): Promise<readonly Condition[]> {
    const missing = (await workers()).unserved();
    const lasts =
      missing !== undefined && sightings.unchangedMs('workers', missing.since ?? 0) >= withoutWorkersMs;
    sightings.forgetOthers();
    if (!lasts) return [];
    const count = (await tasks.countUnfinished()).reduce((sum, kind) => sum + kind.count, 0);
    const text = `No worker is running. ${taskCount(count)} until one starts. ${generalAdvice('no_worker')}`;
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
          `${taskCount(count)} for an operator${channel === '' ? '' : ` at ${channel}`} ` +
          `(${reason}). ${generalAdvice(reason)} \`gateway tasks list --needs-attention\` lists them.`,
      }));
      return [...conditions, ...stopped];
    },

    async callbacks_abandoned() {
      const { length: count } = await tasks.abandonedCallbacks(callbacksMax);
      if (count === 0) return [];
      const text =
        `${count === callbacksMax ? `At least ${count}` : count} callbacks were abandoned because their receivers did not accept them for ` +
        'days or responded with 410 Gone. `gateway tasks list --callback-failed` lists them. The action `redeliver` sends them again.';
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
    async upkeep_failing() {
      return (await deps.upkeepFailures.list()).map(({ step, count }) => {
        const text =
          storageTexts.get(step) ??
          `The step ${step} of the reconciler left ${count} ${count === 1 ? 'item' : 'items'} for later. To find the reasons, search the logs for step=${step}.`;
        return { kind: 'upkeep_failing', subject: step, count, text };
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

function circuitsNotClosed({ channel, parts }: ChannelHealth): readonly Condition[] {
  return parts
    .filter(({ state }) => state !== 'serving')
    .map(({ credential, model, text, waiting }) => ({
      kind: 'circuit_open',
      subject: [channel, credential, ...(model === undefined ? [] : [model])].join('/'),
      count: waiting?.tasks ?? 0,
      text: `${text} Its tasks go to other channels or wait. \`gateway channels show\` shows its history.`,
    }));
}

function clockJumped({ expected, seen }: ClockJump): Condition {
  const [was, is] = [expected, seen].map((time) => new Date(time).toISOString());
  const text =
    `The database clock shows ${is} but should show ${was}. Until this is fixed, processes that have noticed the difference do not write to the ledger. ` +
    'Correct the clock of the database machine or, if the time is right, accept it with `gateway ledger accept-clock`.';
  return { kind: 'clock_jumped', subject: 'database', count: 1, text };
}

/** Summing two days of the ledger is too expensive for every round. */
const lossesEveryMs = 15 * 60_000;
/** Reading the last entry of every account is too expensive for every round. */
const balancesEveryMs = 60_000;
const lowBalancesMax = 100;

function everyMs(ms: number, read: Source, now: () => number): Source {
  let known: { readonly conditions: readonly Condition[]; readonly at: number } | undefined;
  return async () => {
    const at = now();
    if (known === undefined || at - known.at >= ms) known = { conditions: await read(), at };
    return known.conditions;
  };
}

/** Covers yesterday and today (UTC), because a day's first task alone would not be representative. */
async function readLosses({ margin, config, now }: SourceDeps): Promise<readonly Condition[]> {
  const { currency } = config();
  const losses: Condition[] = [];
  const asked = { from: utcDay(now() - dayMs), before: utcDay(now() + dayMs), by: ['channel'] } as const;
  for await (const row of margin(asked)) {
    const { of, tasks: count, cost } = row;
    if (marginOf(row) >= 0n) continue;
    const earned = formatAmount(row.charged - row.refunded, currency);
    const text =
      `Tasks on ${of.channel ?? 'no channel'} that have ended since yesterday cost ${formatAmount(cost, currency)} and earned ${earned}. ` +
      '`gateway margin --by channel,model` shows the models. Compare their prices with the costs of the channel.';
    losses.push({ kind: 'margin_negative', subject: of.channel ?? 'none', count, text });
  }
  return losses;
}

/** Reads the ledger, because balances in a process's memory may be outdated. */
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
  const text = `Account ${account} has ${formatAmount(available, currency)} left, which is less than ${formatAmount(limit, currency)}.`;
  return { kind: 'low_balance', subject: account, count: 1, text };
}

export function ledgerViolation(count: number): Condition {
  const text = `\`gateway ledger verify\` found ${count === 1 ? 'a violation' : `${count} violations`}. Run it again to see them, and do not charge anything by hand until you understand them.`;
  return { kind: 'ledger_violation', subject: 'ledger', count, text };
}

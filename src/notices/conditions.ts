import { advice } from '../domain/situation.ts';
import { formatAmount } from '../domain/money.ts';
import type { Micros } from '../domain/money.ts';
import type { Condition } from '../domain/notice.ts';
import type { ChannelHealthStore } from '../store/channel-health.ts';
import type { TaskStore } from '../store/tasks.ts';

/** What can be seen by a look. A source that throws says nothing: its notices stay as they are. */
export type Source = () => Promise<readonly Condition[]>;

const callbacksMax = 1_000;

export interface SourceDeps {
  readonly tasks: Pick<TaskStore, 'countAttention' | 'abandonedCallbacks'>;
  readonly circuits: Pick<ChannelHealthStore, 'list'>;
}

export function createSources({ tasks, circuits }: SourceDeps) {
  return {
    async attention() {
      const asking = await tasks.countAttention();
      return asking.map(({ reason, channel, count }) => ({
        kind: 'attention',
        subject: channel === '' ? reason : `${reason}/${channel}`,
        count,
        text:
          `${count === 1 ? 'A task waits' : `${count} tasks wait`} for a person${channel === '' ? '' : ` at ${channel}`} ` +
          `(${reason}). ${advice[reason]} \`gateway tasks list --needs-attention\` lists them.`,
      }));
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
      const open = (await circuits.list()).filter(({ state }) => state === 'open');
      return open.map(({ id, sign, code, by, reason }) => ({
        kind: 'circuit_open',
        subject: id,
        count: 1,
        text:
          `Nothing is submitted to ${id}: ${by === undefined ? `${sign} (${code})` : `opened by ${by}, ${reason ?? ''}`}. ` +
          '`gateway channels show` says since when; tasks go to other channels, or wait.',
      }));
    },
  } satisfies Record<string, Source>;
}

export interface LowBalance {
  readonly account: string;
  readonly available: Micros;
  readonly limit: Micros;
}

export function lowBalance({ account, available, limit }: LowBalance, currency: string): Condition {
  const text = `Account ${account} has ${formatAmount(available, currency)} left, less than ${formatAmount(limit, currency)}.`;
  return { kind: 'low_balance', subject: account, count: 1, text };
}

export function ledgerViolation(count: number): Condition {
  const text = `\`gateway ledger verify\` found ${count === 1 ? 'a violation' : `${count} violations`}: run it again to see them, and charge nothing by hand before they are understood.`;
  return { kind: 'ledger_violation', subject: 'ledger', count, text };
}

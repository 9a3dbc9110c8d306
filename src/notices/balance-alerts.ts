import { formatMicros } from '../money/money.ts';
import { racePoint } from '../base/race-point.ts';
import type { AccountAlert, AccountAlertStore, BalanceEvent, BalanceLimit } from '../store/account-alerts.ts';
import type { BalanceAfter, SeenBalances } from './noted-balances.ts';
import type { OwedEvent } from './post-event.ts';

export interface BalanceAlertsDeps {
  readonly store: Pick<AccountAlertStore, 'cross' | 'change'>;
  readonly newEventId: () => string;
  readonly currency: () => string;
  readonly now: () => number;
}

/**
 * Creates an event when an account's balance falls below its threshold, and no other until the balance has recovered. A
 * conditional write lets only one process record each crossing, and stores the event until it is delivered.
 */
export function createBalanceAlerts({ store, newEventId, currency, now }: BalanceAlertsDeps) {
  async function judge(alert: BalanceLimit, { available, seq }: BalanceAfter): Promise<boolean> {
    const isBelow = available < alert.threshold;
    if (isBelow === alert.isBelow || seq <= alert.seq) return false;
    const event = { id: newEventId(), available, at: now(), tries: 0, dueAt: now() };
    await racePoint('alert.cross', alert.account);
    return store.cross(alert, { isBelow, seq, ...(isBelow ? { event } : {}) });
  }

  /** An event is also created for a balance that fell and recovered since the last check. */
  async function judgeSeen(alert: BalanceLimit, { lowest, last }: SeenBalances): Promise<void> {
    const hasFallen = lowest.available < alert.threshold && (await judge(alert, lowest));
    await judge(hasFallen ? { ...alert, isBelow: true, seq: lowest.seq } : alert, last);
  }

  function dueOf(alert: AccountAlert): OwedEvent[] {
    return alert.pending.filter(({ dueAt }) => dueAt <= now()).map((event) => owed(alert, event));
  }

  function owed({ account, address, threshold = 0n }: AccountAlert, event: BalanceEvent): OwedEvent {
    const { id, tries, available, at } = event;
    const data = {
      account,
      currency: currency(),
      available: formatMicros(available),
      threshold: formatMicros(threshold),
      at: Math.floor(at / 1000),
    };
    const change: OwedEvent['change'] = (seen, left) =>
      store.change(account, { id, tries: seen }, left && { ...event, ...left });
    return { id, account, address, tries, type: 'balance.low', at, data, change };
  }

  return { judge, judgeSeen, dueOf };
}

export function hasLimit(alert: AccountAlert): alert is BalanceLimit {
  return alert.threshold !== undefined;
}

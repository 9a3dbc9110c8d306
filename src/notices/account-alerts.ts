import { createRounds } from '../process/rounds.ts';
import type { Rounds } from '../process/rounds.ts';
import { randomBase62 } from '../base/ids.ts';
import type { RandomBytes } from '../base/ids.ts';
import { walk } from '../base/walk.ts';
import type { AccountAlertStore } from '../store/account-alerts.ts';
import { createBalanceAlerts, hasLimit } from './balance-alerts.ts';
import { createCapAlerts } from './cap-alerts.ts';
import type { CapAlertsDeps } from './cap-alerts.ts';
import { createNotedBalances } from './noted-balances.ts';
import type { BalanceAfter } from './noted-balances.ts';
import { createPostEvent } from './post-event.ts';
import type { PostEventDeps } from './post-event.ts';

/** Posts events to an account's own address. Any number of processes may run it; each event is created once. */
export interface AccountAlerts extends Rounds {
  /** Notes what an account has left now. It only uses memory, for at most 10,000 accounts. */
  readonly note: (account: string, after: BalanceAfter) => void;
  /** Finds what processes noted before they died. Checks all accounts with alerts, some at each call. */
  readonly repair: () => Promise<number>;
}

export interface AccountAlertsDeps extends Omit<CapAlertsDeps, 'store' | 'newEventId'>, PostEventDeps {
  readonly store: AccountAlertStore;
  readonly balance: (account: string) => Promise<BalanceAfter>;
  readonly randomBytes: RandomBytes;
}

const intervalMs = 5_000;
const postedAtOnceMax = 100;
const repairedAtOnce = 500;
const idCharacters = 24;

export function createAccountAlerts(deps: AccountAlertsDeps): AccountAlerts {
  const { store, log, now } = deps;
  const newEventId = () => `evt_${randomBase62(idCharacters, deps.randomBytes)}`;
  const noted = createNotedBalances();
  const balances = createBalanceAlerts({ ...deps, newEventId });
  const caps = createCapAlerts({ ...deps, newEventId });
  const post = createPostEvent(deps);
  let repairedUpTo = '';

  async function judgeNoted(): Promise<void> {
    const seen = noted.take();
    if (seen.size === 0) return;
    const alerts = await store.findMany([...seen.keys()]).catch((error: unknown) => {
      noted.putBack(seen);
      throw error;
    });
    await walk(alerts, {
      async run(alert) {
        const after = seen.get(alert.account);
        if (after !== undefined && hasLimit(alert)) await balances.judgeSeen(alert, after);
        return caps.judge(alert);
      },
      async onFailed({ account }, err) {
        const after = seen.get(account);
        if (after !== undefined) noted.putBack(new Map([[account, after]]));
        warn(account, err);
      },
    });
  }

  async function postDue(): Promise<void> {
    const alerts = await store.due(now(), postedAtOnceMax);
    const owed = [...alerts.flatMap((alert) => balances.dueOf(alert)), ...(await caps.due())];
    await Promise.all(owed.map(post));
  }

  function warn(account: string, err: unknown): void {
    log.warn({ account, err }, 'an account could not be compared with its limits');
  }

  return {
    ...createRounds({
      everyMs: intervalMs,
      async work() {
        await judgeNoted();
        await postDue();
      },
      onError: (err) => log.warn({ err }, 'accounts could not be compared with their limits'),
    }),
    note: noted.note,

    async repair() {
      const alerts = await store.list({ after: repairedUpTo, limit: repairedAtOnce });
      repairedUpTo = alerts.length < repairedAtOnce ? '' : (alerts.at(-1)?.account ?? '');
      return walk(alerts, {
        async run(alert) {
          const isCrossed =
            hasLimit(alert) && (await balances.judge(alert, await deps.balance(alert.account)));
          return (await caps.judge(alert)) || isCrossed;
        },
        onFailed: async ({ account }, err) => warn(account, err),
      });
    },
  };
}

import { periods } from '../base/periods.ts';
import { createRounds, type Rounds } from '../process/rounds.ts';
import { randomBase62, type RandomBytes } from '../base/ids.ts';
import { limitRound, walk, type IsOver, type Walked } from '../base/walk.ts';
import type { AccountAlertStore } from '../store/account-alerts.ts';
import { createBalanceAlerts, hasLimit } from './balance-alerts.ts';
import { createCapAlerts, type CapAlertsDeps } from './cap-alerts.ts';
import { createNotedBalances } from './noted-balances.ts';
import type { BalanceAfter, NotedBalances, SeenBalances } from './noted-balances.ts';
import { createEventPosts, type PostEventDeps } from './post-event.ts';

/** Several processes may run this, but each event is created only once. */
export interface AccountAlerts extends Rounds {
  /** Notes an account's balance after a change. Notes are kept in memory, for at most 10,000 accounts. */
  readonly note: (account: string, after: BalanceAfter) => void;
  /**
   * Compares accounts with their limits again, because a process may die before it has compared the changes that it
   * made. Each call covers a few accounts.
   */
  readonly repair: (isOver?: IsOver) => Promise<Walked>;
}

export interface AccountAlertsDeps extends Omit<CapAlertsDeps, 'store' | 'newEventId'>, PostEventDeps {
  readonly store: AccountAlertStore;
  readonly balance: (account: string) => Promise<BalanceAfter>;
  readonly randomBytes: RandomBytes;
}

const postedAtOnceMax = 100;
const repairedAtOnce = 500;
const idCharacters = 24;

export function createAccountAlerts(deps: AccountAlertsDeps): AccountAlerts {
  const { store, log, now } = deps;
  const newEventId = () => `evt_${randomBase62(idCharacters, deps.randomBytes)}`;
  const noted = createNotedBalances();
  const balances = createBalanceAlerts({ ...deps, newEventId });
  const caps = createCapAlerts({ ...deps, newEventId });
  const posts = createEventPosts(deps);
  const warn = (account: string, err: unknown): void =>
    log.warn({ account, err }, 'an account’s balance could not be checked against its limits');
  const judgeNoted = createJudgeNoted(noted, { ...deps, balances, caps, warn });
  let repairedUpTo = '';

  async function postDue(): Promise<void> {
    const alerts = await store.due(now(), postedAtOnceMax);
    const owed = [...alerts.flatMap((alert) => balances.dueOf(alert)), ...(await caps.due())];
    await posts.post(owed);
  }

  const rounds = createRounds({
    ...periods.accountAlerts,
    async work() {
      await judgeNoted();
      await postDue();
    },
    onError: (err) => log.warn({ err }, 'the balances of accounts could not be checked against their limits'),
  });

  return {
    ...rounds,
    async stop() {
      await rounds.stop();
      await posts.end();
    },
    note: noted.note,

    async repair(isOver = () => false) {
      const alerts = await store.list({ after: repairedUpTo, limit: repairedAtOnce });
      const last = alerts.at(-1)?.account ?? repairedUpTo;
      const walked = await walk(alerts, {
        loop: 'limits of accounts',
        isOver,
        async run(alert) {
          repairedUpTo = alert.account;
          const isCrossed =
            hasLimit(alert) && (await balances.judge(alert, await deps.balance(alert.account)));
          return (await caps.judge(alert)) || isCrossed;
        },
        onFailed: ({ account }, err) => warn(account, err),
      });
      if (repairedUpTo === last && alerts.length < repairedAtOnce) repairedUpTo = '';
      return walked;
    },
  };
}

interface Judges extends Pick<AccountAlertsDeps, 'store' | 'now'> {
  readonly balances: Pick<ReturnType<typeof createBalanceAlerts>, 'judgeSeen'>;
  readonly caps: Pick<ReturnType<typeof createCapAlerts>, 'judge'>;
  readonly warn: (account: string, err: unknown) => void;
}

function createJudgeNoted(noted: NotedBalances, { store, balances, caps, warn, now }: Judges) {
  const orPutBack = createOrPutBack(noted);
  return async (): Promise<void> => {
    const seen = noted.take();
    if (seen.size === 0) return;
    const isOver = limitRound(now);
    const alerts = await orPutBack(seen, store.findMany([...seen.keys()]));
    const found = new Map(alerts.map((alert) => [alert.account, alert]));
    const left = new Map([...seen].filter(([account]) => found.has(account)));
    await walk([...left], {
      loop: 'noted accounts',
      isOver,
      async run([account, after]) {
        const alert = found.get(account);
        if (alert !== undefined && hasLimit(alert)) await balances.judgeSeen(alert, after);
        const isCrossed = alert !== undefined && (await caps.judge(alert));
        left.delete(account);
        return isCrossed;
      },
      onFailed([account, after], err) {
        // Move the failed item to the end so that the next round starts with the others.
        left.delete(account);
        left.set(account, after);
        warn(account, err);
      },
    });
    noted.putBack(left);
  };
}

function createOrPutBack({ putBack }: Pick<NotedBalances, 'putBack'>) {
  return <Found>(seen: ReadonlyMap<string, SeenBalances>, reading: Promise<Found>): Promise<Found> =>
    reading.catch((error: unknown) => {
      putBack(seen);
      throw error;
    });
}

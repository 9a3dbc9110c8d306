import { webhookHeaders } from '../access/webhook-signature.ts';
import { createRounds } from '../process/rounds.ts';
import type { Rounds } from '../process/rounds.ts';
import { callbackRetryDelayMs, callbackStateAfter, callbackTriesMax } from '../task/callback-retries.ts';
import { randomBase62 } from '../base/ids.ts';
import type { RandomBytes } from '../base/ids.ts';
import { formatMicros } from '../money/money.ts';
import { racePoint } from '../base/race-point.ts';
import type { Secrets } from '../access/secrets.ts';
import type { GuardedClient } from '../http-client/index.ts';
import type { Logger } from '../observability/log.ts';
import type { BalanceAlert, BalanceAlertStore, BalanceEvent } from '../store/balance-alerts.ts';
import { createNotedBalances } from './noted-balances.ts';
import type { BalanceAfter, SeenBalances } from './noted-balances.ts';

/**
 * Posts one event to an account's own address when its balance falls below the account's limit, and the next one when it
 * falls again after it was above. Any number of processes may look: one of them decides each crossing, by a guarded write
 * that keeps the event until it is delivered.
 */
export interface BalanceAlerts extends Rounds {
  /** What an account has left now. Costs nothing but memory, of at most 10,000 accounts. */
  readonly note: (account: string, after: BalanceAfter) => void;
  /** What processes that died have noted: the balances of all accounts with a limit, some at each call. */
  readonly repair: (balance: (account: string) => Promise<BalanceAfter>) => Promise<number>;
}

export interface BalanceAlertsDeps {
  readonly store: BalanceAlertStore;
  readonly webhookSecrets: (account: string) => Promise<readonly string[]>;
  readonly open: Secrets['open'];
  /** To addresses that callers have chosen. */
  readonly deliver: GuardedClient['deliver'];
  readonly currency: () => string;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly now: () => number;
  readonly random: () => number;
  readonly randomBytes: RandomBytes;
}

const intervalMs = 5_000;
const answerWithinMs = 10_000;
/** A request whose process died is repeated then, under the same id. */
const unansweredMs = 60_000;
const postedAtOnceMax = 100;
const repairedAtOnce = 500;
const idCharacters = 24;
const unreported = 'a low balance could not be reported to its account';

export function createBalanceAlerts(deps: BalanceAlertsDeps): BalanceAlerts {
  const { store, log, now } = deps;
  const noted = createNotedBalances();
  const post = createPost(deps);
  let repairedUpTo = '';

  async function judge(alert: BalanceAlert, { available, seq }: BalanceAfter): Promise<boolean> {
    const isBelow = available < alert.threshold;
    if (isBelow === alert.isBelow || seq <= alert.seq) return false;
    const id = `evt_${randomBase62(idCharacters, deps.randomBytes)}`;
    const event = { id, available, at: now(), tries: 0, dueAt: now() };
    await racePoint('alert.cross', alert.account);
    return store.cross(alert, { isBelow, seq, ...(isBelow ? { event } : {}) });
  }

  /** A balance that has fallen and risen again since the last look has fallen. */
  async function judgeBoth(alert: BalanceAlert, { lowest, last }: SeenBalances): Promise<void> {
    const hasFallen = lowest.available < alert.threshold && (await judge(alert, lowest));
    await judge(hasFallen ? { ...alert, isBelow: true, seq: lowest.seq } : alert, last);
  }

  async function judgeNoted(): Promise<void> {
    const balances = noted.take();
    if (balances.size === 0) return;
    try {
      for (const alert of await store.findMany([...balances.keys()])) {
        const seen = balances.get(alert.account);
        if (seen !== undefined) await judgeBoth(alert, seen);
        balances.delete(alert.account);
      }
    } catch (error) {
      noted.putBack(balances);
      throw error;
    }
  }

  async function postDue(): Promise<void> {
    const due = await store.due(now(), postedAtOnceMax);
    const owed = due.flatMap((alert) =>
      alert.pending.filter(({ dueAt }) => dueAt <= now()).map((event) => post(alert, event)),
    );
    await Promise.all(owed);
  }

  return {
    ...createRounds({
      everyMs: intervalMs,
      async work() {
        await judgeNoted();
        await postDue();
      },
      onError: (err) => log.warn({ err }, 'balances could not be compared with their limits'),
    }),
    note: noted.note,

    async repair(balance) {
      const alerts = await store.list({ after: repairedUpTo, limit: repairedAtOnce });
      repairedUpTo = alerts.length < repairedAtOnce ? '' : (alerts.at(-1)?.account ?? '');
      let repaired = 0;
      for (const alert of alerts) if (await judge(alert, await balance(alert.account))) repaired += 1;
      return repaired;
    },
  };
}

/** What a request needs that is kept under a key. */
interface Means {
  readonly url: string;
  readonly secrets: readonly string[];
}

function createPost({ store, log, now, random, ...deps }: BalanceAlertsDeps) {
  /** Never rejects: what was not delivered is due again. */
  return async (alert: BalanceAlert, event: BalanceEvent): Promise<void> => {
    const { account } = alert;
    const n = event.tries + 1;
    try {
      if (n > callbackTriesMax) {
        log.error({ account }, unreported);
        return void (await store.change(account, event, undefined));
      }
      const means = await meansOf(alert).catch(async (error: unknown) => {
        // What cannot be read uses up no request.
        await store.change(account, event, { ...event, dueAt: now() + unansweredMs });
        throw error;
      });
      // Counted before it leaves: a process that dies leaves a request that is repeated.
      const begun = { ...event, tries: n, dueAt: now() + unansweredMs };
      if (!(await store.change(account, event, begun))) return;
      const state = callbackStateAfter(await send(alert, event, means), n);
      if (state === 'gave_up') log.error({ account }, unreported);
      const retried = { ...begun, dueAt: now() + callbackRetryDelayMs(n, random()) };
      await store.change(account, begun, state === 'pending' ? retried : undefined);
    } catch (err) {
      log.warn({ account, err }, 'an event of a low balance could not be posted');
    }
  };

  async function meansOf({ account, address }: BalanceAlert): Promise<Means> {
    const url = deps.open({ purpose: 'alert-address', id: account }, address);
    return { url, secrets: await deps.webhookSecrets(account) };
  }

  /** Undefined: there was no answer. */
  async function send(
    alert: BalanceAlert,
    event: BalanceEvent,
    { url, secrets }: Means,
  ): Promise<number | undefined> {
    const { id } = event;
    const body = JSON.stringify(balanceEvent(alert, event, deps.currency()));
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'mediary-event/1',
      ...webhookHeaders({ id, at: now(), body, secrets }),
    };
    try {
      return (await deps.deliver({ url, headers, body, timeoutMs: answerWithinMs })).status;
    } catch {
      return undefined;
    }
  }
}

/** The body of an event. */
function balanceEvent(
  { account, threshold }: Pick<BalanceAlert, 'account' | 'threshold'>,
  { available, at }: BalanceEvent,
  currency: string,
) {
  return {
    type: 'balance.low',
    timestamp: new Date(at).toISOString(),
    data: {
      account,
      currency,
      available: formatMicros(available),
      threshold: formatMicros(threshold),
      at: Math.floor(at / 1000),
    },
  };
}

import { reachedCaps, type ReachedCap, type SpentBy, type Spending } from '../money/cap-alerts.ts';
import { capsOf, capsOfEndUser } from '../money/caps.ts';
import type { Cap, CapScope, CapState, KeyCaps, SpentUse } from '../money/caps.ts';
import { defined } from '../base/defined.ts';
import { walk } from '../base/walk.ts';
import type { Logger } from '../observability/log.ts';
import { isKeyValid } from '../base/key-scope.ts';
import { formatMicros } from '../money/money.ts';
import { projectMonth } from '../money/projection.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { AccountAlert, AccountAlertStore } from '../store/account-alerts.ts';
import type { CapEvent, CapEventStore } from '../store/cap-events.ts';
import type { KeyStore } from '../store/keys.ts';
import type { OwedEvent } from './post-event.ts';

export interface Spendings {
  /** Returns the spending after each entry that follows `after`, in order. */
  readonly spendings: (
    account: string,
    page: { readonly after: bigint; readonly limit: number },
  ) => Promise<readonly (Spending & { readonly seq: bigint })[]>;
  readonly uses: (account: string, by: Partial<SpentBy>) => Promise<ReadonlyMap<CapScope, SpentUse>>;
}

export interface CapAlertsDeps extends Spendings {
  readonly store: Pick<AccountAlertStore, 'findMany' | 'noteJudged' | 'noteRevisionJudged'>;
  readonly events: CapEventStore;
  readonly keys: Pick<KeyStore, 'capsInForce' | 'find' | 'ofAccount'>;
  readonly accounts: Pick<AccountStore, 'find'>;
  readonly newEventId: () => string;
  readonly currency: () => string;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly now: () => number;
}

const pageEntries = 200;
const dueOfAccountMax = 20;

/**
 * Creates one event for each percentage of a cap that spending reaches in a window. Checks every ledger entry, starting
 * from a position that all processes share. It therefore also notices a cap that was reached only briefly, or by a
 * process that has since died.
 */
export function createCapAlerts(deps: CapAlertsDeps) {
  const { store, events, newEventId, log, now } = deps;

  async function judge({ account, caps }: AccountAlert): Promise<boolean> {
    if (caps === undefined) return false;
    const hasChanged = caps.revision > caps.judged;
    if (hasChanged) {
      await report(account, await reachedNow(account, deps));
      await store.noteRevisionJudged(account, caps.revision);
    }
    const isNew = await judgeEntries(account, caps.upTo);
    return hasChanged || isNew;
  }

  async function judgeEntries(account: string, upTo: bigint): Promise<boolean> {
    const find = createCapFinder(account, deps);
    let after = upTo;
    for (;;) {
      const page = await deps.spendings(account, { after, limit: pageEntries });
      const reached: ReachedCap[] = [];
      for (const spending of page) reached.push(...reachedCaps(spending, await find(spending.by)));
      await report(account, reached);
      after = page.at(-1)?.seq ?? after;
      if (page.length < pageEntries) break;
    }
    if (after === upTo) return false;
    await store.noteJudged(account, after);
    return true;
  }

  function report(account: string, reached: readonly ReachedCap[]): Promise<void> {
    return events.add(reached.map((one) => ({ id: newEventId(), account, ...one, tries: 0, dueAt: now() })));
  }

  /** The number of events per account is limited, so that a slow receiver does not delay other accounts. */
  async function due(): Promise<OwedEvent[]> {
    const accounts = await events.dueAccounts(now());
    if (accounts.length === 0) return [];
    const alerts = new Map((await store.findMany(accounts)).map((alert) => [alert.account, alert]));
    const owed: OwedEvent[] = [];
    await walk(accounts, {
      loop: 'events of caps',
      async run(account) {
        const alert = alerts.get(account);
        for (const event of await events.due(account, now(), dueOfAccountMax)) {
          if (alert?.caps === undefined) await events.change(event, undefined);
          else owed.push(await owedEvent(alert, event, deps));
        }
        return true;
      },
      onFailed: (account, err) => log.warn({ account, err }, 'the events of an account could not be read'),
    });
    return owed;
  }

  return { judge, due };
}

async function owedEvent(
  { account, address }: AccountAlert,
  event: CapEvent,
  deps: CapAlertsDeps,
): Promise<OwedEvent> {
  const { events, currency } = deps;
  const { id, tries, percent, cap, by, at } = event;
  const { key, model, endUser } = by;
  const data = {
    account,
    currency: currency(),
    percent,
    ...defined({ key, model, end_user: endUser }),
    cap: capData(cap),
    ...defined({ projected: await projected(account, event, deps) }),
    at: Math.floor(at / 1000),
  };
  const change: OwedEvent['change'] = (seen, left) => events.change({ ...event, tries: seen }, left);
  return { id, account, address, tries, type: 'cap.reached', at, data, change };
}

/** Projects the spending to the end of the month. There is no projection for end users' caps. */
async function projected(
  account: string,
  { cap, by }: Pick<CapEvent, 'cap' | 'by'>,
  { keys, uses, now }: Pick<CapAlertsDeps, 'keys' | 'uses' | 'now'>,
): Promise<string | undefined> {
  const isOver = cap.resetsAt !== undefined && now() >= cap.resetsAt;
  if (cap.window !== 'month' || by.key === undefined || isOver) return undefined;
  const [use, key] = await Promise.all([uses(account, by), keys.find(by.key)]);
  const { month, day } = use.get(cap.scope) ?? {};
  const soFar = { used: month?.used ?? 0n, today: day?.used ?? 0n, now: now(), since: key?.createdAt ?? 0 };
  const total = projectMonth(soFar).projected;
  return total === undefined ? undefined : formatMicros(total);
}

function createCapFinder(account: string, { keys, accounts }: Pick<CapAlertsDeps, 'keys' | 'accounts'>) {
  let found: ReturnType<typeof accounts.find> | undefined;
  const byKey = new Map<string, KeyCaps | undefined>();
  return async ({ key, model, endUser }: SpentBy): Promise<Cap[]> => {
    if (key !== undefined && !byKey.has(key)) byKey.set(key, await keys.capsInForce(key));
    const own = key === undefined ? undefined : byKey.get(key);
    return [
      ...capsOf('key', own?.all),
      ...capsOf('model', model === undefined ? undefined : own?.models.get(model)),
      ...(endUser === undefined
        ? []
        : capsOfEndUser((await (found ??= accounts.find(account)))?.endUserCaps, endUser)),
    ];
  };
}

async function reachedNow(account: string, deps: CapAlertsDeps): Promise<ReachedCap[]> {
  const find = createCapFinder(account, deps);
  const reached: ReachedCap[] = [];
  for await (const by of cappedSpenders(account, deps)) {
    const uses = await deps.uses(account, by);
    reached.push(...reachedCaps({ by, uses, at: deps.now() }, await find(by)));
  }
  return reached;
}

/** Yields the keys, models and end users that have caps of their own. Other end users are checked when they spend. */
async function* cappedSpenders(
  account: string,
  { keys, accounts, now }: CapAlertsDeps,
): AsyncIterable<SpentBy> {
  for await (const { id, countedAs: key = id, caps, ...ends } of keys.ofAccount(account)) {
    if (caps === undefined || !isKeyValid(ends, now())) continue;
    yield { key };
    for (const model of caps.models.keys()) yield { key, model };
  }
  for (const endUser of (await accounts.find(account))?.endUserCaps?.named.keys() ?? []) yield { endUser };
}

function capData({ scope, window, limit, used, left, resetsAt }: CapState) {
  return {
    scope,
    window,
    limit: formatMicros(limit),
    used: formatMicros(used),
    left: formatMicros(left),
    ...defined({ resets_at: resetsAt === undefined ? undefined : Math.floor(resetsAt / 1000) }),
  };
}

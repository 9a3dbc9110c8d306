import { LRUCache } from 'lru-cache';
import type { Duty } from '../capacity/duty.ts';
import type { NotifyConfig } from '../config/gateway-file.ts';
import { parseMicros } from '../domain/money.ts';
import type { Micros } from '../domain/money.ts';
import { ended, isDue, missed, noticeId, sighted } from '../domain/notice.ts';
import type { Condition, Notice, NoticeKind } from '../domain/notice.ts';
import type { Logger } from '../observability/log.ts';
import type { KeptNotice, NoticeStore } from '../store/notices.ts';
import { ledgerViolation, lowBalance } from './conditions.ts';
import type { Source } from './conditions.ts';
import type { SendNotice, Target } from './send.ts';

/**
 * Notifies operators of what they should know. Each process may do it; one at a time does, and another takes over when
 * that one has been silent for a minute.
 */
export interface NoticeWatch {
  readonly start: () => void;
  /** Waits for what is being sent. */
  readonly stop: () => Promise<void>;
  /** What the timer does. Never rejects. */
  readonly tick: () => Promise<void>;
  /** What an account has left now. Costs nothing but memory, of at most 10,000 accounts. */
  readonly noteBalance: (account: string, available: Micros) => void;
  /** What a verification of the ledger has found. */
  readonly noteVerification: (violations: number) => Promise<void>;
  /** Sends a message to each target, and says what came of it: a sentence, or nothing if it was taken. */
  readonly test: () => Promise<readonly { readonly id: string; readonly error?: string }[]>;
}

export interface NoticeWatchDeps {
  readonly store: NoticeStore;
  readonly sources: Readonly<Partial<Record<NoticeKind, Source>>>;
  readonly notify: () => NotifyConfig & { readonly currency: string };
  readonly send: SendNotice;
  readonly log: Logger;
  readonly now: () => number;
  /** Whether it is this process that looks and notifies now. */
  readonly duty: Duty;
}

export const noticeIntervalMs = 15_000;
const balancesMax = 10_000;
/** Of those that are over, the newest are enough: each is sent within minutes. */
const overMax = 200;
const sentAtOnceMax = 20;
const pauseMsMax = 30 * 60_000;

export function createNoticeWatch(deps: NoticeWatchDeps): NoticeWatch {
  const { log, duty } = deps;
  const balances = new LRUCache<string, Micros>({ max: balancesMax });
  const { look, judge, report } = createLooks(deps);
  const notifier = createNotifier(deps);
  let ticking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function run(): Promise<void> {
    try {
      await judge(balances);
      if (!(await duty())) return;
      await look();
      await notifier.notifyAll();
    } catch (err) {
      log.warn({ err }, 'what operators should know could not be looked at');
    }
  }

  const tick = (): Promise<void> => (ticking ??= run().finally(() => (ticking = undefined)));
  return {
    tick,
    start: () => void (timer ??= setInterval(() => void tick(), noticeIntervalMs).unref()),
    async stop() {
      clearInterval(timer);
      timer = undefined;
      await ticking;
    },
    noteBalance: (account, available) => void balances.set(account, available),
    noteVerification: (violations) => report(ledgerViolation(violations), violations > 0),
    test: () => notifier.test(),
  };
}

type Change = (known: Notice | undefined) => Notice | undefined;

/** What is seen becomes notices. */
function createLooks({ store, sources, notify, log, now }: NoticeWatchDeps) {
  return { look, judge, report };

  /** Guarded: another process that looks at the same time may be first, and has seen the same. */
  async function apply(id: string, change: Change, kept?: KeptNotice): Promise<void> {
    const before = kept ?? (await store.find(id));
    const after = change(before?.notice);
    if (after !== undefined && after !== before?.notice) await store.write(after, before);
  }

  async function look(): Promise<void> {
    const open = await store.list('open');
    for (const [kind, source] of Object.entries(sources)) {
      const conditions = await source().catch((err: unknown) => {
        log.warn({ err, kind }, 'what operators should know could not be read');
      });
      if (conditions === undefined) continue;
      const unseen = new Map(
        open.flatMap((kept) => (kept.notice.kind === kind ? [[kept.notice.id, kept] as const] : [])),
      );
      for (const condition of conditions) {
        const id = noticeId(condition);
        await apply(id, (notice) => sighted(notice, condition, now()), unseen.get(id));
        unseen.delete(id);
      }
      for (const [id, kept] of unseen) await apply(id, (notice) => notice && missed(notice, now()), kept);
    }
  }

  /** Of a condition whose end is known. */
  function report(condition: Condition, isSo: boolean): Promise<void> {
    return apply(noticeId(condition), (notice) =>
      isSo ? sighted(notice, condition, now()) : notice && ended(notice, now()),
    );
  }

  async function judge(balances: LRUCache<string, Micros>): Promise<void> {
    const { low_balance: text = '', currency } = notify();
    const limit = parseMicros(text);
    if (limit === undefined) balances.clear();
    if (limit === undefined || balances.size === 0) return;
    const open = new Set((await store.list('open')).map(({ notice }) => notice.id));
    for (const [account, available] of balances.entries()) {
      const condition = lowBalance({ account, available, limit }, currency);
      const isLow = available < limit;
      if (isLow || open.has(noticeId(condition))) await report(condition, isLow);
      // It may have changed meanwhile.
      if (balances.get(account) === available) balances.delete(account);
    }
  }
}

function createNotifier({ store, notify, send, log, now }: NoticeWatchDeps) {
  /** Of targets that do not answer: how often in a row, and when the next try is due. */
  const failing = new Map<string, { readonly times: number; readonly nextAt: number }>();
  return { notifyAll, test };

  async function notifyAll(): Promise<void> {
    const { targets } = notify();
    if (targets.length === 0) return;
    const [open, over] = await Promise.all([store.list('open'), store.list('over', overMax)]);
    const notices = [...open, ...over]
      .map(({ notice }) => notice)
      .toSorted((a, b) => a.revisedAt - b.revisedAt);
    await Promise.all(targets.map((target) => notifyOne(target, notices)));
  }

  async function notifyOne(target: Target, notices: readonly Notice[]): Promise<void> {
    if ((failing.get(target.id)?.nextAt ?? 0) > now()) return;
    const due = notices.filter((notice) => isDue(notice, target.id));
    for (const notice of due.slice(0, sentAtOnceMax)) {
      const error = await send(target, notice);
      if (error !== undefined) return pause(target.id, error);
      failing.delete(target.id);
      // After it was taken: a process that dies in between sends it twice, under the same id.
      await store.recordNotified(notice.id, target.id, notice.revision);
    }
  }

  function pause(id: string, error: string): void {
    const times = (failing.get(id)?.times ?? 0) + 1;
    const pauseMs = Math.min(pauseMsMax, 10_000 * 2 ** (times - 1));
    failing.set(id, { times, nextAt: now() + pauseMs });
    if (times === 1)
      log.error({ target: id, error }, 'a target of notify did not accept a notice; it is sent later');
  }

  async function test() {
    const at = now();
    const text = 'This is a test: nothing is wrong.';
    const condition = { kind: 'attention', subject: 'test', count: 1, text } as const;
    const notice = { ...sighted(undefined, condition, at), id: `test/${at}` };
    return Promise.all(
      notify().targets.map(async (target) => {
        const error = await send(target, notice);
        return { id: target.id, ...(error === undefined ? {} : { error }) };
      }),
    );
  }
}

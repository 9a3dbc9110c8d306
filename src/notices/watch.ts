import type { Duty } from '../capacity/duty.ts';
import { createRounds } from '../process/rounds.ts';
import type { Rounds } from '../process/rounds.ts';
import { ended, isDue, missed, noticeId, sighted } from '../base/notice.ts';
import type { Condition, Notice, NoticeKind } from '../base/notice.ts';
import type { Logger } from '../observability/log.ts';
import type { KeptNotice, NoticeStore } from '../store/notices.ts';
import { ledgerViolation } from './conditions.ts';
import type { Source } from './conditions.ts';
import type { SendNotice, Target } from './send.ts';

/**
 * Notifies operators of what they should know. Each process may do it; one at a time does, and another takes over when
 * that one has been silent for a minute.
 */
export interface NoticeWatch extends Rounds {
  /** Waits for the notices that are being sent, one to each target: 10 s at most. */
  readonly stop: () => Promise<void>;
  /** What a verification of the ledger has found. */
  readonly noteVerification: (violations: number) => Promise<void>;
  /** Sends a message to each target, and says what came of it: a sentence, or nothing if it was taken. */
  readonly test: () => Promise<readonly { readonly id: string; readonly error?: string }[]>;
}

export interface NoticeWatchDeps {
  readonly store: NoticeStore;
  readonly sources: Readonly<Partial<Record<NoticeKind, Source>>>;
  readonly targets: () => readonly Target[];
  readonly send: SendNotice;
  readonly log: Logger;
  readonly now: () => number;
  /** Whether it is this process that looks and notifies now. */
  readonly duty: Duty;
}

export const noticeIntervalMs = 15_000;
/** Of those that are over, the newest are enough: each is sent within minutes. */
const overMax = 200;
const sentAtOnceMax = 20;
const pauseMsMax = 30 * 60_000;

export function createNoticeWatch(deps: NoticeWatchDeps): NoticeWatch {
  const { log, duty } = deps;
  const { look, report } = createLooks(deps);
  const notifier = createNotifier({ ...deps, isStopping: () => stopping });
  let stopping = false;
  const rounds = createRounds({
    everyMs: noticeIntervalMs,
    async work() {
      if (!(await duty())) return;
      await look();
      await notifier.notifyAll();
    },
    onError: (err) => log.warn({ err }, 'what operators should know could not be looked at'),
  });
  return {
    ...rounds,
    async stop() {
      stopping = true;
      await rounds.stop();
      stopping = false;
    },
    noteVerification: (violations) => report(ledgerViolation(violations), violations > 0),
    test: () => notifier.test(),
  };
}

type Change = (known: Notice | undefined) => Notice | undefined;

/** What is seen becomes notices. */
function createLooks({ store, sources, log, now }: NoticeWatchDeps) {
  return { look, report };

  /** Guarded: false if another process was first. One that looks at the same time has seen the same. */
  async function apply(id: string, change: Change, kept?: KeptNotice): Promise<boolean> {
    const before = kept ?? (await store.find(id));
    const after = change(before?.notice);
    return after === undefined || after === before?.notice || store.write(after, before);
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

  /** Of a condition whose end is known. Nobody looks again soon: it is said until it is written. */
  async function report(condition: Condition, isSo: boolean): Promise<void> {
    const change: Change = (notice) =>
      isSo ? sighted(notice, condition, now()) : notice && ended(notice, now());
    while (!(await apply(noticeId(condition), change)));
  }
}

/** What a target is still to be sent in this turn. */
interface Owed {
  readonly target: Target;
  readonly owed: Notice[];
}

interface NotifierDeps extends NoticeWatchDeps {
  readonly isStopping: () => boolean;
}

function createNotifier({ store, targets, send, duty, isStopping, log, now }: NotifierDeps) {
  /** Of targets that do not answer: how often in a row, and when the next try is due. */
  const failing = new Map<string, { readonly times: number; readonly nextAt: number }>();
  return { notifyAll, test };

  /**
   * One notice to each target at a time. Before the next ones the duty is renewed, since slow targets may take longer than
   * the silence after which another process takes over.
   */
  async function notifyAll(): Promise<void> {
    const queues = await owedNotices();
    for (let sent = 0; sent < sentAtOnceMax && !isStopping(); sent += 1) {
      if (queues.every(({ owed }) => owed.length === 0)) return;
      if (sent > 0 && !(await duty())) return;
      await Promise.all(queues.map(notifyNext));
    }
  }

  async function owedNotices(): Promise<Owed[]> {
    const due = targets().filter(({ id }) => (failing.get(id)?.nextAt ?? 0) <= now());
    if (due.length === 0) return [];
    const [open, over] = await Promise.all([store.list('open'), store.list('over', overMax)]);
    const notices = [...open, ...over]
      .map(({ notice }) => notice)
      .toSorted((a, b) => a.revisedAt - b.revisedAt);
    return due.map((target) => ({ target, owed: notices.filter((notice) => isDue(notice, target.id)) }));
  }

  async function notifyNext({ target, owed }: Owed): Promise<void> {
    const notice = owed.shift();
    if (notice === undefined) return;
    const error = await send(target, notice);
    if (error !== undefined) {
      owed.length = 0;
      return pause(target.id, error);
    }
    failing.delete(target.id);
    // After it was taken: a process that dies in between sends it twice, under the same id.
    await store.recordNotified(notice.id, target.id, notice.revision);
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
      targets().map(async (target) => {
        const error = await send(target, notice);
        return { id: target.id, ...(error === undefined ? {} : { error }) };
      }),
    );
  }
}

import { periods } from '../base/periods.ts';
import { walk } from '../base/walk.ts';
import type { Duty } from '../capacity/duty.ts';
import { createRounds, type Rounds } from '../process/rounds.ts';
import { ended, isDue, missed, noticeId, sighted } from '../base/notice.ts';
import type { Condition, Notice, NoticeKind } from '../base/notice.ts';
import type { Logger } from '../observability/log.ts';
import type { KeptNotice, NoticeStore } from '../store/notices.ts';
import { ledgerViolation, type Source } from './conditions.ts';
import type { SendNotice, Target } from './send.ts';

/** One process at a time notifies operators. If it stops reporting for a minute, another one takes over. */
export interface NoticeWatch extends Rounds {
  /** Waits up to 10 s for notices in flight, of which there is at most one per target. */
  readonly stop: () => Promise<void>;
  readonly noteVerification: (violations: number) => Promise<void>;
  /** Sends a test message to every target. `error` is undefined if the target accepted it. */
  readonly test: () => Promise<readonly { readonly id: string; readonly error?: string }[]>;
}

export interface NoticeWatchDeps {
  readonly store: NoticeStore;
  readonly sources: Readonly<Partial<Record<NoticeKind, Source>>>;
  readonly targets: () => readonly Target[];
  readonly send: SendNotice;
  readonly log: Logger;
  readonly now: () => number;
  readonly duty: Duty;
}

/** Only the newest finished notices are read, which is enough because notices are sent within minutes. */
const overMax = 200;
const sentAtOnceMax = 20;
const pauseMsMax = 30 * 60_000;

export function createNoticeWatch(deps: NoticeWatchDeps): NoticeWatch {
  const { log, duty } = deps;
  const { look, report } = createLooks(deps);
  const notifier = createNotifier({ ...deps, isStopping: () => stopping });
  let stopping = false;
  const rounds = createRounds({
    ...periods.notices,
    async work() {
      if (!(await duty())) return;
      await look();
      await notifier.notifyAll();
    },
    onError: (err) => log.warn({ err }, 'the conditions for notices could not be checked'),
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

function createLooks({ store, sources, log, now }: NoticeWatchDeps) {
  return { look, report };

  /**
   * Returns false if another process was first to write the notice. Nothing is lost, because that process saw the same
   * conditions.
   */
  async function apply(id: string, change: Change, kept?: KeptNotice): Promise<boolean> {
    const before = kept ?? (await store.find(id));
    const after = change(before?.notice);
    return after === undefined || after === before?.notice || store.write(after, before);
  }

  async function look(): Promise<void> {
    const open = await store.list('open');
    for (const [kind, source] of Object.entries(sources)) {
      const conditions = await source().catch((err: unknown) => {
        log.warn({ err, kind }, 'the conditions for notices could not be read');
      });
      if (conditions === undefined) continue;
      const unseen = new Map(
        open.flatMap((kept) => (kept.notice.kind === kind ? [[kept.notice.id, kept] as const] : [])),
      );
      const changes = conditions.map((condition) => {
        const id = noticeId(condition);
        const kept = unseen.get(id);
        unseen.delete(id);
        return { id, kept, change: (notice?: Notice) => sighted(notice, condition, now()) };
      });
      const ends = [...unseen].map(([id, kept]) => {
        return { id, kept, change: (notice?: Notice) => notice && missed(notice, now()) };
      });
      await walk([...changes, ...ends], {
        loop: 'conditions of notices',
        run: ({ id, change, kept }) => apply(id, change, kept),
        onFailed: (_, err) => log.warn({ err, kind }, 'the conditions for notices could not be written'),
        isTogether: true,
      });
    }
  }

  /**
   * Call this from a source that reports on its own. Its next report may be a long time away, so the write is repeated
   * until no other process gets ahead of it.
   */
  async function report(condition: Condition, isSo: boolean): Promise<void> {
    const change: Change = (notice) =>
      isSo ? sighted(notice, condition, now()) : notice && ended(notice, now());
    while (!(await apply(noticeId(condition), change)));
  }
}

interface Owed {
  readonly target: Target;
  readonly owed: Notice[];
}

interface NotifierDeps extends NoticeWatchDeps {
  readonly isStopping: () => boolean;
}

function createNotifier({ store, targets, send, duty, isStopping, log, now }: NotifierDeps) {
  /** Targets that do not respond, each with the number of consecutive failures and the time of the next attempt. */
  const failing = new Map<string, { readonly times: number; readonly nextAt: number }>();
  return { notifyAll, test };

  /**
   * Sends each target one notice at a time. With slow targets, a round can last so long that another process would take
   * over, so `duty` is called between notices.
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
    // Record a notice only after the target has accepted it. If the process dies before this write, the notice is sent
    // twice with the same id.
    await store.recordNotified(notice.id, target.id, notice.revision);
  }

  function pause(id: string, error: string): void {
    const times = (failing.get(id)?.times ?? 0) + 1;
    const pauseMs = Math.min(pauseMsMax, 10_000 * 2 ** (times - 1));
    failing.set(id, { times, nextAt: now() + pauseMs });
    if (times === 1)
      log.error({ target: id, error }, 'a target of notify did not accept a notice; retrying later');
  }

  async function test() {
    const at = now();
    const text = 'This is a test. Nothing is wrong.';
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

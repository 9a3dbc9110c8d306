import { defined } from '../base/defined.ts';
import { createPlaces } from '../base/places.ts';
import { createTurns } from '../base/turns.ts';
import { walk, type IsOver, type Walked } from '../base/walk.ts';
import { NotStoredError } from '../errors/not-stored.ts';
import { isTerminal, type ResultItem } from '../task/task.ts';
import type { Logger } from '../observability/log.ts';
import type { ResultCopy, ResultCopyStore } from '../store/result-copies.ts';
import type { Task } from '../task/record.ts';
import { linkHeadersOf, taskProviderFor, type Channels } from '../routing/channels.ts';
import type { TaskStore } from '../store/tasks.ts';
import { asCopyError, copyFile, type CopiedFile, type CopyError, type CopyFileDeps } from './copy-file.ts';
import { lookAtLink, worse, type LinkLook } from './open-links.ts';
import type { Deliver, Delivered, DeliveryOptions, LinkProblem } from '../routing/delivery.ts';
import { lateWriteMs, type ResultStorage } from './storage.ts';
import { timeLimit } from '../process/running-time.ts';

export interface ResultCopier {
  /**
   * Adds a reference to each copy to its item. An item that cannot be copied in time is returned unchanged and copied
   * later. Rejects only while MongoDB is unavailable, because every copy needs a record.
   */
  readonly deliver: Deliver;
  retryDue(isOver?: IsOver): Promise<Walked>;
  deleteExpired(isOver?: IsOver): Promise<Walked>;
  /**
   * Resolves to the tasks whose copies have been removed. The others were not reached in time and need another call.
   */
  remove(tasks: readonly string[], isOver?: IsOver): Promise<readonly string[]>;
}

export interface ResultCopierDeps extends CopyFileDeps {
  readonly storage: ResultStorage;
  readonly copies: ResultCopyStore;
  readonly tasks: Pick<TaskStore, 'find' | 'replaceItems' | 'setConcern' | 'isOutage'>;
  readonly channels: Channels;
  readonly retentionSeconds: number;
  readonly log: Logger;
  readonly now: () => number;
}

const minuteMs = 60_000;
/** Doubles after each attempt: 5, 10, 20, … minutes. Upstreams' links are usually valid for a day. */
const retryFirstMs = 5 * minuteMs;
const triesMax = 9;
const retryTimeoutMs = 5 * minuteMs;
const duePerStep = 200;
/** The states in which a copy still has files to delete when its deletion is due. */
const deletedStates = ['stored', 'unused', 'gave_up', 'removed'] as const;
const retriesPerChannel = 50;
/**
 * Limits each channel to two concurrent copies, so that a slow channel does not let the links of other channels expire.
 */
const retriesMax = { name: 'copies retried', placesMax: 8, shareMax: 2 } as const;
const postponedMs = 3_600_000;

interface Copied extends Delivered {
  readonly names: readonly string[];
  readonly error?: CopyError;
}

interface Attempted extends Copied {
  readonly record: ResultCopy;
}

export function createResultCopier(deps: ResultCopierDeps): ResultCopier {
  const { copies, storage, now, log } = deps;
  const firstRetryAt = (): number => now() + retryFirstMs;
  const retries = createPlaces(retriesMax);
  const turns = createTurns(({ channel = '' }: ResultCopy) => channel);

  async function removeFiles({ task, names }: ResultCopy): Promise<void> {
    for (const name of names) await storage.remove(`${task}/${name}`);
  }

  async function postpone(copy: ResultCopy, error: unknown, dueAt: number): Promise<void> {
    logPostponed(copy, error, log);
    await copies.change(copy, { dueAt });
  }

  /** Writes the record last. If the process dies before that, the copy is made again later. */
  async function retry(copy: ResultCopy): Promise<boolean> {
    const { task } = copy;
    const found = await deps.tasks.find(task);
    if (found?.outcome?.kind !== 'succeeded') {
      const isOver = found === undefined || isTerminal(found.status);
      const after = isOver
        ? ({ state: 'gave_up', dueAt: keptUntil(deps) } as const)
        : { dueAt: firstRetryAt() };
      await copies.change(copy, after);
      return false;
    }
    // The copy stays due until the storage accepts files or the task is removed. Until then, no link is opened and no
    // upstream is called.
    if ((await storage.refusal()) !== undefined) return false;
    const { channel = '', credential = '' } = found;
    const headersFor = linkHeadersOf(deps.channels, { ...found, channel, credential });
    const linked = await withFreshLinks(found, found.outcome.items, deps);
    const { items, record } = await attempt({ task, items: linked }, deps, {
      timeoutMs: retryTimeoutMs,
      channel,
      headersFor,
    });
    if (items.some(({ stored }) => stored !== undefined)) await deps.tasks.replaceItems(task, items);
    if (record.state === 'gave_up') await deps.tasks.setConcern(task, 'not_delivered');
    await copies.write(record);
    return record.state === 'stored';
  }

  return {
    async deliver(task, items, options) {
      if (!items.some(({ url }) => url !== undefined)) return { items };
      try {
        const { problem, record, ...attempted } = await attempt({ task, items }, deps, options);
        // A task that cannot succeed without a missing copy requests the copy again at its next poll. Attempts are not
        // counted until then.
        const isOpen = problem === undefined;
        await copies.write(isOpen ? record : { ...record, state: 'retry', tries: 0, dueAt: firstRetryAt() });
        return { items: attempted.items, ...defined({ problem }) };
      } catch (error) {
        if (deps.tasks.isOutage(error)) throw error;
        log.warn({ task, err: error }, 'a result was not copied, and no other attempt is recorded');
        return { items };
      }
    },

    async retryDue(isOver = () => false) {
      return walk(await copies.listRetries({ at: now(), eachMax: retriesPerChannel }), {
        loop: 'copies to retry',
        isOver,
        turns,
        inPlace: ({ channel = '' }, job) => retries.run(channel, job),
        run: retry,
        // Retry soon, because links may expire within an hour.
        onFailed: (copy, error) => postpone(copy, error, firstRetryAt()),
      });
    },

    async remove(tasks, isOver = () => false) {
      const found = await copies.findMany(tasks);
      const left = new Set(found.map(({ task }) => task));
      await walk(found, {
        loop: 'copies of removed tasks',
        isOver,
        async run(copy) {
          await removeFiles(copy);
          if (mayBeLate(copy, deps) || !(await copies.forget(copy)))
            await copies.remove(copy.task, now() + lateWriteMs);
          left.delete(copy.task);
          return true;
        },
        async onFailed(copy, error) {
          logPostponed(copy, error, log);
          await copies.remove(copy.task, now() + postponedMs);
          left.delete(copy.task);
        },
      });
      return tasks.filter((task) => !left.has(task));
    },

    async deleteExpired(isOver = () => false) {
      const due = await Promise.all(deletedStates.map((state) => copies.listDue(state, now(), duePerStep)));
      const oldestFirst = due.flat().toSorted((one, other) => one.dueAt - other.dueAt);
      return walk(oldestFirst, {
        loop: 'copies to delete',
        isOver,
        async run(copy) {
          await removeFiles(copy);
          return copy.state === 'removed' || copy.state === 'unused'
            ? copies.forget(copy)
            : copies.change(copy, { state: 'expired', names: [] });
        },
        onFailed: (copy, error) => postpone(copy, error, now() + postponedMs),
      });
    },
  };
}

async function attempt(
  { task, items }: { readonly task: string; readonly items: readonly ResultItem[] },
  deps: ResultCopierDeps,
  { timeoutMs, ...links }: DeliveryOptions,
): Promise<Attempted> {
  const { copies, now, log } = deps;
  const before = await copies.find(task);
  const copied = await copyItems(deps, { task, items, ...links, signal: timeLimit(timeoutMs) });
  const { error } = copied;
  // A rejection by the storage says nothing about the link, so these attempts are not counted.
  const isRefused = error?.cause instanceof NotStoredError;
  const tries = (before?.tries ?? 0) + (isRefused ? 0 : 1);
  const again = error !== undefined && !error.final && tries < triesMax;
  if (error !== undefined) log.warn({ task, attempts: tries, again, err: error }, 'a result was not copied');
  const record = {
    task,
    channel: links.channel,
    state: again ? 'retry' : error === undefined ? 'stored' : 'gave_up',
    names: copied.names,
    tries,
    dueAt: again ? now() + retryFirstMs * (isRefused ? 1 : 2 ** (tries - 1)) : keptUntil(deps),
    ...defined({ error: error?.message }),
  } as const;
  return { ...copied, record };
}

function logPostponed({ task }: ResultCopy, err: unknown, log: Logger): void {
  log.error({ task, err }, 'the copy of a result could not be kept or deleted; retrying later');
}

/** Returns true if an aborted write of these files is so recent that it may still complete. */
function mayBeLate(
  { state, names, dueAt }: ResultCopy,
  deps: Pick<ResultCopierDeps, 'now' | 'retentionSeconds'>,
): boolean {
  if (state === 'stored' || names.length === 0) return false;
  return state !== 'gave_up' || dueAt > keptUntil(deps) - lateWriteMs;
}

function keptUntil({ now, retentionSeconds }: Pick<ResultCopierDeps, 'now' | 'retentionSeconds'>): number {
  return now() + retentionSeconds * 1000;
}

async function withFreshLinks(
  task: Task,
  items: readonly ResultItem[],
  { channels, log }: Pick<ResultCopierDeps, 'channels' | 'log'>,
): Promise<readonly ResultItem[]> {
  const job = task.attempts.findLast(({ state }) => state === 'accepted');
  const channel = job === undefined ? undefined : channels(job.channel);
  const provider = channel === undefined ? undefined : taskProviderFor(channel.provider, task.kind);
  if (job?.operation === undefined || channel === undefined || provider === undefined) return items;
  try {
    const signal = timeLimit(channel.config.timeouts.poll_ms);
    const status = await provider.status(job.operation, channel.context(job.credential, task.model, signal));
    if (status.state !== 'succeeded') return items;
    return items.map((item, n) => {
      const { url, lastFrameUrl, expiresAt } = status.items[n] ?? {};
      return { ...item, ...defined({ url, lastFrameUrl, expiresAt }) };
    });
  } catch (err) {
    log.warn({ task: task.id, err }, 'an upstream returned no fresh links to a result');
    return items;
  }
}

interface ItemsCopy extends Omit<DeliveryOptions, 'timeoutMs'> {
  readonly task: string;
  readonly items: readonly ResultItem[];
  readonly signal: AbortSignal;
}

async function copyItems(
  deps: ResultCopierDeps,
  { task, items, channel, headersFor, signal }: ItemsCopy,
): Promise<Copied> {
  const names: string[] = [];
  const done: ResultItem[] = [];
  let failure: CopyError | undefined;
  let problem: LinkProblem | undefined;
  const late: LinkLook[] = [];
  const take = async (url: string | undefined, stem: string): Promise<CopiedFile | undefined> => {
    if (url === undefined) return undefined;
    const headers = headersFor(url);
    const isLate = signal.aborted;
    try {
      const onName = async (name: string): Promise<void> => {
        // Record the name first, because a write that takes too long may still complete later.
        names.push(name);
        await deps.copies.begin({ task, channel }, name, deps.now() + retryFirstMs);
      };
      return await copyFile(deps, { task, channel, url, stem, signal, onName, ...defined({ headers }) });
    } catch (error) {
      failure = asCopyError(error);
      const { link: evidence, message } = failure;
      if (isLate) late.push({ channel, url, headers, maxBytes: deps.maxBytes });
      else if (evidence !== 'opens') problem = worse(problem, { evidence, message });
      return undefined;
    }
  };
  for (const [index, item] of items.entries()) {
    const { name, lastFrame } = item.stored ?? {};
    names.push(...[name, lastFrame].filter((known) => known !== undefined));
    const file = item.stored ?? (await take(item.url, `${index}`));
    const frame = item.stored?.lastFrame ?? (await take(item.lastFrameUrl, `${index}-last-frame`))?.name;
    const at = item.stored?.at ?? Math.floor(deps.now() / 1000);
    const stored = file && { name: file.name, sha256: file.sha256, at, ...defined({ lastFrame: frame }) };
    done.push({ ...item, ...defined({ stored }) });
  }
  // There is no time to copy these files, but their first bytes show whether they exist.
  const looks = await Promise.all(late.map((link) => lookAtLink(deps.openLink, link)));
  problem = looks.reduce(worse, problem);
  return { items: done, names, ...defined({ error: failure, problem }) };
}

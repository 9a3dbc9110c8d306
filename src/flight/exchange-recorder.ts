import { periods } from '../base/periods.ts';
import { createRecent } from '../base/recent.ts';
import { defined } from '../base/defined.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { Logger } from '../observability/log.ts';
import type { NewExchanges } from '../store/exchanges.ts';
import { describeCall, type RawCall } from './describe-call.ts';
import type { CallOutcome } from './recorded-call.ts';
import { textsOf } from './redact.ts';

/**
 * Records each task's exchanges with upstreams, independently of the task's own work: nothing waits for it, it never
 * throws, and a failed write is only logged. A poll with the same result as the previous one is only counted, so a
 * normal task costs one write, however often it is polled.
 */
export interface ExchangeRecorder {
  record(task: string, call: RawCall): void;
  /** Until the returned function is called, calls about the job are recorded for this task. */
  own(job: string, task: string): () => void;
  ownerOf(job: string): string | undefined;
  close(): Promise<void>;
}

export interface ExchangeRecorderDeps {
  readonly add: (news: readonly NewExchanges[]) => Promise<void>;
  readonly findRequest: (task: string) => Promise<{ readonly request: GenerationRequest } | undefined>;
  readonly log: Pick<Logger, 'warn'>;
  readonly now: () => number;
}

/**
 * A task's calls are collected and written together. A call that ends a job, or a failed submission, which may need an
 * operator, is written after `soonMs`, with all calls collected until then. Other calls wait for it or for `laterMs`.
 */
const soonMs = 1_000;
const laterMs = 120_000;
/**
 * How long a failed poll waits before it is written. Shorter than for other polls, but long enough to combine several
 * failures.
 */
const failingMs = 15_000;
const batchMax = 200;
/** The maximum length of each of a task's two lists of calls in memory. The document has its own limits. */
const callsMax = 12;
/** If this many tasks have unwritten calls, new tasks are not recorded until there is room again. */
const pendingTasksMax = 5_000;
/**
 * The number of tasks whose last poll is remembered. If the least recently polled task is forgotten, its next poll is
 * recorded even if nothing has changed.
 */
const polledTasksMax = 50_000;
const textsTasksMax = 1_000;

interface Pending {
  readonly submits: string[];
  readonly polls: string[];
  dueAt: number;
}

interface Polled {
  readonly meaning: string;
  skipped: number;
}

/**
 * Returns a key for the job. It includes the channel, because an upstream's job ids are unique only within one channel.
 */
export function jobOf(channel: string, { id }: { readonly id: string }): string {
  return `${channel}/${id}`;
}

export function createExchangeRecorder(deps: ExchangeRecorderDeps): ExchangeRecorder {
  const recorder = new Recorder(deps);
  const owners = new Map<string, { readonly task: string; users: number }>();
  return {
    record: (task, call) => recorder.record(task, call),
    close: () => recorder.close(),
    ownerOf: (job) => owners.get(job)?.task,
    own(job, task) {
      const owner = owners.get(job) ?? { task, users: 0 };
      owner.users += 1;
      owners.set(job, owner);
      return () => {
        owner.users -= 1;
        if (owner.users === 0 && owners.get(job) === owner) owners.delete(job);
      };
    },
  };
}

class Recorder {
  readonly #deps: ExchangeRecorderDeps;
  readonly #pending = new Map<string, Pending>();
  readonly #polled = createRecent<Polled>(polledTasksMax);
  readonly #texts = createRecent<readonly string[]>(textsTasksMax);
  readonly #describing = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: ExchangeRecorderDeps) {
    this.#deps = deps;
  }

  record(task: string, call: RawCall): void {
    const isPoll = call.step !== 'submit' && call.step !== 'cancel';
    const skipped = isPoll ? this.#news(task, call.outcome) : 0;
    if (skipped === undefined) return;
    if (!this.#pending.has(task) && this.#pending.size >= pendingTasksMax) return;
    const described = this.#describe(task, skipped === 0 ? call : { ...call, skipped }).finally(() =>
      this.#describing.delete(described),
    );
    this.#describing.add(described);
  }

  async close(): Promise<void> {
    await Promise.all(this.#describing);
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#flush(Number.POSITIVE_INFINITY);
    await this.#writing;
  }

  /** Returns how many calls were skipped before this one, or undefined if this one is skipped too. */
  #news(task: string, outcome: CallOutcome): number | undefined {
    const last = this.#polled.get(task);
    const meaning = meaningOf(outcome);
    if (last?.meaning === meaning) {
      last.skipped += 1;
      return undefined;
    }
    if (outcome.kind === 'succeeded' || outcome.kind === 'failed') this.#polled.delete(task);
    else this.#polled.set(task, { meaning, skipped: 0 });
    return last?.skipped ?? 0;
  }

  /** A large body must not delay the attempt itself, so the call is described afterwards. */
  async #describe(task: string, call: RawCall): Promise<void> {
    await new Promise((resolve) => void setImmediate(resolve));
    try {
      // An upstream may repeat the caller's words anywhere in its response.
      const texts = await this.#textsOf(task, call.hidden.texts);
      const hidden = { ...call.hidden, ...defined({ texts }) };
      this.#keep(task, call, JSON.stringify(describeCall({ ...call, hidden })));
    } catch (error) {
      this.#deps.log.warn({ task, err: error }, 'an exchange with an upstream was not recorded');
    }
  }

  /** Only a submission contains the caller's texts, so those of recent tasks are cached for the calls that follow. */
  async #textsOf(task: string, carried?: readonly string[]): Promise<readonly string[] | undefined> {
    const known = carried ?? this.#texts.get(task) ?? (await this.#requestedTexts(task));
    if (known !== undefined && !this.#texts.has(task)) {
      const short = known.filter((text) => !text.startsWith('data:'));
      this.#texts.set(task, short);
    }
    return known;
  }

  async #requestedTexts(task: string): Promise<readonly string[] | undefined> {
    const found = await this.#deps.findRequest(task);
    return found === undefined ? undefined : textsOf(found.request);
  }

  #keep(task: string, { step, outcome }: RawCall, text: string): void {
    const known = this.#pending.get(task) ?? { submits: [], polls: [], dueAt: Number.POSITIVE_INFINITY };
    const list = step === 'submit' || step === 'cancel' || isEnd(outcome) ? known.submits : known.polls;
    list.push(text);
    if (list.length > callsMax) list.shift();
    known.dueAt = Math.min(known.dueAt, this.#deps.now() + delayOf(step, outcome));
    this.#pending.set(task, known);
    this.#timer ??= setInterval(() => this.#flush(this.#deps.now()), periods.exchanges.everyMs).unref();
  }

  #flush(until: number): void {
    const due = [...this.#pending].filter(([, { dueAt }]) => dueAt <= until);
    for (const [task] of due) this.#pending.delete(task);
    for (let at = 0; at < due.length; at += batchMax) {
      const batch = due
        .slice(at, at + batchMax)
        .map(([task, { submits, polls }]) => ({ task, submits, polls }));
      this.#writing = this.#writing.then(() => this.#write(batch));
    }
    if (this.#pending.size > 0 || this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #write(batch: readonly NewExchanges[]): Promise<void> {
    try {
      await this.#deps.add(batch);
    } catch (error) {
      this.#deps.log.warn({ count: batch.length, err: error }, 'exchanges with upstreams were not recorded');
    }
  }
}

/** Returns the part of an outcome that is worth recording. Progress alone is not. */
function meaningOf(outcome: CallOutcome): string {
  if (outcome.kind === 'pending') return outcome.phase;
  if (outcome.kind === 'error') return `${outcome.code} ${outcome.status ?? ''}`;
  if (outcome.kind === 'found') return `found ${outcome.operations.map(({ id }) => id).join(' ')}`;
  return outcome.kind;
}

function isEnd({ kind }: CallOutcome): boolean {
  return kind === 'succeeded' || kind === 'failed';
}

function delayOf(step: RawCall['step'], outcome: CallOutcome): number {
  if (isEnd(outcome)) return soonMs;
  if (outcome.kind !== 'error' && outcome.kind !== 'crashed') return laterMs;
  return step === 'submit' ? soonMs : failingMs;
}

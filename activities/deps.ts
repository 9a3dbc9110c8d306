import type { Logger } from '../src/observability/log.ts';
import type { Metrics } from '../src/observability/metrics.ts';
import type { Channels, LinkHeaders } from '../src/routing/channels.ts';
import type { HostPlaces } from '../src/capacity/host-places.ts';
import type { RenderClock } from '../src/capacity/render-clock.ts';
import type { StayPlaces } from '../src/capacity/stay-places.ts';
import type { SlotKeeper } from '../src/capacity/slot-keeper.ts';
import type { SubmitGate } from '../src/capacity/submit-gate.ts';
import type { AuditLog } from '../src/tasks/audit-log.ts';
import type { AbandonCreation } from '../src/tasks/abandon-creation.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import type { KeySlotStore } from '../src/store/key-slots.ts';
import type { RequestStore } from '../src/store/requests.ts';
import type { TaskStore } from '../src/store/tasks.ts';
import type { PollConcern } from '../src/domain/poll-concern.ts';
import type { RouteCandidate } from '../src/domain/routing.ts';
import type { Task } from '../src/domain/task-record.ts';
import type { ResultItem, TaskKind } from '../src/domain/task.ts';
import type { SubmitLimiter } from '../src/capacity/submit-limiter.ts';
import type { StatusPoller } from './status-poller.ts';

/** What activities depend on. Built by src/worker.ts. */
export interface TaskActivityDeps {
  readonly tasks: TaskStore;
  readonly requests: RequestStore;
  readonly ledger: Ledger;
  readonly channels: Channels;
  /** Gives back what an ended task holds. */
  readonly slots: Pick<SlotKeeper, 'release'>;
  readonly keySlots: Pick<KeySlotStore, 'release'>;
  readonly workflows: WorkflowLookup;
  readonly abandonCreation: AbandonCreation;
  /** Starts the delivery of the callback of a task that has ended without its workflow. Repeatable. */
  readonly owedCallback: (task: string) => Promise<void>;
  /** What else the reconciler repairs, in order. */
  readonly upkeep: readonly UpkeepStep[];
  readonly metrics: Pick<Metrics, 'countEnded'>;
  readonly log: Logger;
  readonly now: () => number;
}

export interface UpkeepStep {
  readonly name: string;
  /** How many things it repaired. */
  readonly run: () => Promise<number>;
}

export interface ChannelActivityDeps {
  readonly tasks: TaskStore;
  readonly requests: RequestStore;
  readonly channels: Channels;
  readonly gate: SubmitGate;
  /**
   * Copies results into our own storage, if there is one. Never throws: items that miss the timeout are returned
   * unchanged.
   */
  readonly copyResults: (
    task: string,
    items: readonly ResultItem[],
    options: { readonly timeoutMs: number; readonly headersFor: LinkHeaders },
  ) => Promise<readonly ResultItem[]>;
  /** Results are copied: there is a storage of our own. */
  readonly keepsResults: boolean;
  /** Whether there is a file at this address; if not, why. */
  readonly canOpen: (url: string) => Promise<string | undefined>;
  /** One per channel and credential of this process. */
  readonly submitLimiter: (candidate: RouteCandidate) => SubmitLimiter;
  /** Shows a concern, or its end, in the task's workflow. */
  readonly signalConcern: (task: string, news: ConcernNews) => Promise<void>;
  /** What is known of render times, and what is learned of them. */
  readonly renders: Pick<RenderClock, 'times' | 'learn'>;
  /** For attempts that stay while the end of a render is near. */
  readonly stays: Pick<StayPlaces, 'enter' | 'isFull' | 'returnInMs'>;
  readonly poller: (candidate: RouteCandidate, kind: TaskKind) => StatusPoller;
  /** Where upstreams reach us; absent: they cannot. */
  readonly publicUrl?: string;
  readonly scrub: (text: string) => string;
  /** Who sent an operator's act. */
  readonly actorOf: (act: SentAct) => string;
  readonly auditLog: AuditLog;
  readonly log: Logger;
  readonly now: () => number;
  readonly random: () => number;
}

export interface SentAct {
  /** Of its update. */
  readonly id: string;
  readonly task: string;
  readonly action: string;
  /** Who acts, or says to. */
  readonly by: string;
}

export interface ConcernNews {
  /** Absent: it has passed. */
  readonly concern?: PollConcern;
  /** How polling stands, in words. */
  readonly text: string;
}

export interface CallbackActivityDeps {
  readonly tasks: TaskStore;
  readonly requests: RequestStore;
  /** The account's signing secrets, newest first: `whsec_…`. */
  readonly webhookSecrets: (account: string) => Promise<readonly string[]>;
  /** Of this process: how many requests one host may have at a time. */
  readonly places: HostPlaces;
  /** One POST to an address that a caller chose, under the Safety rules; throws when no answer came. */
  readonly post: PostCallback;
  readonly log: Logger;
  /** The body of GET, as JSON text. */
  readonly present: (task: Task) => string;
  readonly now: () => number;
}

export type PostCallback = (
  delivery: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly timeoutMs: number;
  },
  task: string,
) => Promise<{ readonly status: number }>;

/** What the reconciler asks Temporal. */
export interface WorkflowLookup {
  /** Ids of every task workflow that runs, a little behind. */
  running(): AsyncIterable<string>;
  /** Ids of running task workflows whose last steps have failed, or timed out, one after the other. */
  failing(): AsyncIterable<string>;
  /** Whether a workflow of this id is running. */
  isRunning(id: string): Promise<boolean>;
  /** Ends the back-off of a task's activity. False: there is none to end. */
  wake(task: string, activity: string): Promise<boolean>;
}

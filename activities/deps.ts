import type { ChannelAnswer, ChannelCall } from '../src/images/call-channel.ts';
import type { KeepImages } from '../src/models/stored-media.ts';
import type { Logger } from '../src/observability/log.ts';
import type { Metrics } from '../src/observability/metrics.ts';
import type { Channels } from '../src/routing/channels.ts';
import type { ChargeBook } from '../src/capacity/charge-book.ts';
import type { HostPlaces } from '../src/capacity/host-places.ts';
import type { RenderClock } from '../src/capacity/render-clock.ts';
import type { StayPlaces } from '../src/capacity/stay-places.ts';
import type { SlotKeeper } from '../src/capacity/slot-keeper.ts';
import type { SubmitGate } from '../src/capacity/submit-gate.ts';
import type { AuditLog } from '../src/commands/audit-log.ts';
import type { AbandonCreation } from '../src/commands/abandon-creation.ts';
import type { TaskPort } from '../src/commands/task-port.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import type { KeySlotStore } from '../src/store/key-slots.ts';
import type { MeasureResult } from '../src/routing/measured-facts.ts';
import type { VideoShape } from '../src/models/video-shapes.ts';
import type { Deliver } from '../src/routing/delivery.ts';
import type { RequestStore } from '../src/store/requests.ts';
import type { Uploads } from '../src/media/uploads.ts';
import type { PartialImageStore } from '../src/store/partial-images.ts';
import type { TaskStore } from '../src/store/tasks.ts';
import type { RouteCandidate } from '../src/task/candidates.ts';
import type { ActionInput } from '../src/task/act-fields.ts';
import type { Service } from '../src/task/service.ts';
import type { Concern } from '../src/task/attention.ts';
import type { TaskTerms } from '../src/task/input.ts';
import type { Task } from '../src/task/record.ts';
import type { TaskKind } from '../src/base/task-kind.ts';
import type { SubmitLimiter } from '../src/capacity/submit-limiter.ts';
import type { ChannelPoller } from '../src/polling/status-pollers.ts';
import type { ActRequest, Woken } from './types.ts';

/** What all activities depend on. Built by src/worker.ts. */
interface ActivityDeps {
  readonly tasks: TaskStore;
  readonly requests: RequestStore;
  readonly log: Logger;
  readonly now: () => number;
}

export interface TaskActivityDeps extends ActivityDeps {
  readonly ledger: Ledger;
  readonly channels: Channels;
  /** Gives back what a task holds that has ended, or that has left a channel. */
  readonly slots: Pick<SlotKeeper, 'release'>;
  readonly keySlots: Pick<KeySlotStore, 'release'>;
  readonly workflows: WorkflowLookup;
  readonly workers: () => Promise<Pick<Service, 'unserved'>>;
  readonly signals: TaskSignals;
  /** False: this process could not load the configuration that was published last. */
  readonly isConfigCurrent: () => boolean;
  readonly abandonCreation: AbandonCreation;
  /** Starts the workflow of a task. Repeatable. */
  readonly start: TaskPort['start'];
  /** Returns what the running configuration adds to the record in the input of a task's workflow. */
  readonly termsOf: (model: string) => Pick<TaskTerms, 'currency' | 'expectedSeconds'>;
  /** Starts the delivery of the callback of a task that has ended without its workflow. Repeatable. */
  readonly owedCallback: (task: string) => Promise<void>;
  /** What else the reconciler repairs, in order. */
  readonly upkeep: readonly UpkeepStep[];
  readonly metrics: Pick<Metrics, 'countEnded' | 'countMargin'>;
  readonly charges: Pick<ChargeBook, 'note'>;
}

export interface UpkeepStep {
  readonly name: string;
  /** How many things it repaired. */
  readonly run: () => Promise<number>;
}

export interface ChannelActivityDeps extends ActivityDeps {
  readonly channels: Channels;
  readonly gate: SubmitGate;
  /** What a task holds is kept as long as the task. */
  readonly slots: Pick<SlotKeeper, 'keepUntil'>;
  readonly keySlots: Pick<KeySlotStore, 'keepUntil'>;
  /** Rejects while MongoDB is away. */
  readonly deliver: Deliver;
  readonly measure: MeasureResult;
  /** Finds the shape that a rendered video of this size has for the channel's model. */
  readonly shapeOf: (
    job: { readonly model: string; readonly channel: string },
    size: string,
  ) => VideoShape | undefined;
  /** Asks a channel that answers with the images. Rejects only for what is a fault of ours. */
  readonly renderImages: (call: ChannelCall) => Promise<ChannelAnswer>;
  /** Absent: there is no storage of our own, and no result is copied. */
  readonly keepImages?: KeepImages;
  /** The request with the upstream's addresses for our files. Throws UpstreamError. */
  readonly registerFiles: Uploads['register'];
  /** For callers who watch a render. */
  readonly partialImages: Pick<PartialImageStore, 'write'>;
  /** Returns why the channel's link does not lead to a file, or undefined if it does. */
  readonly canOpen: (channel: string, url: string) => Promise<string | undefined>;
  /** One per channel and credential of this process. */
  readonly submitLimiter: (candidate: RouteCandidate) => SubmitLimiter;
  readonly signals: TaskSignals;
  /** What is known of render times, and what is learned of them. */
  readonly renders: Pick<RenderClock, 'times' | 'learn'>;
  /** For attempts that stay while the end of a render is near. */
  readonly stays: Pick<StayPlaces, 'enter' | 'isFull' | 'returnInMs'>;
  readonly poller: (candidate: RouteCandidate, kind: TaskKind) => ChannelPoller;
  /** Of the configuration in force. */
  readonly currency: () => string;
  /** Where upstreams reach us; absent: they cannot. */
  readonly publicUrl?: string;
  /** Who sent an operator's act; `by`: who says to. */
  readonly actorOf: (act: Pick<ActRequest, 'id' | 'task' | 'action'> & Pick<ActionInput, 'by'>) => string;
  /** Who cancelled the task's workflow, as far as that is known. */
  readonly cancelRequest: (task: string) => Promise<Partial<Pick<ActionInput, 'by' | 'reason'>> | undefined>;
  readonly auditLog: AuditLog;
  readonly random: () => number;
  /** A clock of this process that nobody sets. Milliseconds. */
  readonly monotonic: () => number;
}

/** What the workflow of a task hears of, while there is one. */
export interface TaskSignals {
  /** Shows a concern; undefined: it has passed. */
  concern(task: string, concern: Concern | undefined): Promise<void>;
  /** Nobody serves these channels: one that still has to be submitted asks others. */
  unserved(task: string, channels: readonly string[]): Promise<void>;
}

export interface CallbackActivityDeps extends ActivityDeps {
  /** The account's signing secrets, newest first: `whsec_…`. */
  readonly webhookSecrets: (account: string) => Promise<readonly string[]>;
  /** Of this process: how many requests one host may have at a time. */
  readonly places: HostPlaces;
  /** One POST to an address that a caller chose, under the Safety rules; throws when no answer came. */
  readonly post: PostCallback;
  /** The body of GET, as JSON text. */
  readonly present: (task: Task) => string;
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
/** `heard`: the attempt lives, and has sent these details since. */
export type TriedNow = Woken | { readonly kind: 'heard'; readonly details: unknown };

export interface WorkflowLookup {
  /** Ids of every task workflow that runs, a little behind. */
  running(): AsyncIterable<string>;
  /** Ids of running task workflows whose last steps have failed, or timed out, one after the other. */
  failing(): AsyncIterable<string>;
  /** Whether a workflow of this id is running. */
  isRunning(id: string): Promise<boolean>;
  /** Returns the state of the workflow's last run. Undefined: Temporal does not know the workflow. */
  find(id: string): Promise<'running' | 'closed' | undefined>;
  /** Ends the back-off of a task's activity, and follows what comes of it for some seconds. */
  tryNow(task: string, activity: string): Promise<TriedNow>;
}

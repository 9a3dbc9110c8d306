import type { UpkeepName } from '../src/base/upkeep-times.ts';
import type { StepTime, Walked } from '../src/base/walk.ts';
import type { UpkeepFailureStore } from '../src/store/upkeep-failures.ts';
import type { ImagesForTasks } from '../src/images/images-for-tasks.ts';
import type { UnstoredImages } from '../src/images/unstored-images.ts';
import type { KeepImages } from '../src/models/stored-media.ts';
import type { Logger } from '../src/observability/log.ts';
import type { Metrics } from '../src/observability/metrics.ts';
import type { Channels } from '../src/routing/channels.ts';
import type { StorageRefusal } from '../src/routing/storage-room.ts';
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
import type { MeasureVideos } from '../src/routing/measured-plan.ts';
import type { VideoShape } from '../src/models/video-shapes.ts';
import type { Deliver } from '../src/routing/delivery.ts';
import type { RequestStore } from '../src/store/requests.ts';
import type { Uploads } from '../src/media/uploads.ts';
import type { PartialImageStore } from '../src/store/partial-images.ts';
import type { TaskStore } from '../src/store/tasks.ts';
import type { RouteCandidate } from '../src/task/candidates.ts';
import type { ActionInput } from '../src/operating/act-fields.ts';
import type { Service } from '../src/task/service.ts';
import type { Concern } from '../src/task/attention.ts';
import type { TaskTerms } from '../src/task/input.ts';
import type { Task } from '../src/task/record.ts';
import type { TaskKind } from '../src/base/task-kind.ts';
import type { SubmitLimiter } from '../src/capacity/submit-limiter.ts';
import type { ChannelPoller } from '../src/polling/status-pollers.ts';
import type { ActRequest, Woken } from './types.ts';

/** The dependencies that all activities share, built by src/worker.ts. */
interface ActivityDeps {
  readonly tasks: TaskStore;
  readonly requests: RequestStore;
  readonly log: Logger;
  readonly now: () => number;
}

export interface TaskActivityDeps extends ActivityDeps {
  readonly ledger: Ledger;
  readonly channels: Channels;
  readonly slots: Pick<SlotKeeper, 'release'>;
  readonly keySlots: Pick<KeySlotStore, 'release'>;
  readonly workflows: WorkflowLookup;
  readonly workers: () => Promise<Pick<Service, 'unserved'>>;
  readonly signals: TaskSignals;
  /** Returns false if this process failed to load the newest published configuration. */
  readonly isConfigCurrent: () => boolean;
  /** Returns false while a jump of the database's clock is unresolved. */
  readonly isTimeRight: () => boolean;
  readonly abandonCreation: AbandonCreation;
  /** Idempotent. */
  readonly start: TaskPort['start'];
  /** Returns what a task's workflow needs from the running configuration in addition to the record. */
  readonly termsOf: (model: string) => Pick<TaskTerms, 'currency' | 'expectedSeconds'>;
  /** Starts the callback delivery for a task that ended without its workflow. Idempotent. */
  readonly owedCallback: (task: string) => Promise<void>;
  readonly upkeep: readonly UpkeepStep[];
  readonly upkeepFailures: Pick<UpkeepFailureStore, 'note'>;
  readonly metrics: Pick<Metrics, 'countEnded' | 'countMargin'>;
  readonly charges: Pick<ChargeBook, 'note'>;
}

export interface UpkeepStep {
  readonly name: UpkeepName;
  /** Returns the number of items repaired. A `Walked` also counts the items that could not be repaired. */
  readonly run: (time: StepTime) => Promise<number | Walked>;
  /** The step that must run directly before this one. */
  readonly follows?: UpkeepName;
}

export interface ChannelActivityDeps extends ActivityDeps {
  readonly channels: Channels;
  readonly gate: SubmitGate;
  /** Keeps a task's slots for longer when its deadline is extended. */
  readonly slots: Pick<SlotKeeper, 'keepUntil'>;
  readonly keySlots: Pick<KeySlotStore, 'keepUntil'>;
  /** Rejects while MongoDB is unavailable. */
  readonly deliver: Deliver;
  readonly measure: MeasureResult;
  readonly measureVideos: MeasureVideos;
  readonly shapeOf: (
    job: { readonly model: string; readonly channel: string },
    size: string,
  ) => VideoShape | undefined;
  /** Calls a channel whose response contains the images. Rejects only if the gateway itself is at fault. */
  readonly renderImages: ImagesForTasks['render'];
  /** Undefined if we have no storage of our own. Results are then not copied. */
  readonly keepImages?: KeepImages;
  readonly unstoredImages: UnstoredImages;
  /** Returns why our storage accepts no files at the moment, or undefined if it accepts them. */
  readonly storageRefusal: StorageRefusal;
  /** Returns the request with our files replaced by their upstream addresses. Throws UpstreamError. */
  readonly registerFiles: Uploads['register'];
  readonly partialImages: Pick<PartialImageStore, 'write'>;
  /** Returns why the channel's link does not lead to a file, or undefined if it does. */
  readonly canOpen: (channel: string, url: string) => Promise<string | undefined>;
  /** Returns the limiter for this channel and credential. The process has exactly one for each pair. */
  readonly submitLimiter: (candidate: RouteCandidate) => SubmitLimiter;
  readonly signals: TaskSignals;
  readonly renders: Pick<RenderClock, 'times' | 'learn'>;
  /** Limits how many attempts stay open to poll because a render is about to end. */
  readonly stays: Pick<StayPlaces, 'enter' | 'isFull' | 'returnInMs'>;
  readonly poller: (candidate: RouteCandidate, kind: TaskKind) => ChannelPoller;
  readonly currency: () => string;
  /** The address at which upstreams can reach us. Undefined if they cannot. */
  readonly publicUrl?: string;
  /** Determines who sent an operator's action. `by` is the name given in the action itself. */
  readonly actorOf: (act: Pick<ActRequest, 'id' | 'task' | 'action'> & Pick<ActionInput, 'by'>) => string;
  /** Finds who cancelled the task's workflow and when, as far as Temporal knows. */
  readonly cancelRequest: (
    task: string,
  ) => Promise<(Pick<Partial<ActionInput>, 'by' | 'reason'> & { readonly at?: number }) | undefined>;
  readonly auditLog: AuditLog;
  readonly random: () => number;
  /** The process's monotonic clock in milliseconds, unaffected by changes to the system time. */
  readonly monotonic: () => number;
}

/** Signals from other processes to a task's workflow, if it still has one. */
export interface TaskSignals {
  /** Undefined clears the task's concern. */
  concern(task: string, concern: Concern | undefined): Promise<void>;
  /** Reports that no worker serves these channels, so a task that has not been submitted yet should move to others. */
  unserved(task: string, channels: readonly string[]): Promise<void>;
}

export interface CallbackActivityDeps extends ActivityDeps {
  readonly webhookSecrets: (account: string) => Promise<readonly string[]>;
  readonly places: HostPlaces;
  /**
   * POSTs once to a caller's address, if the rules for outgoing requests permit it. Throws if there was no response.
   */
  readonly post: PostCallback;
  /** Returns the task as JSON text, exactly as GET would. */
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

/** `heard`: the attempt is alive and has since sent a heartbeat with these details. */
export type TriedNow = Woken | { readonly kind: 'heard'; readonly details: unknown };

export interface WorkflowLookup {
  /** Yields the ids of all running task workflows. The list may be slightly out of date. */
  running(): AsyncIterable<string>;
  /** Yields the ids of running task workflows whose most recent workflow tasks have all failed or timed out. */
  failing(): AsyncIterable<string>;
  isRunning(id: string): Promise<boolean>;
  /** Returns the state of the workflow's last run, or undefined if Temporal does not know the workflow. */
  find(id: string): Promise<'running' | 'closed' | undefined>;
  tryNow(task: string, activity: string): Promise<TriedNow>;
}

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
  /** False if this process failed to load the newest published configuration. */
  readonly isConfigCurrent: () => boolean;
  /** False while a jump of the database’s clock is unresolved. */
  readonly isTimeRight: () => boolean;
  readonly abandonCreation: AbandonCreation;
  readonly start: TaskPort['start'];
  /** Terms that the workflow needs from the running configuration because the record does not store them. */
  readonly termsOf: (model: string) => Pick<TaskTerms, 'currency' | 'expectedSeconds'>;
  /**
   * Starts the callback of a task that ended without its workflow. Calling this again is safe. If the request has been
   * deleted, the delivery records that nothing is owed any more.
   */
  readonly owedCallback: (task: string) => Promise<void>;
  readonly upkeep: readonly UpkeepStep[];
  readonly upkeepFailures: Pick<UpkeepFailureStore, 'note'>;
  readonly metrics: Pick<Metrics, 'countEnded' | 'countMargin'>;
  readonly charges: Pick<ChargeBook, 'note'>;
}

export interface UpkeepStep {
  readonly name: UpkeepName;
  /** Returns how many items were repaired. A `Walked` result also counts the failures. */
  readonly run: (time: StepTime) => Promise<number | Walked>;
  readonly follows?: UpkeepName;
}

export interface ChannelActivityDeps extends ActivityDeps {
  readonly channels: Channels;
  readonly gate: SubmitGate;
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
  /** Renders images through a channel whose response contains them. Rejects only if the gateway itself is at fault. */
  readonly renderImages: ImagesForTasks['render'];
  /** Undefined if no storage is configured, in which case results are not copied. */
  readonly keepImages?: KeepImages;
  readonly unstoredImages: UnstoredImages;
  /** Returns why the storage currently refuses files, or undefined if it accepts them. */
  readonly storageRefusal: StorageRefusal;
  /**
   * Replaces references to our files with their addresses at the upstream.
   * @throws UpstreamError
   */
  readonly registerFiles: Uploads['register'];
  readonly partialImages: Pick<PartialImageStore, 'write'>;
  readonly canOpen: (channel: string, url: string) => Promise<string | undefined>;
  readonly submitLimiter: (candidate: RouteCandidate) => SubmitLimiter;
  readonly signals: TaskSignals;
  readonly renders: Pick<RenderClock, 'times' | 'learn'>;
  /** Limits how many attempts hold a worker slot while they poll a job that is about to finish. */
  readonly stays: Pick<StayPlaces, 'enter' | 'isFull' | 'returnInMs'>;
  readonly poller: (candidate: RouteCandidate, kind: TaskKind) => ChannelPoller;
  readonly currency: () => string;
  /** The public address of this gateway, to which upstreams send callbacks. Undefined if there is none. */
  readonly publicUrl?: string;
  readonly actorOf: (act: Pick<ActRequest, 'id' | 'task' | 'action'> & Pick<ActionInput, 'by'>) => string;
  /** Returns undefined if Temporal does not know who cancelled the workflow. */
  readonly cancelRequest: (
    task: string,
  ) => Promise<(Pick<Partial<ActionInput>, 'by' | 'reason'> & { readonly at?: number }) | undefined>;
  readonly auditLog: AuditLog;
  readonly random: () => number;
  /** Monotonic, in milliseconds. */
  readonly monotonic: () => number;
}

/** The signals that other processes send to a task's workflow while it is running. */
export interface TaskSignals {
  concern(task: string, concern: Concern | undefined): Promise<void>;
  /** Lets a task that has not been submitted yet move to a channel that has a worker. */
  unserved(task: string, channels: readonly string[]): Promise<void>;
}

export interface CallbackActivityDeps extends ActivityDeps {
  readonly webhookSecrets: (account: string) => Promise<readonly string[]>;
  readonly places: HostPlaces;
  /**
   * Sends one POST to a caller's address, subject to the rules for outgoing requests. Throws if there is no response.
   */
  readonly post: PostCallback;
  /** Returns the same JSON text as GET. */
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

/** `heard` means that a running attempt has sent a heartbeat with these details since the call. */
export type TriedNow = Woken | { readonly kind: 'heard'; readonly details: unknown };

export interface WorkflowLookup {
  /** The list may be slightly out of date. */
  running(): AsyncIterable<string>;
  /** Yields the ids of workflows whose recent workflow tasks have all failed or timed out. */
  failing(): AsyncIterable<string>;
  isRunning(id: string): Promise<boolean>;
  /** Returns undefined if Temporal does not know the workflow. */
  find(id: string): Promise<'running' | 'closed' | undefined>;
  tryNow(task: string, activity: string): Promise<TriedNow>;
}

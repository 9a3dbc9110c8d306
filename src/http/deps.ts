import type { ReadTrends } from '../commands/read-trends.ts';
import type { Catalogue } from '../routing/catalogue.ts';
import type { Channels } from '../routing/channels.ts';
import type { ChargeBook } from '../capacity/charge-book.ts';
import type { RenderClock } from '../capacity/render-clock.ts';
import type { Circuits } from '../capacity/circuits.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import type { CredentialAnswer } from '../routing/try-credential.ts';
import type { ChannelSwitches } from '../routing/switches.ts';
import type { ChannelHealth } from '../health/channel-health.ts';
import type { CreatedTask, CreateTaskCommand } from '../commands/create-task.ts';
import type { AccountAlerts } from '../notices/account-alerts.ts';
import type { NoticeWatch } from '../notices/watch.ts';
import type { Census } from '../task/census.ts';
import type { RandomBytes } from '../base/ids.ts';
import type { MediaUrl } from '../models/stored-media.ts';
import type { CreateImages } from '../images/create-images.ts';
import type { ResultForms } from '../images/result-form.ts';
import type { ImageWorkspaces } from '../images/workspace.ts';
import type { ReceiptKeys } from '../access/receipt-keys.ts';
import type { KeyAuth } from '../access/api-keys.ts';
import type { OperatorAuth } from '../access/operators.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { CostsAsked, ModelCosts } from '../ledger/upstream-costs.ts';
import type { HeadAnchors } from '../ledger/anchored-heads.ts';
import type { VerifyOptions, VerifyResult } from '../ledger/verify.ts';
import type { Logger } from '../observability/log.ts';
import type { Tracer } from '../observability/tracing.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Secrets } from '../access/secrets.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { AccountAlertStore } from '../store/account-alerts.ts';
import type { CapEventStore } from '../store/cap-events.ts';
import type { ChannelStateStore } from '../store/channel-states.ts';
import type { ConfigurationStore } from '../store/configurations.ts';
import type { ConfigDrafts } from '../control/config-drafts.ts';
import type { PreviewResult, PublishResult } from '../control/running-config.ts';
import type { Nodes } from '../control/nodes.ts';
import type { ExchangeStore } from '../store/exchanges.ts';
import type { PartialImageStore } from '../store/partial-images.ts';
import type { KeyStore } from '../store/keys.ts';
import type { NoticeStore } from '../store/notices.ts';
import type { OperatorStore } from '../store/operators.ts';
import type { RateLimitStore } from '../store/rate-limits.ts';
import type { RequestStore } from '../store/requests.ts';
import type { ResultCopyStore } from '../store/result-copies.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { ActionInput } from '../task/act-fields.ts';
import type { ActionResult } from '../task/acts.ts';
import type { AuditStore } from '../store/audit.ts';
import type { AuditLog } from '../commands/audit-log.ts';
import type { FindHoldTerms } from '../commands/account-terms.ts';
import type { TaskAction } from '../commands/act-on-task.ts';
import type { Repeats } from '../commands/repeats.ts';
import type { TaskPort } from '../commands/task-port.ts';
import type { MediaDeps } from './routes/get-media.ts';
import type { Places } from '../base/places.ts';
import type { FileRouteDeps } from './files/own-file.ts';
import type { Pace } from '../process/pace.ts';
import type { RequestLimits } from './request-limits.ts';
import type { TaskWatcher } from './task-watcher.ts';
import type { AddressChecks } from './address-checks.ts';

/** Everything that the HTTP face stands on, built by src/api.ts. Each route receives the part that it uses. */
export interface AppDeps extends AddressChecks {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Absent: requests have no traces. */
  readonly tracer?: Pick<Tracer, 'enter'>;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly pace: Pick<Pace, 'use'>;
  readonly randomBytes: RandomBytes;
  readonly auth: KeyAuth;
  readonly secrets: Secrets;
  readonly receiptKeys: ReceiptKeys;
  /** Absent: the operators' API does not exist. */
  readonly operatorAuth?: OperatorAuth;

  readonly catalogue: Catalogue;
  /** What is known of render times, from memory. */
  readonly renders: Pick<RenderClock, 'times'>;
  readonly charges: Pick<ChargeBook, 'expected'>;
  /** For upstream callbacks: says whether one is worth a wake-up. */
  readonly channels: Channels;
  /** `createTaskService(…)` of src/commands/create-task.ts. */
  readonly createTask: (command: CreateTaskCommand) => Promise<CreatedTask>;
  readonly repeats: Pick<Repeats, 'noteRefused'>;
  /** `createActOnTask(…)` of src/commands/act-on-task.ts. */
  readonly actOnTask: (action: TaskAction) => Promise<ActionResult>;
  /** `refundImages` of src/commands/refund-task.ts; undefined: there are none of this name. */
  readonly refundImages: (id: string, input: ActionInput) => Promise<ActionResult | undefined>;
  readonly port: TaskPort;
  readonly auditLog: AuditLog;
  readonly audit: Pick<AuditStore, 'list'>;
  /** The history of a task's workflow as JSON; undefined: Temporal does not have it. Never throws. */
  readonly taskHistory: (task: string) => Promise<unknown>;
  /** Links to our own copies of results. */
  readonly mediaUrl: MediaUrl;
  /** Under which upstreams reach us; absent: they are given no address. */
  readonly publicUrl?: string;
  /** Below it are workflows by their id, as an operator's browser finds them; absent: not known. */
  readonly workflowsUrl?: string;
  /** Why links to what is stored lead nowhere; absent: they do not. */
  readonly unreachableLinks?: string;
  /** Absent: none are kept, and the route does not exist. */
  readonly keptResults?: MediaDeps;
  /** Absent: nothing is stored, and the routes of files do not exist. */
  readonly storedFiles?: FileRouteDeps;
  readonly images: ImageRouteDeps;
  /** `createHoldTerms(…)` of src/commands/account-terms.ts. */
  readonly holdTerms: FindHoldTerms;
  readonly ledger: Pick<
    Ledger,
    | 'balance'
    | 'uses'
    | 'balanceBefore'
    | 'statement'
    | 'usage'
    | 'margin'
    | 'settledImages'
    | 'credit'
    | 'refund'
    | 'entries'
    | 'entriesOfTask'
  >;
  readonly ledgerHeads: Pick<HeadAnchors, 'list' | 'check'>;
  readonly readTrends: ReadTrends;
  readonly readUpstreamCosts: (asked: CostsAsked) => Promise<readonly ModelCosts[]>;
  /** `runLedgerVerification(…)` of src/ledger/run-verification.ts. */
  readonly verifyLedger: (options: Pick<VerifyOptions, 'onProgress' | 'signal'>) => Promise<VerifyResult>;

  readonly tasks: TaskStore;
  readonly partialImages: Pick<PartialImageStore, 'find'>;
  readonly requests: Pick<RequestStore, 'find' | 'glance' | 'each'>;
  readonly exchanges: Pick<ExchangeStore, 'find'>;
  readonly resultCopies: Pick<ResultCopyStore, 'find'>;
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly operators: Pick<OperatorStore, 'insert' | 'list' | 'revoke'>;
  readonly rateLimits: Pick<RateLimitStore, 'count'>;
  /** `takeCensus(…)` of src/commands/take-census.ts. */
  readonly takeCensus: () => Promise<Census>;
  readonly notices: Pick<NoticeStore, 'list'>;
  readonly testNotices: NoticeWatch['test'];
  /** What an account has left, for its limit. */
  readonly noteBalance: AccountAlerts['note'];
  readonly accountAlerts: Pick<AccountAlertStore, 'set' | 'remove' | 'findMany' | 'noteCapsChanged'>;
  readonly capEvents: Pick<CapEventStore, 'reported' | 'countUndelivered'>;
  readonly channelStates: Pick<ChannelStateStore, 'set'>;
  readonly channelSwitches: Pick<ChannelSwitches, 'find' | 'refresh'>;
  /** An operator's decision on a circuit; false: it is already closed. */
  readonly overrideCircuit: Circuits['override'];
  /** Reads the health of every configured channel: `readHealth(…)` of src/commands/read-health.ts. */
  readonly readHealth: () => Promise<readonly ChannelHealth[]>;
  /** All processes of the gateway. */
  readonly nodes: Pick<Nodes, 'all' | 'refresh' | 'unserved' | 'isGone' | 'untilDecided'>;
  readonly configurations: Pick<ConfigurationStore, 'head'>;
  readonly drafts: ConfigDrafts;
  /** Tries a credential at its upstream. The configuration may be an unpublished draft. Throws GatewayError. */
  readonly tryCredential: (
    config: GatewayConfig,
    channel: string,
    credential: string,
  ) => Promise<CredentialAnswer>;
  /** Publishes this process's gateway.yaml for all; a bad file changes nothing. `by`: the operator's name. */
  readonly publishConfig: (by: string, reason: string) => Promise<PublishResult>;
  /** What that would change. */
  readonly previewConfig: () => Promise<PreviewResult>;

  /** CIDRs of the proxies in front. */
  readonly trustedProxies: readonly string[];
  readonly limits: RequestLimits;

  /** Rejects when MongoDB does not answer. */
  readonly pingMongo: () => Promise<void>;
}

/** What the image routes stand on. */
export interface ImageRouteDeps {
  readonly create: CreateImages;
  readonly asData: ResultForms['asData'];
  readonly streamData: ResultForms['streamData'];
  readonly limits: ImageLimits;
  readonly workspaces: ImageWorkspaces;
  /** Fields that single vendors accept, beside those that several do. */
  readonly vendorFields: ReadonlySet<string>;
}

export interface ImageLimits {
  /** JSON or form. */
  readonly bodyBytesMax: number;
  /** Files, or reference images, of one request. */
  readonly filesMax: number;
  /** Pixels of one reference image. */
  readonly pixelsMax: number;
}

/** What the application itself adds for its routes. */
export interface RouteDeps extends AppDeps {
  readonly watcher: TaskWatcher;
  /** Shares the carrying out of creates between accounts. */
  readonly admissions: Places;
  /** Limits the reports that MongoDB computes for this process. */
  readonly reports: Places;
  /** Whether requests come through a proxy that TRUSTED_PROXIES lacks. */
  readonly isProxied: () => boolean;
  /** The server is shutting down: /readyz reports it first. */
  readonly isDraining: () => boolean;
}

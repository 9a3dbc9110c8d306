import type { ReadTrends } from '../observability/read-trends.ts';
import type { Catalogue } from '../routing/catalogue.ts';
import type { Channels } from '../routing/channels.ts';
import type { ChargeBook } from '../capacity/charge-book.ts';
import type { RenderClock } from '../capacity/render-clock.ts';
import type { Circuits } from '../capacity/circuits.ts';
import type { CatalogueAddition } from '../control/catalogue-additions.ts';
import type { ExampleCatalogue } from '../config/example-catalogue.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import type { CredentialAnswer } from '../routing/try-credential.ts';
import type { ChannelSwitches } from '../routing/switches.ts';
import type { ChannelHealth } from '../health/channel-health.ts';
import type { CreatedTask, CreateTaskCommand } from '../commands/create-task.ts';
import type { AccountAlerts } from '../notices/account-alerts.ts';
import type { NoticeWatch } from '../notices/watch.ts';
import type { Census } from '../reports/census.ts';
import type { RandomBytes } from '../base/ids.ts';
import type { MediaUrl } from '../models/stored-media.ts';
import type { CreateImages } from '../images/create-images.ts';
import type { ResultForms } from '../images/result-form.ts';
import type { ImageWorkspaces } from '../images/workspace.ts';
import type { BillFormat } from '../providers/provider.ts';
import type { ReceiptKeys } from '../access/receipt-keys.ts';
import type { KeyAuth } from '../access/api-keys.ts';
import type { Invitations } from '../access/invitations.ts';
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
import type { OperatorSessionStore } from '../store/operator-sessions.ts';
import type { OperatorStore } from '../store/operators.ts';
import type { RateLimitStore } from '../store/rate-limits.ts';
import type { RequestStore } from '../store/requests.ts';
import type { ResultCopyStore } from '../store/result-copies.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { ActionInput } from '../operating/act-fields.ts';
import type { ActionResult } from '../operating/acts.ts';
import type { AuditStore } from '../store/audit.ts';
import type { AuditLog } from '../commands/audit-log.ts';
import type { TryCallback } from '../notices/try-callback.ts';
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

/** Assembled in src/api.ts. Each route receives only what it uses. */
export interface AppDeps extends AddressChecks {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracer?: Pick<Tracer, 'enter'>;
  readonly now: () => number;
  readonly pace: Pick<Pace, 'use'>;
  readonly randomBytes: RandomBytes;
  readonly auth: KeyAuth;
  readonly secrets: Secrets;
  readonly receiptKeys: ReceiptKeys;
  readonly operatorAuth?: OperatorAuth;
  readonly invitations: Invitations;

  readonly catalogue: Catalogue;
  readonly renders: Pick<RenderClock, 'times'>;
  readonly charges: Pick<ChargeBook, 'expected'>;
  readonly channels: Channels;
  readonly createTask: (command: CreateTaskCommand) => Promise<CreatedTask>;
  readonly repeats: Pick<Repeats, 'noteRefused'>;
  readonly actOnTask: (action: TaskAction) => Promise<ActionResult>;
  /** Resolves to undefined if no images have this id. */
  readonly refundImages: (id: string, input: ActionInput) => Promise<ActionResult | undefined>;
  readonly port: TaskPort;
  readonly auditLog: AuditLog;
  readonly audit: Pick<AuditStore, 'list'>;
  readonly taskHistory: (task: string) => Promise<unknown>;
  readonly mediaUrl: MediaUrl;
  readonly publicUrl?: string;
  /** Append a workflow's id to get the URL of its page in the Temporal UI. */
  readonly workflowsUrl?: string;
  /** Why links to stored files do not work. Undefined if they do. */
  readonly unreachableLinks?: string;
  /** Undefined if results are not stored, in which case the result route is not registered. */
  readonly keptResults?: MediaDeps;
  /** Undefined if files are not stored, in which case the file routes are not registered. */
  readonly storedFiles?: FileRouteDeps;
  readonly images: ImageRouteDeps;
  readonly tryCallback: TryCallback;
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
  /** By provider name. If undefined, the operator must specify the columns of the vendor's bill. */
  readonly billFormat: (provider: string) => BillFormat | undefined;
  readonly readUpstreamCosts: (asked: CostsAsked) => Promise<readonly ModelCosts[]>;
  readonly verifyLedger: (options: Pick<VerifyOptions, 'onProgress' | 'signal'>) => Promise<VerifyResult>;

  readonly tasks: TaskStore;
  readonly partialImages: Pick<PartialImageStore, 'find'>;
  readonly requests: Pick<RequestStore, 'find' | 'glance' | 'each' | 'prompts'>;
  readonly exchanges: Pick<ExchangeStore, 'find'>;
  readonly resultCopies: Pick<ResultCopyStore, 'find'>;
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly operators: Pick<
    OperatorStore,
    'insert' | 'list' | 'revoke' | 'setRoles' | 'findInvited' | 'redeem' | 'withdraw'
  >;
  readonly operatorSessions: Pick<OperatorSessionStore, 'find' | 'list' | 'end' | 'endMany'>;
  readonly rateLimits: Pick<RateLimitStore, 'count'>;
  readonly takeCensus: () => Promise<Census>;
  readonly notices: Pick<NoticeStore, 'list'>;
  readonly testNotices: NoticeWatch['test'];
  readonly noteBalance: AccountAlerts['note'];
  readonly accountAlerts: Pick<AccountAlertStore, 'set' | 'remove' | 'findMany' | 'noteCapsChanged'>;
  readonly capEvents: Pick<CapEventStore, 'reported' | 'countUndelivered'>;
  readonly channelStates: Pick<ChannelStateStore, 'set'>;
  readonly channelSwitches: Pick<ChannelSwitches, 'find' | 'refresh'>;
  readonly overrideCircuit: Circuits['override'];
  readonly readHealth: () => Promise<readonly ChannelHealth[]>;
  readonly nodes: Pick<
    Nodes,
    'all' | 'refresh' | 'unserved' | 'isGone' | 'isUnsearchable' | 'isForgotten' | 'untilDecided'
  >;
  readonly configurations: Pick<ConfigurationStore, 'head'>;
  readonly drafts: ConfigDrafts;
  readonly exampleCatalogue: () => Promise<ExampleCatalogue>;
  readonly catalogueAddition: (
    text: string,
    addition: CatalogueAddition,
  ) => Promise<Readonly<Record<string, unknown>>>;
  /** The configuration may be an unpublished draft. Throws GatewayError. */
  readonly tryCredential: (
    config: GatewayConfig,
    channel: string,
    credential: string,
  ) => Promise<CredentialAnswer>;
  readonly publishConfig: (by: string, reason: string) => Promise<PublishResult>;
  readonly previewConfig: () => Promise<PreviewResult>;

  readonly trustedProxies: readonly string[];
  readonly limits: RequestLimits;

  readonly pingMongo: () => Promise<void>;
}

export interface ImageRouteDeps {
  readonly create: CreateImages;
  readonly asData: ResultForms['asData'];
  readonly streamData: ResultForms['streamData'];
  readonly limits: ImageLimits;
  readonly workspaces: ImageWorkspaces;
  readonly vendorFields: ReadonlySet<string>;
}

export interface ImageLimits {
  readonly bodyBytesMax: number;
  readonly filesMax: number;
  readonly pixelsMax: number;
}

export interface RouteDeps extends AppDeps {
  readonly watcher: TaskWatcher;
  readonly admissions: Places;
  readonly reports: Places;
  readonly partialReads: Places;
  readonly isProxied: () => boolean;
  readonly isDraining: () => boolean;
}

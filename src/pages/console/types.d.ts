import type { z } from 'zod';
import type { comparedBillSchema } from '../../http/routes/compare-bill.ts';
import type { marginSchema } from '../../http/routes/get-margin.ts';
import type { offerSchema } from '../../http/routes/list-offered-models.ts';
import type { accountSchema } from '../../http/presenters/account.ts';
import type { adminTaskDetailSchema, adminTaskSchema } from '../../http/presenters/admin-task.ts';
import type { auditEntrySchema } from '../../http/presenters/audit-entry.ts';
import type {
  channelSchema,
  recentSchema,
  balancesSchema,
  slotsSchema,
  todaySchema,
} from '../../http/presenters/channel.ts';
import type { keySchema } from '../../http/presenters/key.ts';
import type { ledgerEntrySchema } from '../../http/presenters/ledger-entry.ts';
import type { overviewSchema } from '../../http/presenters/overview.ts';
import type { flightRecordSchema } from '../../flight/flight-record.ts';
import type { configDraftEntrySchema } from '../../http/routes/get-config-draft-entry.ts';
import type { configDraftSchema, configVersionSchema } from '../../http/presenters/config-draft.ts';
import type { configChangeSchema, configSchema } from '../../http/presenters/config.ts';
import type { reckoningSchema } from '../../http/presenters/reckoning.ts';
import type { actionResult } from '../../http/presenters/action-result.ts';
import type { actSchema } from '../../http/routes/list-acts.ts';
import type { operatorSessionSchema } from '../../http/presenters/operator-session.ts';
import type { operatorSchema } from '../../http/presenters/operator.ts';
import type { catalogueModelSchema } from '../../http/routes/list-catalogue.ts';
import type { trendsSchema } from '../../http/presenters/trends.ts';
import type { modelSchema } from '../../http/presenters/model.ts';
import type { taskRequestSchema } from '../../http/presenters/task-request.ts';
import type { Api } from '../shared/api.js';

export type { Api };
export type Task = z.output<typeof adminTaskSchema>;
export type TaskDetail = z.output<typeof adminTaskDetailSchema>;
export type TaskAction = Task['situation']['actions'][number];
export type FlightRecord = z.output<typeof flightRecordSchema>;
export type Overview = z.output<typeof overviewSchema>;
export type Channel = z.output<typeof channelSchema> & {
  readonly recent: z.output<typeof recentSchema> | null;
  readonly slots: z.output<typeof slotsSchema> | null;
  readonly balances: z.output<typeof balancesSchema>;
  readonly today: z.output<typeof todaySchema> | null;
};
export type ChannelHealth = Channel['health'];
export type Trends = z.output<typeof trendsSchema>;
export type Margin = z.output<typeof marginSchema>;
export type MarginRow = Margin['data'][number];
export type ComparedBill = z.output<typeof comparedBillSchema>;
export type Account = z.output<typeof accountSchema>;
export type Key = z.output<typeof keySchema>;
export type LedgerEntry = z.output<typeof ledgerEntrySchema>;
export type AuditEntry = z.output<typeof auditEntrySchema>;
export type Config = z.output<typeof configSchema>;
export type ConfigDraft = z.output<typeof configDraftSchema>;
export type ConfigDraftEntry = z.output<typeof configDraftEntrySchema>;
export type ConfigVersion = z.output<typeof configVersionSchema>;
export type ConfigChange = z.output<typeof configChangeSchema>;
export type Reckoning = z.output<typeof reckoningSchema>;
export type TaskRequest = z.output<typeof taskRequestSchema>;
export type CatalogueModel = z.output<typeof catalogueModelSchema>;
export type Operator = z.output<typeof operatorSchema>;
export type OperatorSession = z.output<typeof operatorSessionSchema>;
export type Act = z.output<typeof actSchema>;
export type ActResult = z.output<typeof actionResult>;
export type Node = Config['nodes'][number];

export type Model = z.output<typeof modelSchema> & {
  readonly channels: readonly z.output<typeof offerSchema>[];
};

export interface Page<Row> {
  readonly data: readonly Row[];
  readonly has_more: boolean;
}

export interface Said {
  readonly task: string;
  readonly money: string;
}

export interface PageProps {
  readonly api: Api;
  /** Returns whether the operator has this role or may use this operation. */
  readonly may: (word: string) => boolean;
  readonly currency: string;
  /** The URL of a workflow in the Temporal UI, up to the task's id. */
  readonly workflowsUrl: string | null;
}

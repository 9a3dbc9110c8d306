import { periods } from '../base/periods.ts';
import { webhookSecretsOf } from '../access/webhook-secrets.ts';
import type { Secrets } from '../access/secrets.ts';
import type { HostPlaces } from '../capacity/host-places.ts';
import { createDuty } from '../capacity/duty.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import type { AttentionCount } from '../reports/census.ts';
import { defined } from '../base/defined.ts';
import type { RandomBytes } from '../base/ids.ts';
import type { Outbound } from '../http-client/index.ts';
import type { Logger } from '../observability/log.ts';
import type { Pace } from '../process/pace.ts';
import type { Stores } from '../store/stores.ts';
import { createAccountAlerts, type AccountAlerts, type AccountAlertsDeps } from './account-alerts.ts';
import { createSources, type SourceDeps } from './conditions.ts';
import { createSendNotice } from './send.ts';
import { createNoticeWatch, type NoticeWatch } from './watch.ts';

export interface NoticesDeps {
  readonly stores: Stores;
  readonly pace: Pace;
  readonly secrets: Pick<Secrets, 'open'>;
  readonly config: () => GatewayConfig;
  readonly outbound: Pick<Outbound, 'callbacks' | 'notices'>;
  readonly callbackPlaces: Pick<HostPlaces, 'take'>;
  readonly workers: SourceDeps['workers'];
  readonly health: SourceDeps['health'];
  readonly margin: SourceDeps['margin'];
  readonly lowBalances: SourceDeps['lowBalances'];
  readonly retired: SourceDeps['retired'];
  readonly books: () => Pick<AccountAlertsDeps, 'balance' | 'uses' | 'spendings'>;
  readonly variables: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export interface Notices extends NoticeWatch {
  readonly noteBalance: AccountAlerts['note'];
  readonly accountAlerts: Pick<AccountAlerts, 'run' | 'repair'>;
  /** Reuses the latest census, so that the notices need no count of their own. */
  readonly noteAttention: (counts: readonly AttentionCount[]) => void;
}

export function openNotices(deps: NoticesDeps): {
  readonly watch: Notices;
  readonly close: () => Promise<void>;
} {
  const { now, log, stores } = deps;
  const attention = createAttentionCounts(deps);
  const watch = openWatch(deps, attention.count);
  const alerts = createAccountAlerts({
    ...deps,
    balance: (account) => deps.books().balance(account),
    uses: (account, by) => deps.books().uses(account, by),
    spendings: (account, page) => deps.books().spendings(account, page),
    store: stores.accountAlerts,
    events: stores.capEvents,
    keys: stores.keys,
    accounts: stores.accounts,
    webhookSecrets: webhookSecretsOf(deps),
    open: (at, sealed) => deps.secrets.open(at, sealed),
    takePlace: (origin, account) => deps.callbackPlaces.take(origin, account),
    deliver: (delivery) => deps.outbound.callbacks.deliver(delivery),
    currency: () => deps.config().currency,
    random: Math.random,
    log,
    now,
  });
  watch.start(deps.pace);
  alerts.start(deps.pace);
  const stop = async (): Promise<void> => void (await Promise.all([watch.stop(), alerts.stop()]));
  return {
    watch: {
      ...watch,
      noteAttention: attention.note,
      noteBalance: alerts.note,
      accountAlerts: alerts,
      stop,
    },
    close: stop,
  };
}

function openWatch(
  { stores, variables: { PATH, HOME, LANG }, ...deps }: NoticesDeps,
  countAttention: () => Promise<readonly AttentionCount[]>,
): NoticeWatch {
  const { config, log, now } = deps;
  return createNoticeWatch({
    store: stores.notices,
    sources: createSources({ ...deps, ...stores, tasks: { ...stores.tasks, countAttention } }),
    targets: () => config().notify.targets,
    send: createSendNotice({
      deliver: (delivery) => deps.outbound.notices.deliver(delivery),
      commandEnvironment: defined({ PATH, HOME, LANG }),
      now,
    }),
    duty: createDuty({ name: 'notices', duties: stores.duties, silenceMs: 4 * periods.notices.everyMs, now }),
    log,
    now,
  });
}

function createAttentionCounts({ stores, now }: Pick<NoticesDeps, 'stores' | 'now'>) {
  let noted: { readonly counts: readonly AttentionCount[]; readonly at: number } | undefined;
  return {
    note: (counts: readonly AttentionCount[]) => void (noted = { counts, at: now() }),
    count: async (): Promise<readonly AttentionCount[]> => {
      const { counts, at } = noted ?? { at: 0 };
      noted = undefined;
      return counts !== undefined && now() - at < periods.notices.everyMs
        ? counts
        : stores.tasks.countAttention();
    },
  };
}

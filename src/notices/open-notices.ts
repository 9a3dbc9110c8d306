import { createDuty } from '../capacity/duty.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import { defined } from '../domain/defined.ts';
import { createGuardedClient } from '../http-client/index.ts';
import type { Logger } from '../observability/log.ts';
import type { Stores } from '../store/stores.ts';
import { createSources } from './conditions.ts';
import { createSendNotice } from './send.ts';
import { createNoticeWatch, noticeIntervalMs } from './watch.ts';
import type { NoticeWatch } from './watch.ts';

export interface NoticesDeps {
  readonly stores: Stores;
  readonly config: () => GatewayConfig;
  /** Commands get PATH, HOME and LANG of it. */
  readonly variables: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly now: () => number;
}

export function openNotices({ stores, config, variables: { PATH, HOME, LANG }, log, now }: NoticesDeps): {
  readonly watch: NoticeWatch;
  readonly close: () => Promise<void>;
} {
  // The addresses are the operator's own.
  const client = createGuardedClient({ allowPrivateNetworks: ['0.0.0.0/0', '::/0'] });
  const watch = createNoticeWatch({
    store: stores.notices,
    sources: createSources(stores),
    notify: () => ({ ...config().notify, currency: config().currency }),
    send: createSendNotice({
      deliver: (delivery) => client.deliver(delivery),
      commandEnvironment: defined({ PATH, HOME, LANG }),
      now,
    }),
    duty: createDuty({ name: 'notices', duties: stores.duties, silenceMs: 4 * noticeIntervalMs, now }),
    log,
    now,
  });
  watch.start();
  return {
    watch,
    async close() {
      await watch.stop();
      await client.close();
    },
  };
}

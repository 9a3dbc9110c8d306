import type { ConfigFile } from '../config/config-file.ts';
import type { Environment } from '../config/environment.ts';
import { sealedNamesIn } from '../config/secret-places.ts';
import { onReloadSignal } from '../config/reload-signal.ts';
import { createVendorChecks } from '../vendor-files/vendor-checks.ts';
import { openRunningConfig } from '../control/running-config.ts';
import type { Pace } from '../process/pace.ts';
import type { RunningConfig, RunningConfigDeps } from '../control/running-config.ts';
import { hasEntries, ledgerCollection } from '../ledger/collection.ts';
import { readLowBalances } from '../ledger/totals.ts';
import type { Micros } from '../money/money.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import type { Logger } from '../observability/log.ts';
import type { Mongo } from '../store/mongo.ts';
import { providers } from '../providers/index.ts';
import { retiredModels } from '../routing/served-models.ts';
import type { Stores } from '../store/stores.ts';
import type { AuditLog, OperatorAct } from '../commands/audit-log.ts';

/** The published configuration, of which each process runs a copy. */

interface CoreParts {
  readonly log: Logger;
  readonly node: string;
  readonly auditLog: AuditLog;
  readonly pace: Pace;
}

interface ConfigDeps
  extends Pick<RunningConfigDeps, keyof ConfigFile | 'node' | 'now'>, Pick<CoreParts, 'log' | 'auditLog'> {
  readonly environment: Pick<Environment, 'CONFIG_AT_START'>;
  readonly stores: Pick<Stores, 'configurations' | 'configDrafts'>;
  readonly mongo: Pick<Mongo, 'db'>;
}

/** Vendor files are left out, because they name no models that are shut down. */
const adapterOf = (name: string) => (Object.hasOwn(providers, name) ? providers[name] : undefined);

export function openConfig({ environment, log, auditLog, stores, mongo, ...deps }: ConfigDeps) {
  return openRunningConfig({
    ...deps,
    store: stores.configurations,
    openSecrets: (text) => stores.configDrafts.openSecrets(sealedNamesIn(text)),
    bringsBack: environment.CONFIG_AT_START === 'always',
    checkVendors: createVendorChecks(),
    hasMoney: () => hasEntries(ledgerCollection(mongo.db)),
    keepStart: (publish) => auditLog.keep(reloadBy('start', deps.node), publish),
    onTaken: ({ version }, config) => {
      log.info({ version }, 'a published configuration was taken');
      for (const { text, ...facts } of retiredModels(config, adapterOf, deps.now())) log.warn(facts, text);
    },
    onOldCopy: ({ version }) => log.warn({ version }, oldCopy),
    onRefused: (version, violations) =>
      log.error(
        { version, violations },
        'a published configuration could not be loaded here; the running one stays in force',
      ),
    onError: (err) =>
      log.warn({ err }, 'the published configuration could not be read or taken; it is retried'),
  });
}

/** Takes what is published, and SIGHUP publishes this process's file. Returns what ends both. */
export function startConfig(running: RunningConfig, { log, node, auditLog, pace }: CoreParts): () => void {
  running.start(pace);
  const ignoreSignal = onReloadSignal(() => {
    const published = auditLog.keep(
      reloadBy('signal', node),
      () => running.publish('signal'),
      (result) => (result.ok ? undefined : result.violations.join('; ')),
    );
    published.then(
      (result) => {
        if (result.ok) log.info({ version: result.head.version }, 'the configuration file was published');
        else log.error({ violations: result.violations }, notPublished);
      },
      (err: unknown) => log.error({ err }, notPublished),
    );
  });
  return () => {
    ignoreSignal();
    running.stop();
  };
}

/** The functions with which notices read the configuration in force and the ledger. */
export function noticeReads(
  { db }: Pick<Mongo, 'db'>,
  { config, now }: { readonly config: () => GatewayConfig; readonly now: () => number },
) {
  return {
    lowBalances: (below: Micros) => readLowBalances(db, below),
    retired: () => retiredModels(config(), adapterOf, now()),
  };
}

/** A publication that no person asked for by name. */
function reloadBy(by: 'signal' | 'start', node: string): OperatorAct {
  return { by, via: by, action: 'reloadConfig', target: node, reason: '', input: {} };
}

const oldCopy =
  'the file of this process was published before, and is not what was published last: it runs that; `gateway config reload` publishes the file';
const notPublished = 'the configuration file was not published; the running configuration stays in force';

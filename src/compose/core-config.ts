import type { ConfigFile } from '../config/config-file.ts';
import type { Environment } from '../config/environment.ts';
import { sealedNamesIn } from '../config/secret-places.ts';
import { onReloadSignal } from '../config/reload-signal.ts';
import { createVendorChecks } from '../providers/vendor-files/vendor-checks.ts';
import type { FileProviders } from '../providers/vendor-files/file-provider.ts';
import { openRunningConfig, type RunningConfig, type RunningConfigDeps } from '../control/running-config.ts';
import type { Pace } from '../process/pace.ts';
import { hasEntries, ledgerCollection } from '../ledger/collection.ts';
import { readLowBalances } from '../ledger/totals.ts';
import type { Micros } from '../money/money.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import type { Logger } from '../observability/log.ts';
import type { Mongo } from '../store/mongo.ts';
import { providers } from '../providers/index.ts';
import { providerOf } from '../routing/provider-of.ts';
import { retiredModels } from '../routing/served-models.ts';
import type { Stores } from '../store/stores.ts';
import type { AuditLog, OperatorAct } from '../commands/audit-log.ts';

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
  readonly fileProvider: FileProviders;
}

function retiredNow(config: GatewayConfig, { fileProvider, now }: Pick<ConfigDeps, 'fileProvider' | 'now'>) {
  const adapters = { current: () => config, providers, fileProvider };
  return retiredModels(config, (name) => providerOf(adapters, name), now());
}

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
      log.info({ version }, 'a published configuration was loaded');
      for (const { text, ...facts } of retiredNow(config, deps)) log.warn(facts, text);
    },
    onOldCopy: ({ version }) => log.warn({ version }, oldCopy),
    onRefused: (version, violations) =>
      log.error(
        { version, violations },
        'a published configuration could not be loaded here; the running configuration stays active',
      ),
    onError: (err) => log.warn({ err }, 'the published configuration could not be read or loaded; retrying'),
  });
}

/** Follows published versions, and publishes this process's own file on SIGHUP. The returned function stops both. */
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

export function noticeReads(
  { db }: Pick<Mongo, 'db'>,
  { config, ...deps }: { readonly config: () => GatewayConfig } & Pick<ConfigDeps, 'fileProvider' | 'now'>,
) {
  return {
    lowBalances: (below: Micros) => readLowBalances(db, below),
    retired: () => retiredNow(config(), deps),
  };
}

function reloadBy(by: 'signal' | 'start', node: string): OperatorAct {
  return { by, via: by, action: 'reloadConfig', target: node, reason: '', input: {} };
}

const oldCopy =
  'the file of this process is older than the published configuration, so the process runs the published one; `gateway config reload` publishes the file';
const notPublished = 'the configuration file was not published; the running configuration stays active';

import { periods } from '../base/periods.ts';
import type { ConfigFile, Violations } from '../config/config-file.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import type { ConfigurationHead, ConfigurationStore } from '../store/configurations.ts';
import type { RunConfiguration } from '../store/nodes.ts';
import { configChanges } from './config-changes.ts';
import type { ConfigChange } from '../base/config-change.ts';
import { defined } from '../base/defined.ts';
import { following, type Pace } from '../process/pace.ts';

/** The newest published version, unless this process could not load it. */
export interface RunningConfig {
  readonly current: () => GatewayConfig;
  readonly state: () => RunConfiguration;
  publish(by: string, reason?: string): Promise<PublishResult>;
  publishText(draft: TextToPublish): Promise<PublishTextResult>;
  check(text: string): Promise<{ readonly config: GatewayConfig } | Violations>;
  /** Shows what `publish` would change, without publishing. Rejects if MongoDB does not respond. */
  preview(): Promise<PreviewResult>;
  refresh(): Promise<void>;
  /**
   * The listener is awaited after each published version is loaded or rejected. If it rejects, it is called again until
   * it succeeds.
   */
  onChange(listener: () => Promise<void>): void;
  start(pace: Pace): void;
  stop(): void;
}

interface NotPublished {
  readonly ok: false;
  readonly violations: readonly string[];
}

export type PublishResult =
  | { readonly ok: true; readonly head: ConfigurationHead; readonly changes: readonly ConfigChange[] }
  | NotPublished;

type PublishTextResult = { readonly ok: true; readonly head: ConfigurationHead } | NotPublished;

export interface TextToPublish {
  readonly text: string;
  readonly by: string;
  readonly reason: string;
  /** Publishing fails unless this version is still the current one. */
  readonly follows: number;
}

export type PreviewResult = { readonly ok: true; readonly changes: readonly ConfigChange[] } | NotPublished;

export interface RunningConfigDeps extends ConfigFile {
  readonly store: ConfigurationStore;
  readonly openSecrets: (text: string) => Promise<ReadonlyMap<string, string>>;
  /**
   * Whether startup may republish an older configuration file. The most recently published file is never republished,
   * so a restart does not overwrite drafts published since.
   */
  readonly bringsBack: boolean;
  readonly hasMoney: () => Promise<boolean>;
  readonly checkVendors: (config: GatewayConfig) => Promise<readonly string[]>;
  readonly node: string;
  readonly now: () => number;
  /**
   * Wraps the publication of this process's own file at startup in an audit entry. No operator requested it, but it
   * changes what all processes run.
   */
  readonly keepStart: (publish: () => Promise<ConfigurationHead>) => Promise<ConfigurationHead>;
  readonly onRefused: (version: number, reasons: readonly string[]) => void;
  readonly onTaken: (state: RunConfiguration, config: GatewayConfig) => void;
  /** Called if this process's file is an old copy and the published configuration is used instead. */
  readonly onOldCopy: (state: RunConfiguration) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Publishes this process's file if it has never been published or, with `bringsBack`, if another file was published
 * after it. Otherwise the published configuration applies, even if it differs from the file
 * (docs/decisions/0018-one-configuration.md).
 */
export async function openRunningConfig(deps: RunningConfigDeps): Promise<RunningConfig> {
  const { store, own, now, node } = deps;
  const isKnown = deps.bringsBack
    ? (await newestFile(store)) === own.config.hash
    : await store.wasPublished(own.config.hash);
  if (!isKnown) {
    const violations = await checkFile(own.config, deps);
    if (violations.length > 0) throw deps.refusal(violations);
    await deps.keepStart(() => store.publish({ ...textOf(own), by: 'start', node, at: now() }));
  }
  const running = createRunningConfig(deps);
  await running.refresh();
  const state = running.state();
  if (state.hash !== own.config.hash && state.refused === undefined) deps.onOldCopy(state);
  return running;
}

async function newestFile(store: ConfigurationStore): Promise<string | undefined> {
  const head = await store.confirmHead();
  return head?.file ?? head?.hash;
}

function createRunningConfig(deps: RunningConfigDeps): RunningConfig {
  const { store, node, now } = deps;
  const listeners = createListeners();
  let current = deps.own.config;
  let state: RunConfiguration = { version: 0, hash: current.hash };
  let known = 0;
  let busy: Promise<void> | undefined;

  async function take(version: number): Promise<void> {
    const published = await store.read();
    if (published === undefined || published.version < version) return;
    const { version: found, hash, text } = published;
    const parsed = await tried(
      withoutNewResults(await parsePublished(text, deps), known === 0 ? undefined : current),
      deps,
    );
    known = found;
    listeners.owe();
    if ('config' in parsed) {
      current = parsed.config;
      state = { version: found, hash };
      deps.onTaken(state, current);
    } else {
      state = { ...state, refused: { version: found, reasons: parsed.violations } };
      deps.onRefused(found, parsed.violations);
    }
  }

  async function look(): Promise<void> {
    const head = await store.head();
    if (head !== undefined && head.version > known) await take(head.version);
    await listeners.notify();
  }

  /** Never overlaps, because refreshes that finish in the wrong order would leave the older version running. */
  async function refresh(): Promise<void> {
    await busy?.catch(() => undefined);
    busy ??= look().finally(() => (busy = undefined));
    await busy;
  }

  const check: RunningConfig['check'] = async (text) =>
    checked(await parsePublished(text, deps), deps, current);

  return {
    current: () => current,
    state: () => state,

    async publish(by, reason) {
      await refresh().catch(deps.onError);
      const file = await checked(deps.load(), deps, current);
      if ('violations' in file) return { ok: false, violations: file.violations };
      const changes = configChanges(current, file.config);
      const head = await store.publish({ ...textOf(file), by, node, at: now(), ...defined({ reason }) });
      await refresh();
      return { ok: true, head, changes };
    },

    async publishText({ text, follows, ...why }) {
      const draft = await check(text);
      if ('violations' in draft) return { ok: false, violations: draft.violations };
      const next = { ...textOf({ text, ...draft }), ...why, node, at: now(), isDraft: true } as const;
      const head = await store.publishAfter(follows, next);
      if (head === undefined) return { ok: false, violations: [overtaken] };
      await refresh();
      return { ok: true, head };
    },

    check,

    async preview() {
      await refresh();
      const file = await checked(deps.load(), deps, current);
      if ('violations' in file) return { ok: false, violations: file.violations };
      return { ok: true, changes: configChanges(current, file.config) };
    },

    refresh,
    onChange: (listener) => listeners.add(listener),
    ...following(periods.configuration, () => refresh().catch(deps.onError)),
  };
}

function createListeners() {
  const all: (() => Promise<void>)[] = [];
  const owed = new Set<() => Promise<void>>();
  return {
    add: (listener: () => Promise<void>): void => void all.push(listener),
    owe: (): void => all.forEach((listener) => owed.add(listener)),
    /** Rejects if any listener does. The failed listeners stay pending for the next call. */
    async notify(): Promise<void> {
      const notified = await Promise.allSettled(
        [...owed].map(async (listener) => {
          await listener();
          owed.delete(listener);
        }),
      );
      for (const one of notified) if (one.status === 'rejected') throw one.reason;
    },
  };
}

const overtaken = 'another version was published first';

async function parsePublished(
  text: string,
  { parse, openSecrets }: Pick<RunningConfigDeps, 'parse' | 'openSecrets'>,
): Promise<ReturnType<ConfigFile['parse']>> {
  return parse(text, await openSecrets(text));
}

async function checked<Loaded extends { readonly config: GatewayConfig }>(
  loaded: Loaded | Violations,
  deps: RunningConfigDeps,
  current: GatewayConfig,
): Promise<Loaded | Violations> {
  const file = withoutNewResults(loaded, current);
  if ('violations' in file) return file;
  const violations = await checkFile(file.config, deps);
  return violations.length > 0 ? { violations } : file;
}

/**
 * Rejects a changed value of `results`, because a process opens its storage only once. `opened` is undefined until it
 * has.
 */
function withoutNewResults<Loaded extends { readonly config: GatewayConfig }>(
  loaded: Loaded | Violations,
  opened: GatewayConfig | undefined,
): Loaded | Violations {
  if ('violations' in loaded || opened === undefined) return loaded;
  const changes = configChanges(opened, loaded.config)
    .filter(({ path }) => path.startsWith('results.'))
    .map(({ path, before = '?', after = '?' }) => `${path} ${before} → ${after}`);
  if (changes.length === 0) return loaded;
  return { violations: [`${startOnly} (${changes.join(', ')})`] };
}

const startOnly =
  'results: takes effect only at startup; restart every process with this file (if the file was published before, add a comment to it first)';

function textOf({ text, config: { hash, currency } }: ConfigFile['own']) {
  return { text, hash, currency };
}

/** Rejects a configuration whose vendor files this process cannot run, so that the current one stays active. */
async function tried<Loaded extends { readonly config: GatewayConfig }>(
  loaded: Loaded | Violations,
  { checkVendors }: Pick<RunningConfigDeps, 'checkVendors'>,
): Promise<Loaded | Violations> {
  if ('violations' in loaded) return loaded;
  const violations = await checkVendors(loaded.config);
  return violations.length > 0 ? { violations } : loaded;
}

async function checkFile(config: GatewayConfig, deps: RunningConfigDeps): Promise<string[]> {
  return [...(await checkCurrency(config, deps)), ...(await deps.checkVendors(config))];
}

/** Ledger amounts have no currency, so changing it would change the meaning of existing balances. */
async function checkCurrency(
  { currency }: GatewayConfig,
  { store, hasMoney }: Pick<RunningConfigDeps, 'store' | 'hasMoney'>,
): Promise<string[]> {
  const was = (await store.confirmHead())?.currency ?? currency;
  if (was === currency || !(await hasMoney())) return [];
  return [`currency: the accounts in this database use ${was}, which cannot be changed to ${currency}.`];
}

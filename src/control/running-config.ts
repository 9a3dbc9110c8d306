import type { ConfigFile, Violations } from '../config/config-file.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import type { ConfigurationHead, ConfigurationStore } from '../store/configurations.ts';
import type { RunConfiguration } from '../store/nodes.ts';
import { configChanges } from './config-changes.ts';
import type { ConfigChange } from '../base/config-change.ts';
import { defined } from '../base/defined.ts';
import { following } from '../process/pace.ts';
import type { Pace } from '../process/pace.ts';

/** The configuration that this process runs: the newest that was published, unless it could not load that one. */
export interface RunningConfig {
  readonly current: () => GatewayConfig;
  readonly state: () => RunConfiguration;
  /**
   * Reads this process's own file, checks it and publishes it for all processes. `by`: an operator's name, or `signal`.
   * A file with mistakes changes nothing.
   */
  publish(by: string, reason?: string): Promise<PublishResult>;
  /** Publishes a text that does not come from a file: a draft, or an earlier version. */
  publishText(draft: TextToPublish): Promise<PublishResult>;
  /** Loads the text as `publishText` would, and publishes nothing. */
  check(text: string): Promise<{ readonly config: GatewayConfig } | Violations>;
  /** What `publish` would change of what this process runs. Rejects when MongoDB does not answer. */
  preview(): Promise<PreviewResult>;
  /** Takes what was published since. Rejects when MongoDB does not answer. */
  refresh(): Promise<void>;
  /** Called, and waited for, when a published version was taken or refused; alone repeated until it does not reject. */
  onChange(listener: () => Promise<void>): void;
  start(pace: Pace): void;
  stop(): void;
}

export type PublishResult =
  | { readonly ok: true; readonly head: ConfigurationHead }
  | { readonly ok: false; readonly violations: readonly string[] };

export interface TextToPublish {
  readonly text: string;
  readonly by: string;
  readonly reason: string;
  /** The version that it replaces. It is published only if that version is still in force. */
  readonly follows: number;
}

export type PreviewResult =
  | { readonly ok: true; readonly changes: readonly ConfigChange[] }
  | { readonly ok: false; readonly violations: readonly string[] };

export interface RunningConfigDeps extends ConfigFile {
  readonly store: ConfigurationStore;
  /** Opens the value of each `${sealed:NAME}` in a text. */
  readonly openSecrets: (text: string) => Promise<ReadonlyMap<string, string>>;
  /** Whether a start republishes an older file. The newest published file is not republished: drafts after it stay. */
  readonly bringsBack: boolean;
  /** Whether there is money of accounts, whose currency cannot change any more. */
  readonly hasMoney: () => Promise<boolean>;
  /** Tries the vendor files of a configuration before it is used, and returns the violations. */
  readonly checkVendors: (config: GatewayConfig) => Promise<readonly string[]>;
  /** This process. */
  readonly node: string;
  readonly now: () => number;
  /** Runs what publishes the own file for all processes at the start: nobody asked for it, and it changes what all run. */
  readonly keepStart: (publish: () => Promise<ConfigurationHead>) => Promise<ConfigurationHead>;
  /** The configuration in force stays. */
  readonly onRefused: (version: number, reasons: readonly string[]) => void;
  readonly onTaken: (state: RunConfiguration, config: GatewayConfig) => void;
  /** The file is an old copy: this process runs what is published. */
  readonly onOldCopy: (state: RunConfiguration) => void;
  readonly onError: (error: unknown) => void;
}

/** Short even when idle: a publication waits until every process has taken it, busy or not. */
const period = { everyMs: 2_000, idleMs: 4_000 };

/**
 * A file that no process ever published is published by the first one that starts with it. One that was published
 * before is an old copy, or the one in force: then what is published counts (docs/decisions/0018-one-configuration.md).
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
  /** The version that was taken or refused. */
  let known = 0;
  let busy: Promise<void> | undefined;

  async function take(version: number): Promise<void> {
    const published = await store.read();
    // Another process may have published a newer version, and a member that lags may return an older one.
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

  /** One at a time: two that overlap could end with the older version. */
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
      const file = await checked(deps.load(), deps, current);
      if ('violations' in file) return { ok: false, violations: file.violations };
      const head = await store.publish({ ...textOf(file), by, node, at: now(), ...defined({ reason }) });
      await refresh();
      return { ok: true, head };
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
    ...following(period, () => refresh().catch(deps.onError)),
  };
}

function createListeners() {
  const all: (() => Promise<void>)[] = [];
  /** Those that do not know of the last change yet. */
  const owed = new Set<() => Promise<void>>();
  return {
    add: (listener: () => Promise<void>): void => void all.push(listener),
    owe: (): void => all.forEach((listener) => owed.add(listener)),
    /** Calls them; those that reject are called again by the next call. Rejects if one did. */
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

const overtaken = 'another version was published in the meantime';

async function parsePublished(
  text: string,
  { parse, openSecrets }: Pick<RunningConfigDeps, 'parse' | 'openSecrets'>,
): Promise<ReturnType<ConfigFile['parse']>> {
  return parse(text, await openSecrets(text));
}

/** What may follow the published configuration. */
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

/** `opened` has the results that the process has opened, for as long as it lives; undefined: it opens them next. */
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
  'results: is read at the start only; restart every process with this file, or with a new comment in it if it was published before';

function textOf({ text, config: { hash, currency } }: ConfigFile['own']) {
  return { text, hash, currency };
}

/** A process keeps its present configuration if it cannot run a published vendor file. */
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

/** Amounts in the ledger name no currency: another one would turn every balance into another sum. */
async function checkCurrency(
  { currency }: GatewayConfig,
  { store, hasMoney }: Pick<RunningConfigDeps, 'store' | 'hasMoney'>,
): Promise<string[]> {
  const was = (await store.confirmHead())?.currency ?? currency;
  if (was === currency || !(await hasMoney())) return [];
  return [`currency: this database's accounts are in ${was}: they cannot become ${currency}.`];
}

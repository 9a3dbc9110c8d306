import { randomBase62, type RandomBytes } from '../base/ids.ts';
import { defined } from '../base/defined.ts';
import { changeText, type ConfigChange } from '../base/config-change.ts';
import { packText, unpackText } from '../config/configuration-text.ts';
import { entryOf, insertionInto, type DraftEntry, type Insertion } from '../config/draft-entries.ts';
import { concealText, editText, readText, replaceSecrets, restoreText } from '../config/draft-text.ts';
import type { ChangedText } from '../config/draft-text.ts';
import type { Violations } from '../config/config-file.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import { readYaml } from '../config/read-yaml.ts';
import { draftIssues, draftSecretsIn, originOfWritten, sealedNamesIn } from '../config/secret-places.ts';
import type { WrittenSecret } from '../config/secret-places.ts';
import { GatewayError, invalidParameter, serviceUnavailable } from '../errors/errors.ts';
import type { ConfigDraft, ConfigDraftStore, ConfiguredSecret, DraftEdit } from '../store/config-drafts.ts';
import type {
  ConfigurationHead,
  ConfigurationStore,
  PublishedConfiguration,
} from '../store/configurations.ts';
import { contentsOf, type DraftContents } from './catalogue-additions.ts';
import { valueChanges } from './config-changes.ts';
import type { RunningConfig, TextToPublish } from './running-config.ts';

export interface ConfigDrafts {
  show(): Promise<ShownDraft>;
  entry(pointer: string): Promise<ShownEntry>;
  /** `revision` is the revision that the operator last read. Throws if the draft has since changed. */
  edit(change: DraftChange, revision: number, by: string): Promise<ShownDraft>;
  discard(revision: number): Promise<void>;
  publish(order: PublishOrder, by: string): Promise<Publication>;
  rollBack(order: RollBackOrder, by: string): Promise<Publication>;
  compare(version: number): Promise<readonly ConfigChange[]>;
  versions(): Promise<readonly ConfigurationHead[]>;
  config(): Promise<GatewayConfig>;
}

export type DraftChange =
  | { readonly text: string }
  | { readonly set: Readonly<Record<string, unknown>> }
  | { readonly insert: Insertion };

interface Publication {
  readonly head: ConfigurationHead;
  readonly changes: readonly ConfigChange[];
}

interface PublishOrder {
  readonly revision: number;
  readonly reason: string;
  /** Confirms that the draft replaces this version, although it is based on an older one. */
  readonly over?: number | undefined;
}

interface RollBackOrder {
  readonly version: number;
  readonly reason: string;
}

export interface ShownDraft extends DraftContents {
  readonly revision: number;
  readonly isBegun: boolean;
  readonly base: number;
  readonly running: number;
  /** Contains `${kept}` in place of each secret. */
  readonly text: string;
  readonly changes: readonly ConfigChange[];
  readonly violations: readonly string[];
  readonly edits: readonly DraftEdit[];
  readonly secrets: readonly (ConfiguredSecret & { readonly isUsed: boolean })[];
  readonly isPublishable: boolean;
}

export type ShownEntry = DraftEntry & Pick<ShownDraft, 'revision' | 'violations'>;

export interface ConfigDraftsDeps {
  readonly configDrafts: ConfigDraftStore;
  readonly configurations: Pick<ConfigurationStore, 'read' | 'replaced' | 'textOf'>;
  readonly running: Pick<RunningConfig, 'check' | 'publishText'>;
  /** Drafts are never published if `CONFIG_DRAFTS=export`. Only files then change the configuration. */
  readonly isExportOnly: boolean;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

interface Opened {
  readonly published: PublishedConfiguration;
  readonly draft: ConfigDraft;
  readonly isBegun: boolean;
}

export function createConfigDrafts(deps: ConfigDraftsDeps): ConfigDrafts {
  const { configDrafts: drafts, configurations, running, isExportOnly, now } = deps;

  async function open(): Promise<Opened> {
    const [published, { revision, draft }] = await Promise.all([configurations.read(), drafts.read()]);
    if (published === undefined) throw serviceUnavailable('no configuration was published');
    const begun = { revision, base: published.version, text: published.text, edits: [] };
    return { published, draft: draft ?? begun, isBegun: draft !== undefined };
  }

  async function loadOrThrow(opened: Opened): Promise<GatewayConfig> {
    const loaded = await loadDraft(opened, await drafts.listSecrets(), running);
    if ('violations' in loaded) throw notPublished(loaded.violations);
    return loaded.config;
  }

  async function show(): Promise<ShownDraft> {
    const opened = await open();
    const { published, draft, isBegun } = opened;
    const secrets = await drafts.listSecrets();
    const loaded = isBegun ? await loadDraft(opened, secrets, running) : undefined;
    const used = new Set(sealedNamesIn(draft.text));
    const value = valueOf(draft.text);
    return {
      ...draft,
      isBegun,
      running: published.version,
      text: concealText(unpackText(draft.text).gateway),
      ...contentsOf(value),
      changes: valueChanges(valueOf(published.text), value),
      violations: loaded !== undefined && 'violations' in loaded ? loaded.violations : [],
      secrets: secrets.map((secret) => ({ ...secret, isUsed: used.has(secret.name) })),
      isPublishable: !isExportOnly,
    };
  }

  async function keepSecret(secret: WrittenSecret, by: string): Promise<string> {
    if (isExportOnly) throw invalidParameter('text', nameIt);
    const configured = configuredSecret(secret, deps.randomBytes);
    await drafts.keepSecret({ ...configured, at: now(), by });
    return `\${sealed:${configured.name}}`;
  }

  async function publishText(
    text: string,
    { published, by, reason }: Pick<Opened, 'published'> & Pick<TextToPublish, 'by' | 'reason'>,
  ): Promise<Publication> {
    if (isExportOnly) throw new GatewayError('action_not_possible', exportOnly);
    const result = await running.publishText({ text, by, reason, follows: published.version });
    if (!result.ok) throw notPublished(result.violations);
    return { head: result.head, changes: valueChanges(valueOf(published.text), valueOf(text)) };
  }

  return {
    show,

    entry: async (pointer) => shownEntry(await show(), pointer),

    async edit(change, revision, by) {
      const { published, draft } = await open();
      if (draft.revision !== revision) throw changed(draft, revision);
      const { gateway, vendors } = unpackText(draft.text);
      const read = applied(change, gateway);
      if ('violation' in read) throw invalidParameter(Object.keys(change)[0] ?? '', read.violation);
      const ofFile = isExportOnly ? draftSecretsIn(valueOf(published.text)) : [];
      const before = draftSecretsIn(valueOf(draft.text));
      const sealed = await replaceSecrets(restoreText(read.text, gateway), async (secret) =>
        ofFile.some((one) => isSame(one, secret))
          ? secret.value
          : keepSecret({ ...secret, origin: originOfWritten(secret, before) }, by),
      );
      const text = packText({ gateway: sealed, vendors });
      const changes = valueChanges(valueOf(draft.text), valueOf(text)).slice(0, changesKept);
      const edit = { revision: revision + 1, by, at: now(), changes };
      if (!(await drafts.write({ revision, base: draft.base, text, edits: [...draft.edits, edit] }))) {
        throw changed((await open()).draft, revision);
      }
      return show();
    },

    async discard(revision) {
      if (!(await drafts.discard(revision))) throw changed((await open()).draft, revision);
    },

    async publish({ revision, over, reason }, by) {
      const opened = await open();
      const { published, draft, isBegun } = opened;
      if (!isBegun) throw new GatewayError('action_not_possible', 'There is no draft to publish.');
      if (draft.revision !== revision) throw changed(draft, revision);
      const { version } = published;
      if (draft.base !== version && over !== version) throw await behind(draft, published, configurations);
      await loadOrThrow(opened);
      const publication = await publishText(draft.text, { published, by, reason });
      // If the draft was edited during publication, the edited draft stays.
      await drafts.discard(revision);
      return publication;
    },

    async rollBack({ version, reason }, by) {
      const { published } = await open();
      return publishText(await textOf(configurations, version), { published, by, reason });
    },

    async compare(version) {
      const { published } = await open();
      return valueChanges(valueOf(published.text), valueOf(await textOf(configurations, version)));
    },

    versions: async () => allVersions((await open()).published, await configurations.replaced()),

    config: async () => loadOrThrow(await open()),
  };
}

function shownEntry({ revision, violations, text }: ShownDraft, pointer: string): ShownEntry {
  const entry = entryOf(valueOf(text), pointer);
  if (entry === undefined) throw invalidParameter('pointer', `The draft has no entry ${pointer}.`);
  return { revision, violations, ...entry };
}

async function loadDraft(
  { published, draft, isBegun }: Opened,
  secrets: readonly ConfiguredSecret[],
  { check }: ConfigDraftsDeps['running'],
): Promise<{ readonly config: GatewayConfig } | Violations> {
  const originOf = new Map(secrets.map(({ name, origin }) => [name, origin]));
  const issues = isBegun ? draftIssues(valueOf(published.text), valueOf(draft.text), originOf) : [];
  const checked = await check(draft.text);
  if ('violations' in checked) return { violations: [...checked.violations, ...issues] };
  return issues.length > 0 ? { violations: issues } : checked;
}

const changesKept = 50;
const endingCharacters = 4;
/**
 * The minimum length of a secret whose last four characters may be displayed. In a shorter secret, they would reveal
 * too much.
 */
const shownFrom = 16;
const exportOnly =
  'Drafts cannot be published here, because the configuration can be changed only through files (CONFIG_DRAFTS=export). Export the draft as YAML, and reload the file.';
const nameIt =
  'Secrets cannot be stored here, because the configuration can be changed only through files (CONFIG_DRAFTS=export). Name an environment variable, ${NAME}, in place of the secret.';

function configuredSecret({ of, value, origin }: WrittenSecret, randomBytes: RandomBytes) {
  const name = `${(of || 'secret').replaceAll(/[^A-Za-z0-9.-]/g, '-')}-${randomBase62(8, randomBytes)}`;
  const ending = value.length >= shownFrom ? value.slice(-endingCharacters) : '';
  return { name, ending, value, ...defined({ origin }) };
}

function isSame(one: WrittenSecret, other: WrittenSecret): boolean {
  return one.place === other.place && one.origin === other.origin && one.value === other.value;
}

function applied(change: DraftChange, gateway: string): ChangedText {
  if ('text' in change) return readText(change.text);
  if ('set' in change) return editText(gateway, change.set);
  const insertion = insertionInto(parsed(gateway), change.insert);
  return 'violation' in insertion ? insertion : editText(gateway, insertion.set);
}

function valueOf(text: string): unknown {
  return parsed(unpackText(text).gateway);
}

function parsed(gateway: string): unknown {
  const read = readYaml(gateway);
  return 'value' in read ? read.value : undefined;
}

/**
 * Drops replaced versions that are not older than the current one. A process that died while publishing may have marked
 * the current version as replaced.
 */
function allVersions(
  inForce: ConfigurationHead,
  replaced: readonly ConfigurationHead[],
): readonly ConfigurationHead[] {
  return [inForce, ...replaced.filter(({ version }) => version < inForce.version)];
}

async function textOf(configurations: Pick<ConfigurationStore, 'textOf'>, version: number): Promise<string> {
  const text = await configurations.textOf(version);
  if (text === undefined) throw invalidParameter('version', `There is no earlier version ${version}.`);
  return text;
}

function changed({ revision, edits }: ConfigDraft, read: number): GatewayError {
  const missed = edits.filter((edit) => edit.revision > read);
  const words = missed.map(({ by, changes }) => `${by}: ${wordsOf(changes)}`);
  const what =
    words.length === 0
      ? 'The draft has since been discarded, published or edited many times.'
      : `${words.join('; ')}.`;
  return new GatewayError(
    'action_not_possible',
    `The draft is now at revision ${revision}; you read revision ${read}. ${what} Read the draft, and repeat your change.`,
    { param: 'revision' },
  );
}

async function behind(
  { base }: ConfigDraft,
  { version, by, text }: PublishedConfiguration,
  configurations: Pick<ConfigurationStore, 'textOf'>,
): Promise<GatewayError> {
  const before = await configurations.textOf(base);
  const changes = before === undefined ? [] : valueChanges(valueOf(before), valueOf(text));
  return new GatewayError(
    'action_not_possible',
    `The draft is based on version ${base}, but ${by} has since published version ${version}: ${wordsOf(changes)}. To replace that version, publish the draft with \`over\` set to ${version}. Otherwise, discard the draft.`,
    { param: 'over' },
  );
}

const namedMax = 10;

function wordsOf(changes: readonly ConfigChange[]): string {
  if (changes.length === 0) return 'only comments';
  const named = changes.slice(0, namedMax).map(changeText);
  const others = changes.length - named.length;
  return named.join(', ') + (others > 0 ? ` and ${others} more` : '');
}

function notPublished(violations: readonly string[]): GatewayError {
  return invalidParameter(
    '',
    `The configuration has errors and cannot be published: ${violations.join('; ')}`,
  );
}

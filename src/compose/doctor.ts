import { randomUUID } from 'node:crypto';
import { createSealer } from '../access/sealer.ts';
import { messageOf } from '../base/caught.ts';
import { describeServer, limitsOf, missingAbilities, ServerAbilityError } from '../base/server-abilities.ts';
import type { ServerFacts } from '../base/server-abilities.ts';
import type { Check, LoadedConfig } from '../cli/context.ts';
import { requireAddresses, type Addresses } from '../config/addresses.ts';
import { ConfigError } from '../config/config-error.ts';
import { readEnvironment, type Environment } from '../config/environment.ts';
import { within } from '../process/running-time.ts';
import { openStorage } from '../results/results.ts';
import { withTimeLimits } from '../results/time-limits.ts';
import { connectMongo, type Mongo } from '../store/mongo.ts';
import { createRootKeyStore } from '../store/root-key.ts';
import { readServerFacts } from '../store/server-facts.ts';
import { temporalSettings } from '../temporal/connection.ts';
import { inspectTemporal } from '../temporal/inspect-server.ts';

export interface DoctorDeps {
  readonly variables: () => NodeJS.ProcessEnv | Promise<NodeJS.ProcessEnv>;
  readonly loadConfig: () => LoadedConfig | Promise<LoadedConfig>;
  readonly searchAttributes?: readonly string[];
}

type Found = Pick<Check, 'state' | 'text'>;

const foundWithinMs = 5_000;
/** A server may accept connections without ever responding. */
const answeredWithinMs = 15_000;
const retentionHoursMin = 72;

const ok = (text: string): Found => ({ state: 'ok', text });
const warning = (text: string): Found => ({ state: 'warning', text });
const failed = (text: string): Found => ({ state: 'failed', text });
const notChecked = (text: string): Found => ({ state: 'not_checked', text });

export async function diagnoseServers(deps: DoctorDeps): Promise<readonly Check[]> {
  const environment = await readParts(deps.variables);
  const { read, addresses } = environment;
  const config = await loaded(deps.loadConfig);
  const unknown = notChecked('Fix the environment first.');
  const [[server, secrets], temporal, storage] = await Promise.all([
    addresses === undefined ? ([unknown, unknown] as const) : checkMongo(addresses),
    addresses === undefined || read === undefined
      ? unknown
      : checkTemporal({ read, addresses }, deps.searchAttributes),
    config.config === undefined || read === undefined
      ? notChecked('Fix the environment and the configuration first.')
      : checkStorage(config.config, read),
  ]);
  return [
    { subject: 'environment', ...environment.found },
    { subject: 'configuration', ...config.found },
    { subject: 'MongoDB', ...server },
    { subject: 'SECRETS_KEY', ...secrets },
    { subject: 'Temporal', ...temporal },
    { subject: 'results', ...storage },
  ];
}

interface Parts {
  readonly found: Found;
  readonly read?: Environment;
  readonly addresses?: Addresses;
}

async function readParts(variables: DoctorDeps['variables']): Promise<Parts> {
  let read: Environment | undefined;
  try {
    read = readEnvironment(await variables());
    return { found: ok('All required variables are set.'), read, addresses: requireAddresses(read) };
  } catch (error) {
    return { found: failed(violationsOf(error)), ...(read === undefined ? {} : { read }) };
  }
}

async function loaded(
  loadConfig: DoctorDeps['loadConfig'],
): Promise<{ readonly found: Found; readonly config?: LoadedConfig['config'] }> {
  try {
    const { file, config } = await loadConfig();
    const { channels, models } = config;
    return { found: ok(`${file}: ${channels.length} channels, ${models.length} models.`), config };
  } catch (error) {
    return { found: failed(violationsOf(error)) };
  }
}

function violationsOf(error: unknown): string {
  if (!(error instanceof ConfigError)) return messageOf(error);
  return `${error.source}: ${error.violations.join('; ')}.`;
}

async function checkMongo({ mongodbUri, secretsKeys }: Addresses): Promise<readonly [Found, Found]> {
  let mongo: Mongo | undefined;
  try {
    mongo = await connectMongo(mongodbUri, { appName: 'mediary-cli', foundWithinMs });
    const facts = await within(answeredWithinMs, readServerFacts(mongo.db), silence);
    return [foundServer(facts), await within(answeredWithinMs, checkKeys(mongo, secretsKeys), silence)];
  } catch (error) {
    const text =
      error instanceof ServerAbilityError
        ? error.message
        : `MongoDB does not respond: ${messageOf(error)}. Check MONGODB_URI, and that the server runs and accepts connections from here.`;
    return [failed(text), notChecked('Fix the problem with MongoDB first.')];
  } finally {
    await mongo?.close();
  }
}

export function foundServer(facts: ServerFacts): Found {
  const missing = missingAbilities(facts);
  const wrong = [...missing, ...limitsOf(facts)].map((text) => `It ${text}.`);
  const text = [`${describeServer(facts)}.`, ...wrong].join(' ');
  return { state: missing.length > 0 ? 'failed' : wrong.length > 0 ? 'warning' : 'ok', text };
}

/**
 * Checks that the keys can open the database's secrets. Unlike the start of a gateway, this never creates a root key.
 */
async function checkKeys({ db }: Mongo, keys: readonly Buffer[]): Promise<Found> {
  const store = createRootKeyStore(db);
  const sealed = await store.find();
  if (sealed === undefined) return ok('The database is new: the first start writes its root key.');
  try {
    createSealer(keys).open({ purpose: 'root-key', id: store.id }, sealed);
    return ok('The key opens the sealed values in this database.');
  } catch (error) {
    return failed(`${messageOf(error)}. Set the SECRETS_KEY with which this database was started.`);
  }
}

async function checkTemporal(
  { read, addresses }: { readonly read: Environment; readonly addresses: Addresses },
  names: readonly string[] | undefined,
): Promise<Found> {
  const settings = temporalSettings(read, addresses, undefined);
  const { address, namespace } = settings;
  try {
    const facts = await within(answeredWithinMs, inspectTemporal(settings, names), silence);
    const { version, retentionHours: hours, searchAttributes } = facts;
    if (hours === undefined)
      return failed(
        `Temporal ${version} has no namespace ${namespace}. Create it with deploy/temporal/create-namespace.sh, or set TEMPORAL_NAMESPACE.`,
      );
    const text = `Temporal ${version}, namespace ${namespace}, retention ${hours} hours.`;
    if (searchAttributes !== undefined) return failed(`${text} But ${searchAttributes}.`);
    return hours < retentionHoursMin
      ? failed(
          `${text} It must be ${retentionHoursMin} hours or more: run deploy/temporal/create-namespace.sh.`,
        )
      : ok(text);
  } catch (error) {
    return failed(
      `Temporal does not respond at ${address}: ${messageOf(error)}. Check TEMPORAL_ADDRESS, its certificates, and that the server is running.`,
    );
  }
}

async function checkStorage({ results }: LoadedConfig['config'], environment: Environment): Promise<Found> {
  const opened = await openStorage(results, environment);
  if (opened === undefined) return ok('Results are not stored (results.storage: none).');
  const storage = withTimeLimits(opened);
  const place =
    results.storage === 's3' ? `The bucket ${results.s3?.bucket}` : `The directory ${results.directory}`;
  const key = `doctor-${randomUUID()}/check.txt`;
  try {
    await storage.write(key, oneLine(), { mediaType: 'text/plain' });
    await storage.remove(key);
    const problem = await storage.problem();
    return problem === undefined ? ok(`${place} is writable.`) : warning(`${place} is writable. ${problem}`);
  } catch (error) {
    return failed(`${place} cannot be written: ${messageOf(error)}. Check \`results\` in the configuration.`);
  } finally {
    storage.close();
  }
}

async function* oneLine(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('gateway doctor\n');
}

const silence = (): Error => new Error(`no response within ${answeredWithinMs / 1000} s`);

import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { systemCodeOf } from '../base/caught.ts';
import { parseJson } from '../base/parse-json.ts';
import { isSameProcessAlive, processIdentitySchema } from '../process/process-identity.ts';
import { ConfigError } from './config-error.ts';

/**
 * The settings that local mode generates at its first start. They are kept in DATA_DIR/local.json, which only its owner
 * can read.
 */
const settingsSchema = z.object({
  secretsKey: z.string(),
  /** The ADMIN_TOKEN of the last start, if one was set, or a generated token. */
  adminToken: z.string(),
  account: z.string(),
  apiKey: z.string().optional(),
  /** From the last start. Send no secret to this URL before `runningApiUrl` has confirmed it. */
  apiUrl: z.string().optional(),
  /** The local mode process, which runs the API at `apiUrl` as its child. */
  startedBy: processIdentitySchema.optional(),
  /** From the last start. Undefined if the operator's own configuration was used. */
  simulatorUrl: z.string().optional(),
  mongodbUri: z.string().optional(),
  temporalAddress: z.string().optional(),
});

export type LocalSettings = Readonly<z.infer<typeof settingsSchema>>;

export function localSettingsPath(dataDir: string): string {
  return join(dataDir, 'local.json');
}

export async function readLocalSettings(dataDir: string): Promise<LocalSettings | undefined> {
  const path = localSettingsPath(dataDir);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const parsed = settingsSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new ConfigError(path, [
    'is damaged. It contains the keys of this data directory. Restore it, or start with a different DATA_DIR.',
  ]);
}

/**
 * Returns the API's URL, or undefined if local mode has exited. Another program may then be listening on the same port
 * and must not receive a key. On systems that do not report when a process started (Windows), a reused process id
 * is mistaken for local mode.
 */
export async function runningApiUrl({ apiUrl, startedBy }: LocalSettings): Promise<string | undefined> {
  return startedBy !== undefined && (await isSameProcessAlive(startedBy)) ? apiUrl : undefined;
}

export async function loadOrCreateLocalSettings(dataDir: string): Promise<LocalSettings> {
  const found = await readLocalSettings(dataDir);
  if (found !== undefined) return found;
  const made: LocalSettings = {
    secretsKey: randomBytes(32).toString('base64'),
    adminToken: randomBytes(24).toString('base64url'),
    account: 'local',
  };
  await saveLocalSettings(dataDir, made);
  return made;
}

export async function saveLocalSettings(dataDir: string, settings: LocalSettings): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const path = localSettingsPath(dataDir);
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
}

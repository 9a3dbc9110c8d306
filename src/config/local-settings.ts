import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { systemCodeOf } from '../domain/caught.ts';
import { parseJson } from '../domain/parse-json.ts';
import { ConfigError } from './config-error.ts';

/** What local mode generates at its first start and keeps in DATA_DIR/local.json, readable by its owner only. */
export interface LocalSettings {
  /** 32 bytes, base64: SECRETS_KEY of this data directory. */
  readonly secretsKey: string;
  /** The token of the last start: ADMIN_TOKEN if that was set. */
  readonly adminToken: string;
  readonly account: string;
  /** The API key; absent until the account is made. */
  readonly apiKey?: string | undefined;
  /** Where the API of the last start listened. */
  readonly apiUrl?: string | undefined;
  /** The simulator of the last start; absent: it used the operator's own configuration. */
  readonly simulatorUrl?: string | undefined;
  /** The servers of the last start. */
  readonly mongodbUri?: string | undefined;
  readonly temporalAddress?: string | undefined;
}

const settingsSchema = z.object({
  secretsKey: z.string(),
  adminToken: z.string(),
  account: z.string(),
  apiKey: z.string().optional(),
  apiUrl: z.string().optional(),
  simulatorUrl: z.string().optional(),
  mongodbUri: z.string().optional(),
  temporalAddress: z.string().optional(),
});

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
    'is damaged: it holds the keys of this data directory. Restore it, or start with another DATA_DIR.',
  ]);
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

import type { Environment } from '../config/environment.ts';
import { localSettingsPath, readLocalSettings } from '../config/local-settings.ts';
import { CommandError } from './command-error.ts';

/** The gateway whose operators' API a verb calls. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

type TargetEnvironment = Pick<Environment, 'HOST' | 'PORT' | 'PUBLIC_URL' | 'ADMIN_TOKEN' | 'DATA_DIR'>;

/**
 * `--url`, else PUBLIC_URL, else what local mode last listened on, else HOST and PORT. The token is ADMIN_TOKEN, else the
 * one that local mode made up in this DATA_DIR.
 */
export async function resolveTarget(
  environment: TargetEnvironment,
  url: string | undefined,
): Promise<Target> {
  const { HOST, PORT, PUBLIC_URL, ADMIN_TOKEN, DATA_DIR } = environment;
  const local = ADMIN_TOKEN === undefined ? await readLocalSettings(DATA_DIR) : undefined;
  const token = ADMIN_TOKEN ?? local?.adminToken;
  if (token === undefined) {
    throw new CommandError(
      `ADMIN_TOKEN is not set, and there is no ${localSettingsPath(DATA_DIR)}: set it to the token of the gateway, or DATA_DIR to that of "npm start".`,
    );
  }
  return { url: trimSlashes(url ?? PUBLIC_URL ?? local?.apiUrl ?? `http://${HOST}:${PORT}`), token };
}

function trimSlashes(url: string): string {
  if (!URL.canParse(url)) throw new CommandError(`"${url}" is no URL.`);
  return url.replace(/\/+$/, '');
}

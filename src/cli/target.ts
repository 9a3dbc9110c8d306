import type { Environment } from '../config/environment.ts';
import { localSettingsPath, readLocalSettings } from '../config/local-settings.ts';
import { CommandError } from './command-error.ts';

/** The gateway whose operators' API a command calls. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

type TargetEnvironment = Pick<
  Environment,
  'HOST' | 'PORT' | 'PUBLIC_URL' | 'ADMIN_TOKEN' | 'OPERATOR_TOKEN' | 'DATA_DIR'
>;

/**
 * Finds the gateway and the token. The address is the first of: `--url`, PUBLIC_URL, local mode's last address, and
 * HOST with PORT. The token is the first of: OPERATOR_TOKEN, ADMIN_TOKEN, and local mode's token in this DATA_DIR. An
 * ADMIN_TOKEN that local mode does not use belongs to another gateway.
 */
export async function resolveTarget(
  environment: TargetEnvironment,
  url: string | undefined,
): Promise<Target> {
  const { HOST, PORT, PUBLIC_URL, ADMIN_TOKEN, OPERATOR_TOKEN, DATA_DIR } = environment;
  const found = await readLocalSettings(DATA_DIR);
  const local = ADMIN_TOKEN === undefined || ADMIN_TOKEN === found?.adminToken ? found : undefined;
  const token = OPERATOR_TOKEN ?? ADMIN_TOKEN ?? local?.adminToken;
  if (token === undefined) {
    throw new CommandError(
      'usage',
      `OPERATOR_TOKEN and ADMIN_TOKEN are not set, and there is no ${localSettingsPath(DATA_DIR)}: set OPERATOR_TOKEN to your own token for the gateway, or DATA_DIR to that of "npm start".`,
    );
  }
  return { url: trimSlashes(url ?? PUBLIC_URL ?? local?.apiUrl ?? `http://${HOST}:${PORT}`), token };
}

function trimSlashes(url: string): string {
  if (!URL.canParse(url)) throw new CommandError('usage', `"${url}" is not a URL.`);
  return url.replace(/\/+$/, '');
}

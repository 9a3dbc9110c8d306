import type { Environment } from '../config/environment.ts';
import { localSettingsPath, readLocalSettings, runningApiUrl } from '../config/local-settings.ts';
import { CommandError } from './command-error.ts';

export interface Target {
  readonly url: string;
  readonly token: string;
}

type TargetEnvironment = Pick<
  Environment,
  'HOST' | 'PORT' | 'PUBLIC_URL' | 'ADMIN_TOKEN' | 'OPERATOR_TOKEN' | 'DATA_DIR'
>;

/**
 * The URL comes from `--url`, PUBLIC_URL, local mode while it runs, or HOST with PORT, in this order. The token comes
 * from OPERATOR_TOKEN, ADMIN_TOKEN, or local mode in this DATA_DIR, in this order. Local mode's token is sent only to
 * local mode's URL or to one that the operator has specified. An ADMIN_TOKEN that differs from local mode's belongs to
 * another gateway.
 */
export async function resolveTarget(
  environment: TargetEnvironment,
  url: string | undefined,
): Promise<Target> {
  const { HOST, PORT, PUBLIC_URL, ADMIN_TOKEN, OPERATOR_TOKEN, DATA_DIR } = environment;
  const found = await readLocalSettings(DATA_DIR);
  const local = ADMIN_TOKEN === undefined || ADMIN_TOKEN === found?.adminToken ? found : undefined;
  const given = OPERATOR_TOKEN ?? ADMIN_TOKEN;
  const token = given ?? local?.adminToken;
  if (token === undefined) {
    throw new CommandError(
      'usage',
      `OPERATOR_TOKEN and ADMIN_TOKEN are not set, and there is no ${localSettingsPath(DATA_DIR)}: set OPERATOR_TOKEN to your own token for the gateway, or DATA_DIR to that of "npm start".`,
    );
  }
  const localUrl = local && (await runningApiUrl(local));
  const address = url ?? PUBLIC_URL ?? localUrl ?? (given && `http://${HOST}:${PORT}`);
  if (address === undefined) {
    throw new CommandError(
      'usage',
      `The gateway that "npm start" started in ${DATA_DIR} is not running on this machine. Start it, or specify its URL with --url.`,
    );
  }
  return { url: trimSlashes(address), token };
}

export async function gatewayUrl(
  { HOST, PORT, PUBLIC_URL, DATA_DIR }: TargetEnvironment,
  url: string | undefined,
): Promise<string> {
  const local = await readLocalSettings(DATA_DIR);
  const localUrl = local && (await runningApiUrl(local));
  return trimSlashes(url ?? PUBLIC_URL ?? localUrl ?? `http://${HOST}:${PORT}`);
}

function trimSlashes(url: string): string {
  if (!URL.canParse(url)) throw new CommandError('usage', `"${url}" is not a URL.`);
  return url.replace(/\/+$/, '');
}

import { keyScopes } from '../base/key-scope.ts';
import { defined } from '../base/defined.ts';
import { request } from 'undici';
import { z } from 'zod';
import { LocalServerError } from './servers/local-options.ts';
import type { LocalSettings } from '../config/local-settings.ts';

const startCredit = '100.00';

interface Balance {
  readonly currency: string;
  readonly available: string;
  readonly held: string;
}

export interface FirstAccount {
  readonly apiKey: string;
  readonly balance: Balance;
}

/**
 * Creates the local account with a credit and a key, through the operators' API. The call can be repeated after an
 * interrupted start, because the credit's reference makes it idempotent. If the stored key is rejected, because it was
 * revoked or belongs to a different database, a new key is created.
 */
export async function makeAccount(settings: LocalSettings): Promise<FirstAccount> {
  const { account, apiKey } = settings;
  const known = apiKey === undefined ? undefined : await readBalance(settings, apiKey);
  if (apiKey !== undefined && known !== undefined) return { apiKey, balance: known };
  await admin(settings, '/accounts', { json: { id: account, name: 'Local account' }, tolerated: [409] });
  const credit = { amount: startCredit, reference: 'local-start' };
  await admin(settings, `/accounts/${account}/credits`, { json: credit });
  const created = await makeKey(settings);
  const balance = await readBalance(settings, created);
  if (balance === undefined) throw new LocalServerError('The API rejected the key that it had just created.');
  return { apiKey: created, balance };
}

async function readBalance({ apiUrl }: LocalSettings, apiKey: string): Promise<Balance | undefined> {
  const { status, body } = await call(`${apiUrl}/v1/balance`, apiKey);
  if (status === 401 || status === 403) return undefined;
  return z.object({ currency: z.string(), available: z.string(), held: z.string() }).parse(body);
}

async function makeKey(settings: LocalSettings): Promise<string> {
  const { body } = await admin(settings, '/keys', {
    json: { account: settings.account, name: 'local', scopes: keyScopes },
  });
  return z.object({ key: z.string() }).parse(body).key;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function admin(
  settings: LocalSettings,
  path: string,
  { json, tolerated = [] }: { readonly json?: object; readonly tolerated?: readonly number[] } = {},
): Promise<Answer> {
  const body = json === undefined ? '' : JSON.stringify(json);
  const answer = await call(`${settings.apiUrl}/admin/v1${path}`, settings.adminToken, body);
  if (answer.status < 300 || tolerated.includes(answer.status)) return answer;
  throw new LocalServerError(
    `The API responded with ${answer.status} to POST ${path}: ${JSON.stringify(answer.body)}`,
  );
}

async function call(url: string, token: string | undefined, body?: string): Promise<Answer> {
  const answer = await request(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined || body === '' ? {} : { 'content-type': 'application/json' }),
    },
    ...defined({ body }),
  });
  return { status: answer.statusCode, body: await answer.body.json() };
}

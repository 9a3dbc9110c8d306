import { z } from 'zod';
import type { ChannelConfig } from '../config/gateway-file.ts';
import { GatewayError } from '../errors/errors.ts';
import { parseMicros, sixPlaces } from '../money/money.ts';
import { isPlain, isToken, mustBePlain } from '../base/plain-text.ts';
import type { Catalogue } from '../routing/catalogue.ts';
import { planCharactersMax } from '../operating/act-fields.ts';
import { needsPlan, type OperatorActionName } from '../operating/acts.ts';
import { queryNumber } from './query-fields.ts';
import type { Account, AccountStore } from '../store/accounts.ts';
import type { ApiKey, KeyStore } from '../store/keys.ts';

const pageSizeMax = 100;
const pageSizeDefault = 20;
const accountCharactersMax = 64;
const nameCharactersMax = 128;
const reasonCharactersMax = 500;
const bulkCharactersMax = 64;
export const keyIdCharacters = 16;

/**
 * Accepts text written by operators. Invalid text is rejected rather than cleaned up, so the stored text is exactly
 * what was written.
 */
export function plainWords(charactersMax: number) {
  return z.string().max(charactersMax).refine(isPlain, mustBePlain);
}

export const displayName = plainWords(nameCharactersMax).default('');

export const reason = plainWords(reasonCharactersMax).min(1);
export const optionalReason = plainWords(reasonCharactersMax).default('');

export const pageSize = queryNumber(z.int().min(1).max(pageSizeMax).default(pageSizeDefault));

export const accountId = z
  .string()
  .max(accountCharactersMax)
  .refine(
    (id) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id),
    'may contain only letters, digits, dots, dashes and underscores',
  );

export const accountParams = z.object({ account: z.string().min(1) });

export const money = z
  .string()
  .refine(
    (text) => parseMicros(text) !== undefined,
    'must be a decimal string with at most 6 places, such as "12.50"',
  )
  .transform((text) => parseMicros(text) ?? 0n);

export const refundAmount = z
  .string()
  .refine(
    (amount) => (parseMicros(amount) ?? 0n) > 0n,
    'must be a positive decimal string with at most 6 places, such as "0.50"',
  )
  .transform(sixPlaces)
  .optional()
  .meta({ description: 'The amount as a decimal string. Defaults to the whole charge.' });

export const actPlan = z
  .string()
  .max(planCharactersMax)
  .refine((plan) => isToken(plan, planCharactersMax), 'must be the `plan` of a dry run')
  .optional()
  .meta({
    description:
      'The `plan` from a dry run of this action. The action is rejected if the task has changed since then or the fields differ.',
  });

export const bulkId = z
  .string()
  .min(8)
  .max(bulkCharactersMax)
  .refine((id) => isToken(id, bulkCharactersMax), 'must be a token')
  .optional()
  .meta({
    description:
      'Groups actions on multiple tasks. An operator’s actions with the same `bulk`, name, reason and fields become one audit log entry, with an item for each task (1,000 at most).',
  });

export const isDryRun = z.boolean().optional().meta({
  description: 'If true, nothing is changed. The response says what would happen and contains a `plan`.',
});

/** Requires a plan for actions that move money or risk double billing. */
export function requirePlan(
  action: OperatorActionName,
  { plan, dry_run: dryRun }: { readonly plan?: string | undefined; readonly dry_run?: boolean | undefined },
  context: z.RefinementCtx,
): void {
  if (!needsPlan(action) || dryRun === true || plan !== undefined) return;
  const message = `is required for ${action}: send the action with \`dry_run\` first, then with the \`plan\` from the response`;
  context.addIssue({ code: 'custom', path: ['plan'], message });
}

export async function findAccount(
  accounts: Pick<AccountStore, 'find'>,
  id: string,
  param = 'account',
): Promise<Account> {
  const account = await accounts.find(id);
  if (account === undefined) {
    throw new GatewayError('account_not_found', `There is no account ${id.slice(0, accountCharactersMax)}.`, {
      param,
    });
  }
  return account;
}

export const keyParams = z.object({ key: z.string().min(1) });

export async function findKey(keys: Pick<KeyStore, 'find'>, id: string): Promise<ApiKey> {
  const key = await keys.find(id);
  if (key === undefined) throw keyNotFound();
  return key;
}

export function keyNotFound(): GatewayError {
  return new GatewayError('key_not_found', 'There is no key with this id.', { param: 'key' });
}

export const channelParams = z.object({ channel: z.string().min(1) });

export function findChannel(catalogue: Pick<Catalogue, 'channel'>, id: string): ChannelConfig {
  const channel = catalogue.channel(id);
  if (channel === undefined) {
    throw new GatewayError('channel_not_found', 'There is no channel with this id.', { param: 'channel' });
  }
  return channel;
}

import { fieldChanges } from '../../base/field-changes.ts';
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { accountDeleted, invalidParameter } from '../../errors/errors.ts';
import { noFactors, parseFactor, type PriceFactors } from '../../money/price-factors.ts';
import { accountParams, findAccount, reason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { accountSchema, presentAccount } from '../presenters/account.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

const modelsMax = 200;

const factor = z
  .string()
  .refine(
    (text) => parseFactor(text) !== undefined,
    'must be a decimal string from 0 to 100 with at most 6 places, such as "0.9"',
  )
  .transform((text) => parseFactor(text) ?? '1');

const body = z.object({
  factor: factor.default('1').meta({ description: 'The factor for all models that `models` does not list.' }),
  models: z
    .array(z.object({ model: z.string().min(1), factor }))
    .max(modelsMax)
    .default([])
    .meta({ description: 'Models with their own factor instead of the general one.' }),
  reason,
});

type Deps = Pick<RouteDeps, 'accounts' | 'catalogue' | 'ledger' | 'now'>;

export function setPriceFactors({ accounts, catalogue, ledger, now }: Deps): Route {
  return settingRoute({
    operationId: 'setPriceFactors',
    access: 'money',
    summary: 'Set the price factors of an account',
    description:
      'A task’s charge, hold and estimate are multiplied by its account’s factor: `0.9` is a ten per cent discount. The factor is frozen with the hold, so tasks in flight keep theirs. The request replaces all of the account’s factors. Takes effect on every node within five seconds.',
    method: 'post',
    paths: ['/admin/v1/accounts/:account/price-factors'],
    input: z.object({ params: accountParams, body }),
    success: { description: 'The account.', schema: accountSchema },
    errors: ['account_not_found', 'action_not_possible'],
    async handle({ params, body: { factor: all, models, reason: why }, operator: by }) {
      const { id, priceFactors: before } = await findAccount(accounts, params.account);
      requireModels(models, { catalogue, before });
      const factors: PriceFactors = {
        models: new Map(models.map((one) => [one.model, one.factor])),
        ...defined({ all: all === '1' ? undefined : all }),
      };
      const action = `price factors ${textOf(before)} → ${textOf(factors)}`;
      const change = { at: now(), by, action, reason: why };
      if (!(await accounts.setPriceFactors(id, factors, change))) throw accountDeleted(id);
      const account = await findAccount(accounts, id);
      const reply = jsonReply(presentAccount(account, await ledger.balance(id)));
      return { reply, changes: fieldChanges(fieldsOf(before), fieldsOf(factors)) };
    },
  });
}

interface Known {
  readonly catalogue: Deps['catalogue'];
  readonly before: PriceFactors | undefined;
}

/** Unknown models are allowed if they already have a factor, because a factor can outlive its model's configuration. */
function requireModels(
  models: readonly { readonly model: string }[],
  { catalogue, before = noFactors }: Known,
): void {
  const known = new Set([...catalogue.current().models.map(({ id }) => id), ...before.models.keys()]);
  const named = new Set<string>();
  for (const [index, { model }] of models.entries()) {
    if (!known.has(model))
      throw invalidParameter(
        `models[${index}].model`,
        `The configuration has no model ${model}, and it has no factor yet.`,
      );
    if (named.has(model))
      throw invalidParameter(`models[${index}].model`, 'Each model must be listed only once.');
    named.add(model);
  }
}

function fieldsOf({ all = '1', models }: PriceFactors = noFactors) {
  return { factor: all, ...Object.fromEntries([...models].map(([model, own]) => [`models.${model}`, own])) };
}

/** Formats factors as in `0.9, clip-1 0.8`. */
function textOf({ all = '1', models }: PriceFactors = noFactors): string {
  return [all, ...[...models].map(([model, own]) => `${model} ${own}`)].join(', ');
}

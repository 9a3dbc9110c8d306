import { z } from 'zod';
import { GatewayError } from '../../errors/errors.ts';
import { formatMicros } from '../../money/money.ts';
import type { Account } from '../../store/accounts.ts';
import { accountParams, findAccount, reason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'accounts' | 'keys' | 'tasks' | 'ledger' | 'now'>;

const body = z.object({
  reason,
  dry_run: z
    .boolean()
    .default(false)
    .meta({ description: 'If true, the response says what would be removed, and nothing is changed.' }),
});

const schema = z
  .object({
    object: z.literal('account.deletion'),
    account: z.string(),
    begun: z.boolean(),
    obstacles: z
      .array(z.string())
      .meta({ description: 'The reasons why the account cannot be deleted now.' }),
    removes: z.object({ keys: z.int(), tasks: z.int() }),
    keeps: z.object({ ledger_entries: z.int() }),
  })
  .meta({ id: 'AccountDeletion' });

export function deleteAccount({ accounts, keys, tasks, ledger, now }: Deps): Route {
  return adminRoute({
    operationId: 'deleteAccount',
    access: 'admin',
    summary: 'Delete a closed account',
    description:
      'Removes the account’s keys, its tasks with their requests, exchanges and our copies of results, its alert, its name and what operators wrote about it. The ledger, with the ids of end users, and the record of the deletion are kept. The reconciler removes the data, beginning twenty minutes after the account was closed. `GET /admin/v1/accounts/{account}` shows when the deletion is complete. The deletion cannot be undone.',
    method: 'post',
    paths: ['/admin/v1/accounts/:account/delete'],
    input: z.object({ params: accountParams, body }),
    success: { description: 'What is removed and what is kept.', schema },
    errors: ['account_not_found', 'action_not_possible'],
    async handle({ params, body: { reason: why, dry_run }, operator: by }) {
      const account = await findAccount(accounts, params.account);
      const { id } = account;
      const [count, keyCount, { seq, held }] = await Promise.all([
        tasks.countOf(id),
        keys.countOf(id),
        ledger.balance(id),
      ]);
      const obstacles = obstaclesOf(account, { unfinished: count.unfinished, held });
      const begun = !dry_run && obstacles.length === 0 && (await begin());
      if (!dry_run && !begun) {
        const why409 =
          obstacles.length === 0
            ? 'It changed during this request. Repeat the dry run.'
            : obstacles.join(' ');
        throw new GatewayError('action_not_possible', `The account ${id} cannot be deleted. ${why409}`);
      }
      return jsonReply({
        object: 'account.deletion',
        account: id,
        begun,
        obstacles,
        removes: { keys: keyCount, tasks: count.all },
        keeps: { ledger_entries: Number(seq) },
      });

      function begin(): Promise<boolean> {
        return accounts.beginDeletion(id, { by, reason: why, requestedAt: now() });
      }
    },
  });
}

function obstaclesOf(
  { closedAt, deletion }: Account,
  { unfinished, held }: { readonly unfinished: number; readonly held: bigint },
): string[] {
  const obstacles: string[] = [];
  if (closedAt === undefined) obstacles.push('It is not closed.');
  if (deletion !== undefined) obstacles.push('It is already being deleted, or has been deleted.');
  if (unfinished > 0) obstacles.push(`Unfinished tasks: ${unfinished}.`);
  if (held > 0n) obstacles.push(`${formatMicros(held)} is held.`);
  return obstacles;
}

import { z } from 'zod';
import { isPlain, mustBePlain } from '../../base/plain-text.ts';
import { taskNamings } from '../../task/task.ts';
import type { RouteDeps } from '../deps.ts';
import { adminTaskSchema, presentAdminTask } from '../presenters/admin-task.ts';
import { ledgerEntrySchema, presentLedgerEntry } from '../presenters/ledger-entry.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'tasks' | 'ledger' | 'mediaUrl' | 'nodes' | 'accounts' | 'keys' | 'catalogue'>;

const otherKinds = ['account', 'key', 'model', 'channel'] as const;
const othersMax = 20;

export function findTasks(deps: Deps): Route {
  const { tasks, ledger, mediaUrl, nodes } = deps;
  return adminRoute({
    operationId: 'findTasks',
    access: 'read',
    summary: 'Find what an id, a name or an error belongs to',
    method: 'get',
    paths: ['/admin/v1/find'],
    input: z.object({
      query: z.object({
        text: z.string().trim().min(1).max(300).refine(isPlain, mustBePlain).meta({
          description:
            'One of these: the id of a task (which is the `webhook-id` of its callbacks), of images, of the request that created a task or of an upstream’s job; the marker of a submission; the beginning of a word in the name of an account or a key; a part of the name of a model or a channel. Eight characters of an id are enough: any part of the id of a task, an account or a key, or the beginning of another id. If no task has such an id or marker, tasks are found by the text of their failures. Every word of the text must then occur as a whole word in a task’s messages and codes.',
        }),
      }),
    }),
    success: {
      description: 'Empty lists if nothing was found.',
      schema: z.object({
        object: z.literal('list'),
        data: z.array(z.object({ found_by: z.enum(taskNamings), task: adminTaskSchema })).meta({
          description:
            'At most 20 for each kind of id. `error`: the newest tasks whose failures contain all of the words. Only the newest 2,000 tasks that contain the longest word are searched.',
        }),
        ledger: z.array(ledgerEntrySchema).meta({
          description: 'The ledger entries of the task or the synchronous images with this id.',
        }),
        others: z
          .array(
            z.object({ kind: z.enum(otherKinds), id: z.string(), name: z.string(), account: z.string() }),
          )
          .meta({
            description: `Everything else that was found, at most ${othersMax} of each kind. \`account\` is the account of a key, and otherwise empty.`,
          }),
      }),
    },
    async handle({ query: { text }, roles }) {
      const [named, entries, others] = await Promise.all([
        tasks.findNamed(text),
        ledger.entriesOfTask(text),
        findOthers(text, deps),
      ]);
      return jsonReply({
        object: 'list',
        data: named.map(({ by, task }) => ({
          found_by: by,
          task: presentAdminTask(task, { mediaUrl, roles, nodes }),
        })),
        ledger: entries.map(presentLedgerEntry),
        others,
      });
    },
  });
}

async function findOthers(text: string, { accounts, keys, catalogue }: Deps) {
  const [foundAccounts, foundKeys] = await Promise.all([
    accounts.search(text, othersMax),
    keys.search(text, othersMax),
  ]);
  const { models, channels } = catalogue.current();
  const configured = (kind: (typeof otherKinds)[number], ids: readonly string[]) =>
    ids
      .filter((id) => id.toLowerCase().includes(text.toLowerCase()))
      .slice(0, othersMax)
      .map((id) => ({ kind, id, name: id, account: '' }));
  return [
    ...foundAccounts.map(({ id, name }) => ({ kind: 'account' as const, id, name, account: '' })),
    ...foundKeys.map(({ id, name, account }) => ({ kind: 'key' as const, id, name, account })),
    ...configured(
      'model',
      models.map(({ id }) => id),
    ),
    ...configured(
      'channel',
      channels.map(({ id }) => id),
    ),
  ];
}

import { z } from 'zod';
import { sameText } from '../../access/api-keys.ts';
import { taskIdPattern } from '../../domain/ids.ts';
import { callbackBodyBytesMax, lenientBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { taskNotFound } from '../videos/own-task.ts';
import { jsonReply, openRoute } from '../route.ts';
import type { Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'requests' | 'tasks' | 'catalogue' | 'providers' | 'port' | 'log'>;

export function receiveUpstreamCallback(deps: Deps): Route {
  return openRoute({
    operationId: 'receiveUpstreamCallback',
    summary: 'An upstream says that it has news of a task',
    description:
      'On an address that is secret and belongs to one task. Only wakes the poller: the state always comes from a request of our own.',
    tag: 'Service',
    method: 'post',
    paths: ['/callbacks/upstream/:task_id/:token'],
    input: z.object({
      params: z.object({ task_id: z.string(), token: z.string() }),
      body: z.unknown(),
    }),
    readBody: lenientBody(callbackBodyBytesMax),
    success: { description: 'Taken note of.', schema: z.object({ status: z.literal('ok') }) },
    errors: ['task_not_found'],
    async handle({ params: { task_id, token }, body }) {
      const record = taskIdPattern.test(task_id) ? await deps.requests.find(task_id) : undefined;
      if (record === undefined || !sameText(token, record.callbackToken)) throw taskNotFound();
      if (await isNews(task_id, body, deps)) {
        // The upstream does not wait for Temporal; if the wake-up gets lost, the next poll sees the same news.
        deps.port
          .wake(task_id)
          .catch((err: unknown) => deps.log.warn({ err, task: task_id }, 'a wake-up got lost'));
      }
      return jsonReply({ status: 'ok' });
    },
  });
}

/** The adapter decides; a callback that comes before we know the channel may be the fastest job of all. */
async function isNews(id: string, body: unknown, { tasks, catalogue, providers }: Deps): Promise<boolean> {
  const task = await tasks.find(id);
  const channel = task?.channel === undefined ? undefined : catalogue.channel(task.channel);
  const provider = channel === undefined ? undefined : providers[channel.provider];
  const adapter = task?.kind === 'image' ? provider?.imageTask : provider?.video;
  return adapter?.parseCallback?.(body) ?? true;
}

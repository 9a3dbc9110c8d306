import { z } from 'zod';
import { sameText } from '../../access/tokens.ts';
import { callbackAddress } from '../../task/callback-address.ts';
import { defined } from '../../base/defined.ts';
import { taskIdPattern } from '../../base/ids.ts';
import { parseJson } from '../../base/parse-json.ts';
import type { CallbackNews, UpstreamCallback } from '../../providers/provider.ts';
import { taskProviderFor } from '../../routing/channels.ts';
import { callbackBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { taskNotFound } from '../videos/own-task.ts';
import { jsonReply, secretRoute, type RequestMeta, type Route } from '../route.ts';
import { timeLimit } from '../../process/running-time.ts';

type Deps = Pick<RouteDeps, 'requests' | 'tasks' | 'channels' | 'port' | 'log' | 'now' | 'publicUrl'>;

/** Limits the fetch of a vendor's public key, so that the callback's response is not delayed for long. */
const verifyMs = 3_000;

export function receiveUpstreamCallback(deps: Deps): Route {
  return secretRoute({
    operationId: 'receiveUpstreamCallback',
    summary: 'Notify the gateway that a task may have changed',
    description:
      'The URL is secret and belongs to one task. The notification only triggers a poll, because the gateway always requests the state itself.',
    tag: 'Service',
    method: 'post',
    paths: ['/callbacks/upstream/:task_id/:token'],
    input: z.object({
      params: z.object({ task_id: z.string(), token: z.string() }),
      body: z.unknown(),
    }),
    readBody: callbackBody,
    success: {
      description:
        '`{"status":"ok"}`, or the response that an upstream expects when it sends a challenge to the URL.',
      schema: z.looseObject({}),
    },
    errors: ['task_not_found'],
    async admit({ task_id, token }) {
      const record = taskIdPattern.test(task_id) ? await deps.requests.glance(task_id) : undefined;
      if (record === undefined || !sameText(token, record.callbackToken)) throw taskNotFound();
      return record;
    },
    async handle({ params: { task_id, token }, body, meta }) {
      const { publicUrl } = deps;
      const url = publicUrl === undefined ? undefined : callbackAddress(publicUrl, task_id, token);
      const callback = { ...toCallback(body, meta), ...defined({ url }) };
      const { ended, reply } = await readNews(task_id, callback, deps);
      if (ended) {
        // Do not make the upstream wait for Temporal. If the wake-up is lost, the next poll finds the same change.
        deps.port
          .wake(task_id)
          .catch((err: unknown) => deps.log.warn({ err, task: task_id }, 'a wake-up was lost'));
      }
      return jsonReply(reply ?? { status: 'ok' });
    },
  });
}

function toCallback(body: unknown, meta: RequestMeta): UpstreamCallback {
  const raw = body instanceof Uint8Array ? body : new Uint8Array();
  return { raw, header: (name) => meta.header(name), body: parseJson(Buffer.from(raw).toString('utf8')) };
}

/**
 * Returns what the callback says about the job. If no adapter is known, the callback is treated as news, because it may
 * have arrived before the submission's response.
 */
async function readNews(id: string, callback: UpstreamCallback, deps: Deps): Promise<CallbackNews> {
  const task = await deps.tasks.find(id);
  // If the callback arrived before the submission's response, only the attempt records where the job was sent.
  const sent = task?.channel === undefined ? task?.attempts.at(-1) : task;
  const channel = sent?.channel === undefined ? undefined : deps.channels(sent.channel);
  if (task === undefined || channel === undefined) return { ended: true };
  const adapter = taskProviderFor(channel.provider, task.kind);
  if (adapter?.verifyCallback !== undefined) {
    const context = channel.context(sent?.credential ?? '', task.model, timeLimit(verifyMs));
    const isGenuine = await adapter
      .verifyCallback(callback, { ...context, now: deps.now() })
      // A callback that cannot be verified is treated as genuine. It is only a hint and costs one poll.
      .catch(() => true);
    if (!isGenuine) {
      deps.log.warn({ task: id, channel: sent?.channel }, 'a callback with a wrong signature was ignored');
      return { ended: false };
    }
  }
  return adapter?.parseCallback?.(callback) ?? { ended: true };
}

import { z } from 'zod';
import { GatewayError } from '../../errors/errors.ts';
import type { RouteDeps } from '../deps.ts';
import { jsonReply, openRoute, type Route } from '../route.ts';
import { createSharedRead } from '../../base/shared-read.ts';
import { withTimeout } from '../with-timeout.ts';

type Deps = Pick<RouteDeps, 'port' | 'pingMongo' | 'isDraining' | 'isProxied' | 'now' | 'unreachableLinks'>;

const checkTimeoutMs = 3_000;
const retrySeconds = 5;
const keptMs = 250;

const warningSchema = z.object({
  duty: z.enum(['creates', 'tasks', 'links', 'addresses']).meta({
    description:
      '`creates`: new tasks are rejected with 503. `tasks`: new tasks are accepted but wait. `links`: links to stored results and files work on this machine only. `addresses`: all callers behind a proxy share the limits of the proxy’s address.',
  }),
  message: z.string(),
});

type Warning = z.output<typeof warningSchema>;

export function readyz(deps: Deps): Route {
  const look = createSharedRead(() => lookAt(deps), { ms: keptMs, now: deps.now });
  return openRoute({
    operationId: 'readyz',
    summary: 'Check that this process can serve requests',
    description:
      'The process is ready as long as MongoDB responds. `warnings` lists what the process currently cannot do.',
    tag: 'Service',
    method: 'get',
    paths: ['/readyz'],
    input: z.object({}),
    success: {
      description: 'The process can serve requests.',
      schema: z.object({ status: z.literal('ready'), warnings: z.array(warningSchema) }),
    },
    async handle() {
      if (deps.isDraining()) throw notReady('shutting down');
      const { mongodb, warnings } = await look();
      if (mongodb !== undefined) throw notReady('mongodb', mongodb.cause);
      return jsonReply({ status: 'ready', warnings: [...warnings] });
    },
  });
}

function notReady(missing: string, cause?: unknown): GatewayError {
  return new GatewayError('service_unavailable', `Not ready: ${missing}.`, {
    retryAfterSeconds: retrySeconds,
    cause,
  });
}

interface Looked {
  readonly mongodb?: { readonly cause: unknown };
  readonly warnings: readonly Warning[];
}

async function lookAt({ port, pingMongo, unreachableLinks, isProxied }: Deps): Promise<Looked> {
  const [mongodb, warnings] = await Promise.all([
    withTimeout(pingMongo(), 'mongodb', checkTimeoutMs).then(
      () => ({}),
      (cause: unknown) => ({ mongodb: { cause } }),
    ),
    withTimeout(port.unpolledQueues(), 'temporal', checkTimeoutMs).then(unpolledWarnings, () => [
      temporalWarning,
    ]),
  ]);
  const links: Warning[] =
    unreachableLinks === undefined ? [] : [{ duty: 'links', message: unreachableLinks }];
  const addresses = isProxied() ? [proxyWarning] : [];
  return { ...mongodb, warnings: [...warnings, ...links, ...addresses] };
}

const proxyWarning: Warning = {
  duty: 'addresses',
  message:
    'Requests arrive with x-forwarded-for, but TRUSTED_PROXIES is empty, so all callers behind the proxy share the limits of its address. Set TRUSTED_PROXIES to the networks of the proxies.',
};

const temporalWarning: Warning = { duty: 'creates', message: 'Temporal does not respond.' };

function unpolledWarnings(queues: readonly string[]): Warning[] {
  return queues.length === 0 ? [] : [{ duty: 'tasks', message: `No worker polls ${queues.join(' and ')}.` }];
}

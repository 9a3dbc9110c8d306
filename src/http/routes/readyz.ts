import { z } from 'zod';
import { GatewayError } from '../../domain/errors.ts';
import type { RouteDeps } from '../deps.ts';
import { jsonReply, openRoute } from '../route.ts';
import type { Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'port' | 'pingMongo' | 'isDraining' | 'now'>;

const checkTimeoutMs = 3_000;
const retrySeconds = 5;
/** However often it is asked, the servers are asked once in this time. */
const keptMs = 1_000;

export function readyz(deps: Deps): Route {
  const missingNow = createMissing(deps);
  return openRoute({
    operationId: 'readyz',
    summary: 'Check that the gateway can create tasks',
    tag: 'Service',
    method: 'get',
    paths: ['/readyz'],
    input: z.object({}),
    success: {
      description: 'MongoDB and Temporal answer.',
      schema: z.object({ status: z.literal('ready') }),
    },
    errors: ['service_unavailable'],
    async handle() {
      const missing: readonly Missing[] = deps.isDraining()
        ? [{ name: 'shutting down' }]
        : await missingNow();
      if (missing.length === 0) return jsonReply({ status: 'ready' });
      throw new GatewayError(
        'service_unavailable',
        `Not ready: ${missing.map(({ name }) => name).join(', ')}.`,
        {
          retryAfterSeconds: retrySeconds,
          cause: missing[0]?.cause,
        },
      );
    },
  });
}

interface Missing {
  readonly name: string;
  readonly cause?: unknown;
}

type FindMissing = () => Promise<readonly Missing[]>;

/** Callers who come while the servers are asked, or shortly after, share the answer. */
function createMissing(deps: Deps): FindMissing {
  let found: Promise<readonly Missing[]> | undefined;
  let staleAt = Infinity;
  return () => {
    if (found !== undefined && deps.now() < staleAt) return found;
    staleAt = Infinity;
    found = findMissing(deps).finally(() => (staleAt = deps.now() + keptMs));
    return found;
  };
}

async function findMissing({ port, pingMongo }: Deps): Promise<readonly Missing[]> {
  const checks = [
    { name: 'mongodb', check: pingMongo },
    { name: 'temporal', check: () => port.checkReady() },
  ];
  const results = await Promise.all(
    checks.map(async ({ name, check }): Promise<readonly Missing[]> => {
      try {
        await withTimeout(check(), name);
        return [];
      } catch (cause) {
        return [{ name, cause }];
      }
    }),
  );
  return results.flat();
}

function withTimeout(check: Promise<void>, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${name} did not answer in ${checkTimeoutMs} ms`)),
      checkTimeoutMs,
    );
    check.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

import { z } from 'zod';
import { GatewayError } from '../../domain/errors.ts';
import type { RouteDeps } from '../deps.ts';
import { jsonReply, openRoute } from '../route.ts';
import type { Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'port' | 'pingMongo' | 'isDraining'>;

const checkTimeoutMs = 3_000;
const retrySeconds = 5;

export function readyz(deps: Deps): Route {
  return openRoute({
    operationId: 'readyz',
    summary: 'The gateway can create tasks',
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
      const missing = await findMissing(deps);
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

async function findMissing({ port, pingMongo, isDraining }: Deps): Promise<readonly Missing[]> {
  if (isDraining()) return [{ name: 'shutting down' }];
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

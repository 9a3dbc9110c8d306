import { afterEach, describe, expect, it } from 'vitest';
import type { RouteDeps } from '../../src/http/deps.ts';
import { createRoutes } from '../../src/http/routes/index.ts';
import { adminToken, useHttpWorld, videoBody } from '../support/http-world.ts';

const world = useHttpWorld('http_cross_origin');
const origin = 'https://app.example.com';

function allow(...origins: string[]): void {
  world.configure((yaml) => `${yaml}\nallowed_origins: ${JSON.stringify(origins)}\n`);
}
afterEach(() => world.configure());

const preflight = (path: string, method: string, from = origin) =>
  world.call('OPTIONS', path, {
    headers: {
      origin: from,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization, x-stainless-lang',
    },
  });

function operations() {
  const deps = { ...world.deps, now: Date.now } as unknown as RouteDeps;
  return createRoutes(deps).flatMap(({ method, paths, authentication }) =>
    paths.map((path) => ({
      path: path.replaceAll(/\{?[:*]\w+\}?/g, 'x'),
      method: method.toUpperCase(),
      isOpen: authentication === 'key',
    })),
  );
}

it('answers preflights of exactly the routes that a key opens', async () => {
  allow(origin);
  expect(operations().filter(({ isOpen }) => isOpen).length).toBeGreaterThan(40);
  expect(operations().filter(({ path }) => path.startsWith('/admin')).length).toBeGreaterThan(40);
  for (const { path, method, isOpen } of operations()) {
    const { status, headers } = await preflight(path, method);
    const answer = {
      status,
      origin: headers['access-control-allow-origin'],
      methods: headers['access-control-allow-methods'],
      headers: headers['access-control-allow-headers'],
      credentials: headers['access-control-allow-credentials'],
    };
    if (isOpen)
      expect([path, answer]).toEqual([
        path,
        { status: 204, origin, methods: method, headers: 'authorization, x-stainless-lang' },
      ]);
    else if (!path.startsWith('/media/')) expect([path, answer.origin]).toEqual([path, undefined]);
  }
});

it('answers no preflight if no origin is allowed', async () => {
  for (const { path, method, isOpen } of operations())
    if (isOpen) {
      const { status, headers } = await preflight(path, method);
      // Allow 404, because some paths exist only with a task id. Allow 429, because an IP address reaches its rate
      // limit after many requests.
      expect([path, status]).toEqual([path, expect.toBeOneOf([404, 405, 429])]);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
      expect(headers).not.toHaveProperty('vary');
    }
});

it.each(['https://other.example', 'https://app.example.com.evil.example', 'null'])(
  'answers no preflight from %s',
  async (from) => {
    allow(origin);
    const { headers } = await preflight('/v1/models', 'GET', from);
    expect(headers['vary']).toBe('origin');
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  },
);

describe('answers', () => {
  it('can be read by pages of the origin, with their headers', async () => {
    allow(origin);
    const account = await world.newAccount();
    const { status, headers } = await account.call('POST', '/v1/videos/generations', {
      body: videoBody,
      headers: { origin },
    });
    expect([status, headers['access-control-allow-origin'], headers['vary']]).toEqual([
      200,
      origin,
      'origin',
    ]);
    const exposed = headers['access-control-expose-headers']?.split(', ') ?? [];
    expect(exposed).toEqual(expect.arrayContaining(['x-request-id', 'retry-after', 'location']));
    const own = Object.keys(headers).filter(
      (name) => name.startsWith('x-') && name !== 'x-content-type-options',
    );
    expect(own.filter((name) => !exposed.includes(name))).toEqual([]);
  });

  it('can be read when they are errors', async () => {
    allow('*');
    const { status, headers } = await world.call('GET', '/v1/models', { headers: { origin } });
    expect([status, headers['access-control-allow-origin']]).toEqual([401, origin]);
  });

  it('to operators cannot be read by pages', async () => {
    allow('*');
    const { status, headers } = await world.call('GET', '/admin/v1/channels', {
      key: adminToken,
      headers: { origin },
    });
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });
});

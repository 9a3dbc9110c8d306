import { isRecord } from '../base/is-record.ts';
import { isHeldBack } from './answer-in-turn.ts';
import type { RequestListener } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { createPlaces } from '../base/places.ts';
import type { ClientTry } from '../commands/repeats.ts';
import { GatewayError } from '../errors/errors.ts';
import { taskIdPattern } from '../base/ids.ts';
import { createAddressLimit, type AddressLimit } from './address-limit.ts';
import { createBodyBudgets, type BodyAllowance } from './bodies/body-budget.ts';
import { recognise } from './connections.ts';
import { createClientAddress } from './client-address.ts';
import { createCrossOrigin } from './cross-origin.ts';
import type { AppDeps, RouteDeps } from './deps.ts';
import { readTarget } from './dialects/index.ts';
import { createIdentify, type Identify } from './identify.ts';
import { refusedTry, sentBy } from './client-try.ts';
import { enterTrace } from './enter-trace.ts';
import { closedSignal, createLostAnswers } from './lost-answers.ts';
import { concurrencyHeaders, createEnterKey, createRateLimit } from './rate-limit.ts';
import type { RequestLimits } from './request-limits.ts';
import { createRequestScope, type RequestState } from './request-scope.ts';
import { isProbe } from './route.ts';
import type { Identity, RawRequest, Reply, RequestMeta, Route } from './route.ts';
import { createRoutes } from './routes/index.ts';
import { createNearestRoute } from './nearest-route.ts';
import { createReadInTurn } from './read-in-turn.ts';
import { createTaskWatcher } from './task-watcher.ts';
import { taskNotFound } from './videos/own-task.ts';
import { withTimeout } from './with-timeout.ts';
import { whenSent, writeReply } from './write-reply.ts';
import { partialReadsMax } from './images/image-stream.ts';

export interface GatewayApp {
  readonly callback: () => RequestListener;
  readonly routes: readonly Route[];
  readonly inFlight: () => number;
  /** Reports "not ready" from now on, and closes each connection after its response. New requests are still served. */
  leave(): void;
  drain(): void;
}

type AppContext = Koa.ParameterizedContext<RequestState>;
type RouterContext = AppContext & { readonly params: unknown };

export const reportsMax = { name: 'reports', placesMax: 4, shareMax: 1 } as const;

export function createApp(deps: AppDeps): GatewayApp {
  let draining = false;
  const watcher = createTaskWatcher({
    findMany: (ids) => deps.tasks.findMany(ids),
    now: deps.now,
    onError: (err) => deps.log.warn({ err }, 'could not read the tasks of waiting requests'),
  });
  deps.metrics.setWaiting(() => watcher.waiting());
  const { limits } = deps;
  const admissions = createPlaces({
    name: 'creates',
    placesMax: limits.createsAtOnce,
    shareMax: limits.accountCreatesAtOnce,
  });
  const lostAnswers = createLostAnswers();
  const addressOf = createClientAddress(deps.trustedProxies, deps.now);
  const routeDeps = {
    ...deps,
    watcher,
    admissions,
    reports: createPlaces(reportsMax),
    partialReads: createPlaces(partialReadsMax),
    isProxied: () => addressOf.isProxied(),
    isDraining: () => draining,
  };
  const routes = createRoutes(routeDeps).map(createReadInTurn());
  const koa = new Koa<RequestState>();
  koa.silent = true;
  // This happens if the caller disconnects before the response is written.
  koa.on('error', (err: unknown) => deps.log.debug({ err }, 'could not write a response'));
  const addresses = createAddressLimit(limits.addressRequestsPerSecond, deps);
  koa.use(createRequestScope({ ...deps, addressOf, addresses, lostAnswers, isDraining: () => draining }));
  koa.use(readTarget);
  koa.use(createCrossOrigin(routes, () => deps.catalogue.current().allowed_origins));
  koa.use((context, next) => (isProbe(context.path) ? next() : deps.pace.use(next)));
  koa.use(createRouter(routes, { ...routeDeps, addresses }, limits).routes());
  koa.use(createRefuseUnknown(routes, addresses));
  const handle = koa.callback();
  let inFlight = 0;
  return {
    callback: () => (request, response) => {
      inFlight += 1;
      lostAnswers.begin(request);
      // Node warns about more than ten listeners, but a streamed response has thirteen for `close`.
      response.setMaxListeners(20);
      response.once('close', () => (inFlight -= 1));
      void handle(request, response);
    },
    routes,
    inFlight: () => inFlight,
    leave() {
      draining = true;
    },
    drain() {
      draining = true;
      watcher.release();
    },
  };
}

/** The time limit for identifying the caller and counting the request. MongoDB's own timeouts take 20 s or more. */
const admissionMs = 5_000;

function createRouter(
  routes: readonly Route[],
  deps: RouteDeps & { readonly addresses: AddressLimit },
  limits: RequestLimits,
): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true });
  const identify = createIdentify(deps);
  const limitRate = createRateLimit(deps, limits.keyRequestsPerMinute);
  const enterKey = createEnterKey(limits.keyConcurrentRequests);
  const answer = createAnswer({ identify, addresses: deps.addresses }, limits);
  for (const route of routes) {
    router[route.method]([...route.paths], async (context, next) => {
      if (route.only?.test(context.path) === false) return void (await next());
      context.state.operation = route.operationId;
      context.state.dialect = route.dialect;
      limitStrangers(route, context, deps.addresses);
      const identity = await withTimeout(identify(route, context), 'mongodb', admissionMs);
      noteSubject(context, identity);
      if (identity.kind !== 'none') context.state.span = enterTrace(route, context, deps);
      if (identity.kind !== 'key') return answer(route, { identity, context });
      const leave = enterKey(identity.caller.key);
      try {
        await withTimeout(limitRate(identity.caller, context), 'mongodb', admissionMs);
        return await answer(route, { identity, context });
      } catch (error) {
        const { account, key } = identity.caller;
        const refused = refusedTry(context, error);
        if (refused !== undefined) void deps.repeats.noteRefused({ account, key, ...refused });
        throw error;
      } finally {
        whenSent(context.res, leave);
      }
    });
  }
  return router;
}

function noteSubject({ state, params }: RouterContext, identity: Identity): void {
  if (identity.kind === 'admin') state.actor = identity.operator;
  if (identity.kind === 'key') {
    state.account = identity.caller.account;
    state.key = identity.caller.key;
  }
  const task = isRecord(params) ? params['task_id'] : undefined;
  if (typeof task === 'string' && taskIdPattern.test(task)) state.task = task;
}

type Answer = (route: Route, called: Called) => Promise<void>;

/**
 * Limits requests to public routes by IP address. All other routes check the credential first. Throws
 * rate_limit_exceeded.
 */
function limitStrangers(route: Route, context: RouterContext, addresses: AddressLimit): void {
  // Health checks are exempt, because a load balancer's checks and its callers' requests come from the same address.
  if (route.authentication !== 'none' || isProbe(route.operationId) || route.admit !== undefined) return;
  const { address } = context.state;
  if (route.isSigned?.(requestOf(context)) === true) recognise(context.req, `links ${address}`);
  else addresses.take(address);
}

async function admit(route: Route, context: RouterContext, addresses: AddressLimit) {
  try {
    const admitted = await route.admit?.(requestOf(context));
    if (admitted !== undefined) recognise(context.req, admitted.account);
    return admitted;
  } catch (error) {
    if (error instanceof GatewayError && error.status < 500) addresses.takeForWrong(context.state.address);
    throw error;
  }
}

function createAnswer(
  { identify, addresses }: { readonly identify: Identify; readonly addresses: AddressLimit },
  limits: RequestLimits,
): Answer {
  const budgets = createBodyBudgets(limits);
  const { uploadBytesPerSecondMin: bytesPerSecondMin } = limits;
  return async (route, called) => {
    const { readBody } = route;
    if (readBody === undefined) return runAndWrite(route, requestOf(called.context), called);
    const { identity, context } = called;
    const admitted = await admit(route, context, addresses);
    const account = admitted?.account ?? (identity.kind === 'key' ? identity.caller.account : '');
    const memory = budgets.memory[readBody.kind].open(account);
    const disk = budgets.disk.open(account);
    try {
      const body = await readBody.read(context, {
        memory,
        disk,
        bytesPerSecondMin,
        isHeldBack: () => isHeldBack(context.req),
      });
      try {
        const carried = admitted === undefined ? route : { ...route, run: admitted.run };
        const now = await withTimeout(identify(route, context), 'mongodb', admissionMs);
        await runAndWrite(carried, requestOf(context, { body, memory }), {
          identity: now,
          context,
        });
      } finally {
        await readBody.release?.(body);
      }
    } finally {
      whenSent(context.res, () => memory.release());
      disk.release();
    }
  };
}

interface ReadBody {
  readonly body?: unknown;
  readonly memory?: BodyAllowance;
}

function requestOf(context: RouterContext, read: ReadBody = {}): RawRequest {
  const { params, query } = context;
  return { params, query, body: read.body, meta: new ContextMeta(context, read) };
}

async function runAndWrite(route: Route, request: RawRequest, called: Called): Promise<void> {
  writeReply(called.context, await runRoute(route, request, called));
}

interface Called {
  readonly identity: Identity;
  readonly context: RouterContext;
}

async function runRoute(route: Route, request: RawRequest, { identity, context }: Called): Promise<Reply> {
  try {
    return await route.run(request, identity);
  } catch (error) {
    if (identity.kind === 'key') context.set({ ...concurrencyHeaders(identity.caller, error) });
    if (error instanceof GatewayError) context.state.errorStatus = route.statuses?.[error.code];
    throw error;
  }
}

/** A class, because closures would cost every request four more objects. */
class ContextMeta implements RequestMeta {
  readonly #context: AppContext;
  readonly #memory: BodyAllowance | undefined;

  constructor(context: AppContext, { memory }: ReadBody) {
    this.#context = context;
    this.#memory = memory;
  }

  get id(): string {
    return this.#context.state.requestId;
  }

  concerns(task: string): void {
    this.#context.state.task = task;
  }

  get path(): string {
    return this.#context.path;
  }

  get address(): string {
    return this.#context.state.address;
  }

  get isHead(): boolean {
    return this.#context.method === 'HEAD';
  }

  get traceparent(): string | undefined {
    return this.#context.state.span?.traceparent;
  }

  header(name: string): string | undefined {
    const value = this.#context.req.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  clientTry(): ClientTry {
    const context = this.#context;
    context.state.isTry = true;
    const whenLost = (work: () => void): void => context.state.lostAnswers.watch(context.res, work);
    return { ...sentBy(context.req), whenLost };
  }

  closed(): AbortSignal {
    return closedSignal(this.#context.res);
  }

  reserve(bytes: number): void {
    this.#memory?.reserve(bytes);
  }

  requireRoom(bytes: number): void {
    this.#memory?.requireRoom(bytes);
  }
}

interface MatchedLayer {
  readonly path: string | RegExp;
  readonly methods: readonly string[];
  readonly paramNames: readonly unknown[];
}

/**
 * Rejects requests that no route has handled, because the path is unknown or does not support the method. A literal
 * path such as `/estimate` is never read as an id.
 */
function createRefuseUnknown(routes: readonly Route[], addresses: AddressLimit) {
  const nearestTo = createNearestRoute(routes);
  const only = new Map(routes.flatMap((route) => route.paths.map((path) => [path, route.only] as const)));
  return (context: AppContext & { matched?: readonly MatchedLayer[] }): never => {
    addresses.take(context.state.address);
    const matched = context.matched ?? [];
    const isForeign = ({ path }: MatchedLayer): boolean =>
      typeof path === 'string' && only.get(path)?.test(context.path) === false;
    const layers = matched.filter((layer) => !isForeign(layer));
    const literal = layers.filter(({ paramNames }) => paramNames.length === 0);
    const methods = new Set((literal.length > 0 ? literal : layers).flatMap((layer) => layer.methods));
    if (methods.size === 0) {
      // Respond as for an unknown task: the route exists, but its task ids never have this form.
      if (matched.some((layer) => isForeign(layer) && layer.methods.includes(context.method)))
        throw taskNotFound();
      const nearest = nearestTo(context.path);
      const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
      throw new GatewayError('route_not_found', `No such route.${meant} GET /openapi.json lists all routes.`);
    }
    const allow = [...methods].join(', ');
    throw new GatewayError('method_not_allowed', `This route accepts ${allow}.`, { headers: { allow } });
  };
}

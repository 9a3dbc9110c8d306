import { defined } from '../base/defined.ts';
import { nameFieldOf } from '../base/field-in-message.ts';
import type { Buyer, Caller } from '../access/caller.ts';
import type { ChannelConfig, GatewayConfig, ModelConfig } from '../config/gateway-file.ts';
import { GatewayError } from '../errors/errors.ts';
import { ignoredFields } from '../models/consumption.ts';
import { lostMedia } from './lost-media.ts';
import { refuseUnread } from '../intake/warnings.ts';
import { isPricedBy } from '../money/price.ts';
import { factorFor, noFactors, type PriceFactors } from '../money/price-factors.ts';
import type { PlainFacts } from '../models/model-facts.ts';
import type { AskedRequest, GenerationRequest } from '../models/request.ts';
import { orderCandidates } from './order-candidates.ts';
import type { DroppedChannel, RouteCandidate } from '../task/candidates.ts';
import type { Fallback } from '../task/rescue.ts';
import type { GivenInput, RequestIssue } from '../providers/provider.ts';
import { capabilityFor, offerOf, type Capability, type Offers } from './capability.ts';
import { planFallback, type FallbackChannel } from './fallback.ts';
import { fitRequest, type Fitted } from './fit-request.ts';
import { callsOf, isUnmeasured, noInput } from './given-counts.ts';
import { planMeasured, type InputMedia } from './measured-plan.ts';
import { keyLimitIssue } from './key-limits.ts';
import { explainNoChannel, NoChannelError } from './no-channel.ts';
import { offeredModel, type OfferedModel } from './offered-model.ts';
import { pricePlan, type PlannedPrice } from './price-plan.ts';
import { providerOf, type KnownProviders } from './provider-of.ts';
import { quoteRequest, type ChannelPrice, type Quote } from './quote.ts';
import { createPermittedModels, isPermitted } from './permitted-models.ts';
import { servedModels, type ServedModelOrigin } from './served-models.ts';
import { plannedShape } from './size-shape.ts';
import type { VideoShape } from '../models/video-shapes.ts';

/**
 * Knows the models, channels and prices of the running configuration. It decides which channels can serve a request, in
 * which order, and at what maximum cost. Everything except `buyer` and `planMeasured` works from memory.
 */
export interface Catalogue {
  readonly current: () => GatewayConfig;
  models(caller: Caller): readonly ModelConfig[];
  offered(model: ModelConfig, caller: Caller & Partial<Buyer>): OfferedModel;
  model(id: string, caller: Caller): ModelConfig;
  buyer(caller: Caller): Promise<Buyer>;
  /**
   * Throws an error for the caller if no channel can serve the request. `given` contains the measurements of its media.
   */
  plan(request: AskedRequest, buyer: Buyer, given?: GivenInput): RoutePlan;
  /**
   * Like `plan`, but first replaces references to the account's own files with links, and measures the videos if their
   * length affects the price.
   */
  planMeasured(request: AskedRequest, buyer: Buyer): Promise<RoutePlan>;
  channel(id: string): ChannelConfig | undefined;
  served(): readonly ServedModelOrigin[];
}

export interface RoutePlan extends PlannedPrice {
  readonly request: GenerationRequest;
  readonly model: ModelConfig;
  readonly candidates: readonly RouteCandidate[];
  readonly serving: ReadonlyMap<string, Serving>;
  /** Where a task continues if its job fails upstream. If undefined, the task then fails too. */
  readonly fallback?: Fallback;
  readonly dropped: readonly DroppedChannel[];
  readonly currency: string;
  readonly shape?: VideoShape;
  readonly warnings: readonly string[];
  readonly pricesInput: boolean;
  readonly inputNeededBy: readonly string[];
}

export interface Serving {
  readonly facts: PlainFacts;
  readonly canWait: boolean;
}

export interface CatalogueOptions extends InputMedia, KnownProviders {
  readonly random: () => number;
  readonly outage?: (
    channel: ChannelConfig,
    credential: string,
    user: { readonly account: string; readonly model: string },
  ) => DroppedChannel | undefined;
  readonly factorsOf?: (account: string) => Promise<PriceFactors>;
  /** Whether a running worker would submit tasks to the channel. If undefined, every channel counts as served. */
  readonly isServed?: (channel: string) => boolean;
}

export function createCatalogue(options: CatalogueOptions): Catalogue {
  const { current } = options;
  const permitted = createPermittedModels(current);
  const known = new WeakMap<ModelConfig, { readonly config: GatewayConfig; readonly offers: Offers }>();
  const offersFor = (model: ModelConfig): Offers => {
    const config = current();
    const found = known.get(model);
    if (found?.config === config) return found.offers;
    const offers = offersOf(model, options);
    known.set(model, { config, offers });
    return offers;
  };
  const plan: Catalogue['plan'] = (request, buyer, given = {}) => {
    const model = permitted.model(request.model, buyer);
    return planRoute(request, buyer, { ...options, model, offers: offersFor(model), given });
  };
  return {
    current,
    models: permitted.models,
    offered: (model, caller) => {
      const offers = [...offersFor(model)].filter(([channel]) => isPermitted(channel, caller));
      const factor = caller.factors && factorFor(caller.factors, model.id);
      return { ...offeredModel(model, offers, current().currency), ...defined({ factor }) };
    },
    model: permitted.model,
    channel: (id) => current().channels.find((channel) => channel.id === id),
    served: () => servedModels(current(), (name) => providerOf(options, name)),
    buyer: async (caller) => ({
      ...caller,
      factors: (await options.factorsOf?.(caller.account)) ?? noFactors,
    }),
    plan,
    planMeasured: (request, buyer) => planMeasured(plan, { request, buyer }, options),
  };
}

function offersOf({ id, kind }: ModelConfig, options: CatalogueOptions): Offers {
  const offers = options.current().channels.flatMap((channel) => {
    const offer = offerOf(providerOf(options, channel.provider), kind, channel.models[id]);
    return offer === undefined ? [] : [[channel, offer] as const];
  });
  return new Map(offers);
}

interface PlanContext extends CatalogueOptions {
  readonly model: ModelConfig;
  readonly offers: Offers;
  readonly given: GivenInput;
}

interface PricedChannel extends Serving {
  readonly channel: ChannelConfig;
  readonly credentials: readonly string[];
  readonly quote: Quote;
  readonly pricesInput: boolean;
}

function planRoute(sent: AskedRequest, buyer: Buyer, context: PlanContext): RoutePlan {
  const { model } = context;
  if (sent.kind !== model.kind) {
    throw new GatewayError(
      'unsupported_parameter',
      `Model ${model.id} generates ${model.kind}s, not ${sent.kind}s.`,
      { param: 'model' },
    );
  }
  const { asked, request, warnings, nameOf } = fitRequest(sent, context);
  const { dropped, issues, limits, inService, waitedFor, considered } = considerAll(
    { request, buyer, nameOf },
    context,
  );
  // If no other channel can serve the request, a task can wait until an open circuit closes. A synchronous caller
  // cannot.
  const usable = inService.length > 0 ? inService : waitedFor;
  const [any] = usable;
  if (any === undefined)
    throw new NoChannelError(explainNoChannel(model, dropped, { issues, limits }), dropped);
  const byId = new Map(usable.map((entry) => [entry.channel.id, entry]));
  const candidates = orderCandidates(
    usable.map(({ channel, credentials }) => ({ ...channel, credentials })),
    context.random,
  );
  const fallback = fallbackOf(usable, considered, { request, model });
  const quotes = new Map(usable.map(({ channel, quote }) => [channel.id, quote]));
  for (const { channel } of fallback?.candidates ?? []) {
    const priced = considered.get(channel)?.priced;
    if (priced !== undefined) quotes.set(channel, priced.quote);
  }
  const first = quotes.get(candidates[0]?.channel ?? '') ?? any.quote;
  const unseen = usable.flatMap(({ facts }) => ignoredFields(asked, request, facts));
  const ignored = [...new Set([...warnings, ...unseen.map(nameOf)])];
  const useless = unseen.filter((name) => !endUserNames.has(name));
  if (asked.strict === true) refuseUnread([...warnings, ...useless.map(nameOf)]);
  return {
    request,
    model,
    candidates,
    serving: byId,
    ...defined({ fallback, shape: plannedShape(request, usable) }),
    dropped,
    ...pricePlan(quotes, { asked, request, model, first, ...context.given }, context.current().hash),
    currency: context.current().currency,
    warnings: ignored,
    pricesInput: [...considered.values()].some(({ priced }) => priced.pricesInput),
    inputNeededBy: [...considered].flatMap(([channel, { priced }]) => (needsInput(priced) ? [channel] : [])),
  };
}

function needsInput({ pricesInput, quote, facts }: PricedChannel): boolean {
  return pricesInput && facts.input_seconds_reported !== true && isPricedBy(quote.price, 'input_second');
}

interface Choice extends Pick<Fitted, 'request' | 'nameOf'> {
  readonly buyer: Buyer;
}

function considerAll({ request, buyer, nameOf }: Choice, context: PlanContext) {
  const dropped: DroppedChannel[] = [];
  const issues: RequestIssue[] = [];
  const limits: RequestIssue[] = [];
  const inService: PricedChannel[] = [];
  const waitedFor: PricedChannel[] = [];
  const considered = new Map<string, Considered>();
  for (const channel of context.current().channels) {
    const verdict = considerChannel(channel, { request, buyer }, context);
    if ('priced' in verdict) {
      considered.set(channel.id, verdict);
      if (verdict.priced.credentials.length > 0) inService.push(verdict.priced);
      if (verdict.priced.canWait && verdict.broken.length > 0)
        waitedFor.push({ ...verdict.priced, credentials: verdict.broken });
    }
    dropped.push(...verdict.dropped);
    const { issue, limit } = verdict;
    if (issue !== undefined) issues.push(nameFieldOf(issue, nameOf));
    if (limit !== undefined) limits.push(nameFieldOf(limit, nameOf));
  }
  return { dropped, issues, limits, inService, waitedFor, considered };
}

/** These fields identify the end user whose caps apply, so they matter even if no upstream receives them. */
const endUserNames = new Set(['metadata.safety_identifier', 'user']);

/**
 * Returns undefined unless every channel renders the request as a task. A synchronous image has no task that could move
 * to another channel.
 */
function fallbackOf(
  usable: readonly PricedChannel[],
  considered: ReadonlyMap<string, Considered>,
  { model, request }: Pick<PlanContext, 'model'> & Pick<Fitted, 'request'>,
): Fallback | undefined {
  if (!usable.every(({ channel }) => considered.get(channel.id)?.priced.canWait === true)) return undefined;
  const channels = new Map<string, FallbackChannel>();
  for (const [id, { priced, broken }] of considered) {
    channels.set(id, {
      credentials: [...priced.credentials, ...broken],
      canWait: priced.canWait,
    });
  }
  return planFallback(model, request, channels);
}

interface Dropped {
  readonly dropped: readonly DroppedChannel[];
  readonly issue?: RequestIssue;
  readonly limit?: RequestIssue;
}

interface Considered extends Dropped {
  readonly priced: PricedChannel;
  readonly broken: readonly string[];
}

type Verdict = Considered | Dropped;

function considerChannel(
  channel: ChannelConfig,
  { request, buyer }: { readonly request: GenerationRequest; readonly buyer: Buyer },
  context: PlanContext,
): Verdict {
  const drop = (reason: DroppedChannel['reason'], detail: string, issue?: RequestIssue): Dropped => ({
    dropped: [{ channel: channel.id, reason, detail }],
    ...defined({ issue }),
  });
  const served = channel.models[request.model];
  if (served === undefined) return drop('model_not_served', `does not list ${request.model}`);
  if (!channel.enabled) return drop('disabled', 'is switched off');
  if (!isPermitted(channel, buyer)) return drop('not_permitted', 'the key is not allowed to use the channel');
  const offer = context.offers.get(channel);
  const capability = offer === undefined ? undefined : capabilityFor(offer, request, context.given);
  if (capability === undefined)
    return drop('kind_not_served', `${channel.provider} does not generate ${request.kind}s`);
  if (capability.issue !== undefined) return drop('unsupported', capability.issue.message, capability.issue);
  const lost = lostMedia(request, capability.facts);
  if (lost !== undefined) return drop('unsupported', lost.message, lost);
  const { canWait } = capability;
  const { model } = context;
  const listed = { ...(served.price ?? model.price), isOwn: served.price !== undefined };
  const quoteBy = (
    { facts, estimateTokens, possible }: Capability,
    price: ChannelPrice,
    given = context.given,
  ) =>
    quoteRequest(request, {
      model,
      channel: channel.id,
      price,
      estimateTokens,
      possible,
      facts,
      given,
      calls: callsOf(request, facts, canWait),
    });
  const factor = factorFor(buyer.factors, model.id);
  const quote = quoteBy(capability, { ...listed, ...defined({ factor }) });
  if (quote === undefined) return drop('no_price', 'no price line matches the request');
  const limit = keyLimitIssue(request, quote, buyer);
  if (limit !== undefined) return { ...drop('not_permitted', limit.message), limit };
  // Checked last, because a channel that is out of service for now could otherwise serve the request later.
  if (canWait && context.isServed?.(channel.id) === false) return drop('no_worker', 'no worker serves it');
  const outages = channel.credentials.map(({ id }) => ({
    id,
    outage: context.outage?.(channel, id, { model: request.model, account: buyer.account }),
  }));
  const credentials = outages.filter(({ outage }) => outage === undefined).map(({ id }) => id);
  const broken = outages.filter(({ outage }) => outage?.reason === 'circuit_open').map(({ id }) => id);
  const dropped = dropsOf(outages);
  if (credentials.length + broken.length === 0) return { dropped };
  const unless = offer && isUnmeasured(request, context.given) && capabilityFor(offer, request, noInput);
  // Compares the worst cases before the account's factor is applied. Even if that factor is 0, the operator's costs
  // depend on the length.
  const pricesInput =
    typeof unless === 'object' &&
    quoteBy(unless, listed, noInput)?.worst.amount !== quoteBy(capability, listed)?.worst.amount;
  const { facts } = capability;
  return { priced: { channel, credentials, facts, canWait, quote, pricesInput }, broken, dropped };
}

function dropsOf(outages: readonly { readonly outage: DroppedChannel | undefined }[]): DroppedChannel[] {
  const byDetail = new Map<string, DroppedChannel>();
  for (const { outage } of outages) if (outage !== undefined) byDetail.set(outage.detail, outage);
  return [...byDetail.values()];
}

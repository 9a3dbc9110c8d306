import { defined } from '../base/defined.ts';
import type { Caller } from '../access/caller.ts';
import type { ChannelConfig, GatewayConfig, ModelConfig } from '../config/gateway-file.ts';
import { GatewayError } from '../errors/errors.ts';
import { consumptionOf, unconsumed, unconsumedOfImage } from '../models/consumption.ts';
import { lostMedia } from './lost-media.ts';
import { refuseUnread } from '../intake/warnings.ts';
import type { PlainFacts } from '../models/model-facts.ts';
import type { AskedRequest, GenerationRequest } from '../models/request.ts';
import { orderCandidates } from '../task/candidates.ts';
import type { DroppedChannel, RouteCandidate } from '../task/candidates.ts';
import type { Fallback } from '../task/rescue.ts';
import type { GivenInput, RequestIssue } from '../providers/provider.ts';
import { capabilityFor, offerOf } from './capability.ts';
import type { Capability, Offers } from './capability.ts';
import { planFallback } from './fallback.ts';
import type { FallbackChannel } from './fallback.ts';
import { fitRequest } from './fit-request.ts';
import type { Fitted } from './fit-request.ts';
import { callsOf, isUnmeasured, noInput } from './given-counts.ts';
import { planMeasured } from './measured-plan.ts';
import type { InputMedia } from './measured-plan.ts';
import { keyLimitIssue } from './key-limits.ts';
import { explainNoChannel, NoChannelError } from './no-channel.ts';
import { offeredModel } from './offered-model.ts';
import type { OfferedModel } from './offered-model.ts';
import { pricePlan } from './price-plan.ts';
import type { PlannedPrice } from './price-plan.ts';
import { providerOf } from './provider-of.ts';
import type { KnownProviders } from './provider-of.ts';
import { quoteRequest } from './quote.ts';
import { createPermittedModels, isPermitted } from './permitted-models.ts';
import { servedModels } from './served-models.ts';
import type { ServedModelOrigin } from './served-models.ts';
import { plannedShape } from './size-shape.ts';
import type { VideoShape } from '../models/video-shapes.ts';
import type { Quote } from './quote.ts';

/**
 * Models, channels and prices of the running configuration: answers which channels can serve a request, in which order,
 * and what it costs at most. Reads nothing but memory.
 */
export interface Catalogue {
  readonly current: () => GatewayConfig;
  /** Only what the key may use. */
  models(caller: Caller): readonly ModelConfig[];
  /** Of its channels that the key may use. */
  offered(model: ModelConfig, caller: Caller): OfferedModel;
  /** Throws `model_not_found` (400) or `model_not_allowed` (403). */
  model(id: string, caller: Caller): ModelConfig;
  /** Throws the caller's error when no channel can serve the request. `given`: what was measured of its media. */
  plan(request: AskedRequest, caller: Caller, given?: GivenInput): RoutePlan;
  /** The same, with links in place of own files, and after videos were measured whose length has a price. */
  planMeasured(request: AskedRequest, caller: Caller): Promise<RoutePlan>;
  channel(id: string): ChannelConfig | undefined;
  /** Every model of every channel, with the origin of its facts. */
  served(): readonly ServedModelOrigin[];
}

export interface RoutePlan extends PlannedPrice {
  /** Fitted to the model: default duration filled in, unsupported fields left out. */
  readonly request: GenerationRequest;
  readonly model: ModelConfig;
  readonly candidates: readonly RouteCandidate[];
  /** How the channels of the candidates serve the request, by their ids. */
  readonly serving: ReadonlyMap<string, Serving>;
  /** Where a task goes whose job fails at its upstream; absent: nowhere. */
  readonly fallback?: Fallback;
  readonly dropped: readonly DroppedChannel[];
  readonly currency: string;
  /** What the video looks like; absent: it is open, or the plan is for images. */
  readonly shape?: VideoShape;
  /** Names of fields that were ignored. */
  readonly warnings: readonly string[];
  /** Some channel prices the length of the videos that the request gives, and it was not measured. */
  readonly pricesInput: boolean;
}

export interface Serving {
  /** Those that hold for the request. */
  readonly facts: PlainFacts;
  /** The channel renders the request as a task. */
  readonly canWait: boolean;
}

export interface CatalogueOptions extends InputMedia, KnownProviders {
  readonly random: () => number;
  /** Why a credential is out of service for a model at the moment; undefined: it is in service. */
  readonly outage?: (
    channel: ChannelConfig,
    credential: string,
    user: { readonly account: string; readonly model: string },
  ) => DroppedChannel | undefined;
  /** False: no living worker would submit its tasks. Absent: all are served. */
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
  const plan: Catalogue['plan'] = (request, caller, given = {}) => {
    const model = permitted.model(request.model, caller);
    return planRoute(request, caller, { ...options, model, offers: offersFor(model), given });
  };
  return {
    current,
    models: permitted.models,
    offered: (model, caller) => {
      const offers = [...offersFor(model)].filter(([channel]) => isPermitted(channel, caller));
      return offeredModel(model, offers, current().currency);
    },
    model: permitted.model,
    channel: (id) => current().channels.find((channel) => channel.id === id),
    served: () => servedModels(current(), (name) => providerOf(options, name)),
    plan,
    planMeasured: (request, caller) => planMeasured(plan, { request, caller }, options),
  };
}

/** Of all channels, those that are switched off too. */
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

function planRoute(sent: AskedRequest, caller: Caller, context: PlanContext): RoutePlan {
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
    { request, caller, nameOf },
    context,
  );
  // A task can wait for an open circuit to close if no other channel would accept it; a waiting caller cannot.
  const usable = inService.length > 0 ? inService : waitedFor;
  const [[any], [limit]] = [usable, limits];
  if (any === undefined && limit !== undefined)
    throw new GatewayError('key_not_allowed', limit.message, { param: limit.param });
  if (any === undefined) throw new NoChannelError(explainNoChannel(model, dropped, issues), dropped);
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
  const unseen = ignoredBy(usable, { asked, request });
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
  };
}

interface Choice extends Pick<Fitted, 'request' | 'nameOf'> {
  readonly caller: Caller;
}

function considerAll({ request, caller, nameOf }: Choice, context: PlanContext) {
  const dropped: DroppedChannel[] = [];
  const issues: RequestIssue[] = [];
  const limits: RequestIssue[] = [];
  const inService: PricedChannel[] = [];
  const waitedFor: PricedChannel[] = [];
  const considered = new Map<string, Considered>();
  for (const channel of context.current().channels) {
    const verdict = considerChannel(channel, { request, caller }, context);
    if ('priced' in verdict) {
      considered.set(channel.id, verdict);
      if (verdict.priced.credentials.length > 0) inService.push(verdict.priced);
      if (verdict.priced.canWait && verdict.broken.length > 0)
        waitedFor.push({ ...verdict.priced, credentials: verdict.broken });
    }
    dropped.push(...verdict.dropped);
    const { issue, limit } = verdict;
    if (issue !== undefined) issues.push({ ...issue, param: nameOf(issue.param) });
    if (limit !== undefined) limits.push({ ...limit, param: nameOf(limit.param) });
  }
  return { dropped, issues, limits, inService, waitedFor, considered };
}

/** These names have an effect even if no upstream receives them: the end user's caps apply. */
const endUserNames = new Set(['metadata.safety_identifier', 'safety_identifier', 'user']);

/** What some channel that may render the request would not send. */
function ignoredBy(
  usable: readonly PricedChannel[],
  { asked, request }: { readonly asked: AskedRequest; readonly request: GenerationRequest },
): string[] {
  return usable.flatMap(({ facts }) => {
    if (request.kind === 'image') return unconsumedOfImage(request, facts);
    return asked.kind === 'image' ? [] : unconsumed(asked, request, consumptionOf(facts));
  });
}

/** Images that are answered at once have no task that could continue elsewhere. */
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
  /** The reason why the request exceeds its key's limits. */
  readonly limit?: RequestIssue;
}

interface Considered extends Dropped {
  /** With the credentials that are in service; perhaps none. */
  readonly priced: PricedChannel;
  /** Credentials with an open circuit. */
  readonly broken: readonly string[];
}

type Verdict = Considered | Dropped;

function considerChannel(
  channel: ChannelConfig,
  { request, caller }: { readonly request: GenerationRequest; readonly caller: Caller },
  context: PlanContext,
): Verdict {
  const drop = (reason: DroppedChannel['reason'], detail: string, issue?: RequestIssue): Dropped => ({
    dropped: [{ channel: channel.id, reason, detail }],
    ...defined({ issue }),
  });
  const served = channel.models[request.model];
  if (served === undefined) return drop('model_not_served', `does not list ${request.model}`);
  if (!channel.enabled) return drop('disabled', 'is switched off');
  if (!isPermitted(channel, caller)) return drop('not_permitted', 'the key may not use it');
  const offer = context.offers.get(channel);
  const capability = offer === undefined ? undefined : capabilityFor(offer, request, context.given);
  if (capability === undefined)
    return drop('kind_not_served', `${channel.provider} makes no ${request.kind}s`);
  if (capability.issue !== undefined) return drop('unsupported', capability.issue.message, capability.issue);
  const lost = lostMedia(request, capability.facts);
  if (lost !== undefined) return drop('unsupported', lost.message, lost);
  const { canWait } = capability;
  if (canWait && context.isServed?.(channel.id) === false) return drop('no_worker', 'no worker serves it');
  const outages = channel.credentials.map(({ id }) => ({
    id,
    outage: context.outage?.(channel, id, { model: request.model, account: caller.account }),
  }));
  const credentials = outages.filter(({ outage }) => outage === undefined).map(({ id }) => id);
  const broken = outages.filter(({ outage }) => outage?.reason === 'circuit_open').map(({ id }) => id);
  const dropped = dropsOf(outages);
  if (credentials.length + broken.length === 0) return { dropped };
  const price = { ...(served.price ?? context.model.price), isOwn: served.price !== undefined };
  const { model } = context;
  const quoteBy = ({ facts, estimateTokens, possible }: Capability, given = context.given) =>
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
  const quote = quoteBy(capability);
  if (quote === undefined) return drop('no_price', 'no line of the price holds for the request');
  const limit = keyLimitIssue(request, quote, caller);
  if (limit !== undefined) return { ...drop('not_permitted', limit.message), limit };
  const unless = offer && isUnmeasured(request, context.given) && capabilityFor(offer, request, noInput);
  const pricesInput =
    typeof unless === 'object' && quoteBy(unless, noInput)?.worst.amount !== quote.worst.amount;
  const { facts } = capability;
  return { priced: { channel, credentials, facts, canWait, quote, pricesInput }, broken, dropped };
}

/** A switch concerns all credentials alike: it is reported once. */
function dropsOf(outages: readonly { readonly outage: DroppedChannel | undefined }[]): DroppedChannel[] {
  const byDetail = new Map<string, DroppedChannel>();
  for (const { outage } of outages) if (outage !== undefined) byDetail.set(outage.detail, outage);
  return [...byDetail.values()];
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { RoutePlan } from '../routing/catalogue.ts';
import type { Channels } from '../routing/channels.ts';
import { defined } from '../domain/defined.ts';
import { GatewayError, serviceUnavailable } from '../domain/errors.ts';
import { formatMicros } from '../domain/money.ts';
import type { Settlement } from '../domain/price.ts';
import type { ImageRequest } from '../domain/request.ts';
import type { RouteCandidate } from '../domain/routing.ts';
import type { LedgerEntry } from '../ledger/entry.ts';
import type { SettledFacts } from '../domain/settled-facts.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Logger } from '../observability/log.ts';
import { UpstreamError } from '../providers/provider.ts';
import type { ChannelAnswer, ChannelCall, Delivery } from './call-channel.ts';
import { chargeImages } from './charge-images.ts';
import type { ImageConverter } from './convert.ts';
import { explainFailure, mayBeAccepted } from './explain-failure.ts';
import type { ImageGate } from '../capacity/image-gate.ts';
import type { ImageLeases, WatchedImage } from './leases/image-leases.ts';

export interface GenerateDeps {
  readonly channels: Channels;
  readonly ledger: Pick<Ledger, 'hold' | 'settle' | 'release'>;
  readonly imageLeases: ImageLeases;
  /** Micro-units by which an account may go below zero. Throws account_closed. */
  readonly overdraftLimit: (account: string) => Promise<bigint>;
  readonly log: Logger;
  readonly gate: ImageGate;
  /** `callChannel` of call-channel.ts, for an image. */
  readonly call: CallForImage;
}

export type CallForImage = (image: string, call: ChannelCall) => Promise<ChannelAnswer>;

export interface GenerateCommand {
  /** `img_…`: the task of its ledger entries. */
  readonly image: string;
  readonly account: string;
  readonly request: ImageRequest;
  readonly plan: RoutePlan;
  readonly converter: ImageConverter;
  /** Gives what arrived the form that was asked for. Throws GatewayError if nothing of it has one. */
  readonly inForm: (delivery: Delivery) => Promise<Delivery>;
  /** Keeps the answer before it is paid for; absent: it cannot be requested again. */
  readonly keep?: (delivery: Delivery) => Promise<void>;
  readonly traceparent?: string;
}

/**
 * Renders images while the caller waits: hold, upstream, settle, under the lease of this process. Resolves with what
 * arrived, paid for; throws GatewayError with nothing charged. A caller who disconnects changes nothing: what the
 * upstream delivers is charged.
 */
export function createGenerate(deps: GenerateDeps): (command: GenerateCommand) => Promise<Delivery> {
  const { ledger, log } = deps;

  return async (command) => {
    const { image: task, account, plan } = command;
    const overdraftLimit = await deps.overdraftLimit(account);
    // Before anything is held: an image that cannot be fetched is the caller's mistake.
    const prepared = await prepareFirst(command, deps);
    const watched = await deps.imageLeases.watch(task);
    let fate: 'open' | 'closed' | 'promised' = 'open';
    try {
      const held = await ledger.hold({
        account,
        task,
        amount: plan.hold,
        basis: JSON.stringify(plan.basis),
        overdraftLimit,
      });
      if (!held.ok) {
        fate = 'closed';
        throw held.refused === 'voided'
          ? serviceUnavailable('the hold was abandoned')
          : insufficient(plan.hold, held.available);
      }
      const generation = { command, deps, hold: held.entry };
      const outcome = await attempt(prepared, watched, generation);
      if (outcome.kind === 'failed') {
        if (await release(outcome.note, generation)) fate = 'closed';
        throw outcome.error;
      }
      await keepAnswer(command, outcome.delivery, log);
      fate = await settleOrPromise(outcome, watched, generation);
      return outcome.delivery;
    } finally {
      if (fate === 'closed') watched.end();
      if (fate === 'open') watched.abandon(account);
    }
  };
}

interface Generation {
  readonly command: GenerateCommand;
  readonly deps: GenerateDeps;
  readonly hold: LedgerEntry;
}

async function prepareFirst(command: GenerateCommand, deps: GenerateDeps): Promise<ChannelCall | undefined> {
  const [first] = command.plan.candidates;
  return first === undefined ? undefined : prepare(first, command, deps);
}

/** Undefined: the configuration lost the channel since the plan was made. */
async function prepare(
  candidate: RouteCandidate,
  { request, plan, converter }: GenerateCommand,
  { channels }: GenerateDeps,
): Promise<ChannelCall | undefined> {
  const channel = channels(candidate.channel);
  const provider = channel?.provider.image;
  if (channel === undefined || provider === undefined) return undefined;
  const converted = await converter.convert(request, provider.imageForms);
  const { per_call: perCall = 1 } = plan.serving.get(candidate.channel)?.facts ?? {};
  return { candidate, channel, provider, request: converted, perCall };
}

type Outcome =
  | { readonly kind: 'delivered'; readonly delivery: Delivery; readonly candidate: RouteCandidate }
  | { readonly kind: 'failed'; readonly error: unknown; readonly note: string };

async function attempt(
  first: ChannelCall | undefined,
  watched: WatchedImage,
  generation: Generation,
): Promise<Outcome> {
  if (!(await watched.confirm())) {
    const error = serviceUnavailable('taking the hold took longer than the lease');
    return { kind: 'failed', error, note: 'the lease was lost before anything was sent' };
  }
  try {
    return await tryCandidates(first, generation);
  } catch (error) {
    // An image that a later channel needs as bytes and that cannot be fetched: nothing was accepted so far.
    if (error instanceof GatewayError) return { kind: 'failed', error, note: 'nothing was sent' };
    throw error;
  }
}

/** The next channel is asked only if this one has certainly not accepted the request. */
async function tryCandidates(
  first: ChannelCall | undefined,
  { command, deps }: Generation,
): Promise<Outcome> {
  let failure: UpstreamError | undefined;
  for (const [index, candidate] of command.plan.candidates.entries()) {
    const prepared = index === 0 ? first : await prepare(candidate, command, deps);
    if (prepared === undefined) continue;
    const answer = await passGate(prepared, command.image, deps);
    if (answer.kind === 'delivered') return inForm(answer.delivery, candidate, command);
    failure = answer.error;
    const { outcome, code } = failure;
    deps.log.warn(
      { task: command.image, channel: candidate.channel, credential: candidate.credential, outcome, code },
      'a channel made no image',
    );
    if (outcome === 'rejected' || mayBeAccepted(failure)) break;
  }
  failure ??= new UpstreamError('not_sent', 'No channel is left.', { code: 'channel_gone' });
  return { kind: 'failed', error: explainFailure(failure), note: `${failure.outcome}: ${failure.code}` };
}

async function inForm(made: Delivery, candidate: RouteCandidate, command: GenerateCommand): Promise<Outcome> {
  try {
    return { kind: 'delivered', delivery: await command.inForm(made), candidate };
  } catch (error) {
    return { kind: 'failed', error, note: 'what was rendered could not be delivered' };
  }
}

/** Stays within the credential's limit, and reports the outcome to its circuit. */
async function passGate(
  prepared: ChannelCall,
  image: string,
  { gate, call }: Pick<GenerateDeps, 'gate' | 'call'>,
): Promise<ChannelAnswer> {
  const { candidate, channel, request } = prepared;
  const target = { ...candidate, model: request.model };
  try {
    const refusal = await gate.enter(image, target, channel.config.timeouts.image_ms);
    if (refusal !== undefined) return { kind: 'failed', error: refusal };
    const answer = await call(image, prepared);
    void gate.report(image, target, answer.kind === 'delivered' ? undefined : answer.error);
    return answer;
  } finally {
    await gate.leave(image, candidate);
  }
}

function insufficient(hold: bigint, available: bigint): GatewayError {
  return new GatewayError(
    'insufficient_balance',
    `The request may cost up to ${formatMicros(hold)}, and ${formatMicros(available)} is available.`,
  );
}

/** The caller's error is about the upstream: a hold that cannot be released now is closed in the background. */
async function release(note: string, { command, deps, hold }: Generation): Promise<boolean> {
  const { image: task, account, plan } = command;
  try {
    await deps.ledger.release({ account, task, held: plan.hold, hold, note });
    return true;
  } catch (err) {
    deps.log.error({ task, err }, 'a hold could not be released; it will be retried');
    return false;
  }
}

/** A response that could not be stored is still sent; it just cannot be replayed. */
async function keepAnswer({ keep, image }: GenerateCommand, delivery: Delivery, log: Logger): Promise<void> {
  try {
    await keep?.(delivery);
  } catch (err) {
    log.error({ task: image, err }, 'an image answer could not be kept for a repeat of its request');
  }
}

/** After these the caller gets its images, and the charge follows. */
const settleDelaysMs = [100, 400, 1_500];
const settleEveryMs = 5_000;
const settleForMs = 15 * 60_000;

type Delivered = Extract<Outcome, { kind: 'delivered' }>;

/**
 * Charges what arrived. While the ledger is away the caller is not kept waiting for long: paid images are delivered,
 * and the charge is retried in the background.
 */
async function settleOrPromise(
  delivered: Delivered,
  watched: WatchedImage,
  generation: Generation,
): Promise<'closed' | 'promised'> {
  const { command, deps } = generation;
  const settlement = charge(delivered, command);
  const { cost } = delivered.delivery;
  const trySettle = () => settleOnce({ ...settlement, ...defined({ cost }) }, generation);
  for (const delayMs of settleDelaysMs) {
    if (await trySettle()) return 'closed';
    await sleep(delayMs);
  }
  if (await trySettle()) return 'closed';
  void (async () => {
    for (let waitedMs = 0; waitedMs < settleForMs; waitedMs += settleEveryMs) {
      await watched.owe(settlement.amount).catch(() => undefined);
      if (await trySettle()) {
        watched.end();
        return;
      }
      await sleep(settleEveryMs, undefined, { ref: false });
    }
    deps.log.error({ task: command.image }, 'delivered images could not be charged');
    watched.abandon(command.account);
  })();
  return 'promised';
}

async function settleOnce(
  { amount, ...how }: Settlement & SettledFacts,
  { command, deps, hold }: Generation,
): Promise<boolean> {
  const { image: task, account, plan } = command;
  try {
    const result = await deps.ledger.settle({
      account,
      task,
      held: plan.hold,
      hold,
      amount,
      basis: JSON.stringify(how),
      ...(how.estimated ? { note: 'estimated: the upstream reported no usage' } : {}),
    });
    if (result.closed !== 'settled') {
      deps.log.error({ task, account }, 'delivered images were released before they could be charged');
    }
    return true;
  } catch (err) {
    deps.log.error({ task, err }, 'a charge could not be written; it will be retried');
    return false;
  }
}

function charge({ delivery, candidate }: Delivered, { plan, request }: GenerateCommand): Settlement {
  return chargeImages({
    basis: plan.basis,
    channel: candidate.channel,
    facts: delivery.facts,
    ...(typeof delivery.extra['quality'] === 'string' ? { quality: delivery.extra['quality'] } : {}),
    held: plan.hold,
    asked: request.n,
  });
}

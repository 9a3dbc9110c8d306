import type { RoutePlan } from '../routing/catalogue.ts';
import { servesModel, type RouteCandidate } from '../task/candidates.ts';
import type { Channels } from '../routing/channels.ts';
import type { CapState } from '../money/caps.ts';
import { defined } from '../base/defined.ts';
import { GatewayError, serviceUnavailable } from '../errors/errors.ts';
import { holdRefused } from '../errors/hold-refused.ts';
import type { UpstreamCost } from '../task/cost.ts';
import type { ImageRequest } from '../models/request.ts';
import type { Spender } from '../access/spender.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Logger } from '../observability/log.ts';
import { UpstreamError } from '../providers/provider.ts';
import { parallelCalls, type ChannelAnswer, type ChannelCall, type Delivery } from './call-channel.ts';
import type { ImageConverter } from './convert.ts';
import { writeHeldBasis } from '../money/ledger-basis.ts';
import { explainFailure } from './explain-failure.ts';
import type { FindHoldTerms } from '../commands/account-terms.ts';
import type { ImageGate } from '../capacity/image-gate.ts';
import { billFor, settleOrPromise, type Delivered, type SettleDeps, type Settling } from './settle-images.ts';
import { costOfImages, costOfNoImages } from './cost-of-images.ts';
import type { ImageLeases, WatchedImage } from './leases/image-leases.ts';

export interface GenerateDeps extends SettleDeps {
  readonly channels: Channels;
  readonly ledger: Pick<Ledger, 'hold' | 'settle' | 'release'>;
  readonly imageLeases: ImageLeases;
  readonly holdTerms: FindHoldTerms;
  readonly gate: ImageGate;
  readonly call: CallForImage;
}

export type CallForImage = (image: string, call: ChannelCall) => Promise<ChannelAnswer>;

export interface GenerateCommand {
  readonly image: string;
  readonly account: string;
  readonly by: Spender;
  readonly request: ImageRequest;
  readonly plan: RoutePlan;
  readonly converter: ImageConverter;
  readonly inForm: (delivery: Delivery, channel: string) => Promise<Delivery>;
  /** Stores the response before the images are charged. If undefined, repeated requests do not get this response. */
  readonly keep?: (delivery: Delivery) => Promise<void>;
  readonly traceparent?: string;
}

export interface Generated {
  readonly delivery: Delivery;
  readonly charge: bigint;
  readonly cap?: CapState;
}

export type Generate = (command: GenerateCommand) => Promise<Generated>;

/**
 * The hold, the upstream call and the settlement all run under this process's lease. Resolves to the images that
 * arrived and were paid for. Throws GatewayError if nothing was charged. The images are charged even if the caller
 * disconnects.
 */
export function createGenerate(deps: GenerateDeps): Generate {
  const { ledger, log } = deps;

  return async (command) => {
    const { image: task, account, by, plan } = command;
    // Prepare the call before taking the hold, because an image that cannot be fetched is the caller's mistake.
    const prepared = await prepareFirst(command, deps);
    // Read the terms only now, because they may have changed during the preparation.
    const terms = await deps.holdTerms(account, by);
    const watched = await deps.imageLeases.watch(task);
    let fate: 'open' | 'closed' | 'promised' = 'open';
    try {
      const held = await ledger.hold({
        account,
        task,
        amount: plan.hold,
        basis: writeHeldBasis(plan.basis, plan.reckoning),
        ...terms,
      });
      if (!held.ok) {
        fate = 'closed';
        throw holdRefused(plan.hold, held);
      }
      const generation = { command, deps, hold: held.entry };
      const outcome = await attempt(prepared, watched, generation);
      if (outcome.kind === 'failed') {
        if (await release(outcome, generation)) fate = 'closed';
        throw outcome.error;
      }
      await keepAnswer(command, outcome.delivery, log);
      const bill = billFor(outcome, command);
      const settled = await settleOrPromise(bill, watched, generation);
      ({ fate } = settled);
      return { delivery: outcome.delivery, charge: settled.charge, ...defined({ cap: held.cap }) };
    } finally {
      if (fate === 'closed') watched.end();
      if (fate === 'open') watched.abandon(account);
    }
  };
}

interface Generation extends Settling {
  readonly command: GenerateCommand;
  readonly deps: GenerateDeps;
}

async function prepareFirst(command: GenerateCommand, deps: GenerateDeps): Promise<ChannelCall | undefined> {
  const [first] = command.plan.candidates;
  return first === undefined ? undefined : prepare(first, command, deps);
}

async function prepare(
  candidate: RouteCandidate,
  { request, plan, converter }: GenerateCommand,
  { channels }: GenerateDeps,
): Promise<ChannelCall | undefined> {
  const channel = channels(candidate.channel);
  const provider = channel?.provider.image;
  if (channel === undefined || provider === undefined) return undefined;
  // The model may have been removed from the channel since the plan was made.
  if (!servesModel(channel.config, request.model)) return undefined;
  const converted = await converter.convert(request, provider.imageForms);
  const { per_call: perCall = 1 } = plan.serving.get(candidate.channel)?.facts ?? {};
  return { candidate, channel, provider, request: converted, perCall };
}

type Outcome =
  | Delivered
  | {
      readonly kind: 'failed';
      readonly error: unknown;
      readonly note: string;
      readonly upstream?: UpstreamCost;
    };

type Failed = Extract<Outcome, { kind: 'failed' }>;

async function attempt(
  first: ChannelCall | undefined,
  watched: WatchedImage,
  generation: Generation,
): Promise<Outcome> {
  try {
    return await tryCandidates(first, watched, generation);
  } catch (error) {
    // A later channel needs an image that cannot be fetched. No channel has accepted the request so far.
    if (error instanceof GatewayError) return { kind: 'failed', error, note: 'nothing was sent' };
    throw error;
  }
}

/**
 * Tries the channels in order. Moves on to the next one only if the current one has definitely not accepted the
 * request.
 */
async function tryCandidates(
  first: ChannelCall | undefined,
  watched: WatchedImage,
  { command, deps }: Generation,
): Promise<Outcome> {
  let failure: UpstreamError | undefined;
  let cost: UpstreamCost | undefined;
  for (const [index, candidate] of command.plan.candidates.entries()) {
    const prepared = index === 0 ? first : await prepare(candidate, command, deps);
    if (prepared === undefined) continue;
    // Confirm before each call, because another process may have closed the hold while this one was stalled.
    if (!(await watched.confirm())) {
      const error = serviceUnavailable('the request could not be sent before its lease ended');
      return { kind: 'failed', error, note: 'the lease was lost before the request was sent' };
    }
    const answer = await passGate(prepared, command, deps);
    if (answer.kind === 'delivered') {
      const upstream = costOfImages(prepared, answer, command.plan);
      return inForm(answer.delivery, { candidate, upstream }, command);
    }
    failure = answer.error;
    const { outcome, code } = failure;
    deps.log.warn(
      { task: command.image, channel: candidate.channel, credential: candidate.credential, outcome, code },
      'a channel produced no image',
    );
    cost = costOfNoImages(prepared, answer, command.plan);
    if (outcome === 'rejected' || cost !== undefined) break;
  }
  failure ??= new UpstreamError('not_sent', 'No channel is left.', { code: 'channel_gone' });
  const note = `${failure.outcome}: ${failure.code}`;
  return { kind: 'failed', error: explainFailure(failure), note, ...defined({ upstream: cost }) };
}

async function inForm(
  made: Delivery,
  from: Pick<Delivered, 'candidate' | 'upstream'>,
  command: GenerateCommand,
): Promise<Outcome> {
  try {
    return { kind: 'delivered', delivery: await command.inForm(made, from.candidate.channel), ...from };
  } catch (error) {
    return {
      kind: 'failed',
      error,
      note: 'the rendered images could not be delivered',
      upstream: from.upstream,
    };
  }
}

async function passGate(
  prepared: ChannelCall,
  { image, account }: Pick<GenerateCommand, 'image' | 'account'>,
  { gate, call }: Pick<GenerateDeps, 'gate' | 'call'>,
): Promise<ChannelAnswer> {
  const { candidate, channel, request } = prepared;
  const target = { ...candidate, account, model: request.model };
  const callMs = channel.config.timeouts.image_ms;
  const { origin } = new URL(channel.config.base_url);
  const calls = parallelCalls(prepared);
  const passed = await gate.pass({ ...target, task: image, callMs, origin, calls }, async (report) => {
    const answer = await call(image, prepared);
    report(answer.kind === 'delivered' ? undefined : answer.error);
    return answer;
  });
  return 'sent' in passed ? passed.sent : { kind: 'failed', error: passed.refused, ambiguous: 0 };
}

/** If the release fails, the hold is closed in the background. Either way, the caller gets the upstream's error. */
async function release(
  { note, upstream }: Pick<Failed, 'note' | 'upstream'>,
  { command, deps, hold }: Generation,
): Promise<boolean> {
  const { image: task, account, plan } = command;
  try {
    await deps.ledger.release({ account, task, held: plan.hold, hold, note, ...defined({ upstream }) });
    if (upstream !== undefined) deps.countMargin(0n, upstream);
    return true;
  } catch (err) {
    deps.log.error({ task, err }, 'a hold could not be released; retrying later');
    return false;
  }
}

/** Stores the response for repeated requests. A response that cannot be stored is still sent. */
async function keepAnswer({ keep, image }: GenerateCommand, delivery: Delivery, log: Logger): Promise<void> {
  try {
    await keep?.(delivery);
  } catch (err) {
    log.error({ task: image, err }, 'an image response could not be stored for repeats of its request');
  }
}

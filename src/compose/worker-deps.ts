import { measureTimes } from '../base/activity-times.ts';
import { createActIds } from '../access/act-ids.ts';
import { defined } from '../base/defined.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelActivityDeps } from '../../activities/deps.ts';
import type { FirstCallbackDeps } from '../../activities/first-callback.ts';
import { tracedDelivery, tracedPost } from './traced-deps.ts';
import { createStatusPollers } from '../polling/status-pollers.ts';
import { webhookSecretsOf } from '../access/webhook-secrets.ts';
import type { Core } from './core.ts';
import { recordedChannels } from '../flight/recorded-channels.ts';
import { presentTask } from '../http/presenters/video-task.ts';
import { createPromptHosts } from '../capacity/prompt-hosts.ts';
import { createSubmitGate } from '../capacity/submit-gate.ts';
import { openUploads } from './upkeep.ts';
import { createMeasureResult } from '../media/measure-result.ts';
import { createMeasureVideos, lengthOfFile } from '../media/measure-videos.ts';
import { createMediaProbe } from '../media/media-probe.ts';
import type { VideoShape } from '../models/video-shapes.ts';
import { offerOf } from '../routing/capability.ts';
import { shapeOfResult } from '../routing/size-shape.ts';
import { createOpenOwnMedia } from '../media/own-media.ts';
import { createFetchedImages, fetchedBytesMax } from '../images/fetched-images.ts';
import { openImagesForTasks, type ImagesForTasks } from '../images/images-for-tasks.ts';
import { createUnstoredImages } from '../images/unstored-images.ts';
import { createRateLimiter } from '../capacity/rate-limiter.ts';
import type { StayPlaces } from '../capacity/stay-places.ts';
import { createSubmitLimiter, type SubmitLimiter } from '../capacity/submit-limiter.ts';
import { createTaskSignals } from '../temporal/task-signals.ts';
import { findCancelRequest } from '../temporal/cancel-request.ts';

/** A worker runs 40 workflow tasks concurrently. Only this many of them may send callbacks at a time. */
const promptCallbacksMax = 16;
const slowHostAvoidedMs = 60_000;

export interface ResultReaders
  extends Pick<ImagesForTasks, 'render'>, Pick<ChannelActivityDeps, 'measure' | 'measureVideos' | 'shapeOf'> {
  close(): Promise<void>;
}

export async function openResultReaders(core: Core): Promise<ResultReaders> {
  const { environment, outbound, results, stores, now } = core;
  const { openLink, kept } = results;
  const openMedia = createOpenOwnMedia(kept, outbound.media);
  const images = await openImagesForTasks({
    openMedia,
    pixelsMax: environment.IMAGE_PIXELS_MAX,
    fetchedImages: createFetchedImages(fetchedBytesMax(environment)),
    now,
  });
  const probe = createMediaProbe();
  return {
    render: images.render,
    measure: createMeasureResult({ probe, openLink, ...defined({ storage: kept?.storage }) }),
    measureVideos: createMeasureVideos({
      probe,
      openMedia,
      timeoutMs: measureTimes.inputMs,
      ...defined({ known: kept && lengthOfFile(kept.links, stores.files) }),
    }),
    shapeOf: ({ model: id, channel: name }, size) => shapeAt(core, { id, name, size }),
    close: async () => void (await Promise.all([images.close(), probe.close()])),
  };
}

function shapeAt(
  { channels, config }: Core,
  { id, name, size }: Readonly<Record<'id' | 'name' | 'size', string>>,
): VideoShape | undefined {
  const channel = channels(name);
  const model = config().models.find((each) => each.id === id);
  const offer = offerOf(channel?.provider, 'video', channel?.config.models[id]);
  return channel === undefined || model === undefined || offer === undefined
    ? undefined
    : shapeOfResult(size, { model, offers: new Map([[channel.config, offer]]) });
}

export function callbackDeps(core: Core): FirstCallbackDeps {
  const { tasks, requests } = core.stores;
  const places = core.callbackPlaces;
  return {
    tasks,
    requests,
    webhookSecrets: webhookSecretsOf(core),
    places,
    sleep: (ms) => sleep(ms, undefined, { ref: false }),
    promptHosts: createPromptHosts({
      places,
      callsMax: promptCallbacksMax,
      avoidMs: slowHostAvoidedMs,
      now: core.now,
    }),
    post: tracedPost((delivery) => core.outbound.callbacks.deliver(delivery), core.tracing?.tasks),
    log: core.log,
    present: (task) => JSON.stringify(presentTask(task, core.results.mediaUrl)),
    now: core.now,
  };
}

/** Milliseconds since this process started. */
export const monotonic = (): number => performance.now();

export function channelDeps(core: Core, stays: StayPlaces, results: ResultReaders): ChannelActivityDeps {
  const { tasks, requests } = core.stores;
  const channels = recordedChannels(core.channels, core.recorder, core.now);
  const limiters = new Map<string, SubmitLimiter>();
  const publicAddress = defined({ publicUrl: core.environment.PUBLIC_URL });
  return {
    tasks,
    requests,
    channels,
    gate: createSubmitGate(core.health),
    slots: core.health.slots,
    keySlots: core.stores.keySlots,
    deliver: tracedDelivery(core.results.deliver, core.tracing?.tasks),
    measure: results.measure,
    measureVideos: results.measureVideos,
    shapeOf: results.shapeOf,
    registerFiles: openUploads(core)?.register ?? ((request) => Promise.resolve(request)),
    partialImages: core.stores.partialImages,
    renderImages: results.render,
    ...defined({ keepImages: core.results.kept?.keepImages }),
    unstoredImages: createUnstoredImages(core.environment.BODIES_BYTES_MAX),
    storageRefusal: core.results.storageRefusal,
    canOpen: core.results.canOpen,
    submitLimiter: ({ channel, credential }) =>
      getOrCreate(limiters, `${channel}/${credential}`, () =>
        createSubmitLimiter({
          perSecond: () => core.channels(channel)?.config.limits.submits_per_second ?? 1,
          monotonic,
          random: core.random,
          sleep: (ms, signal) => sleep(ms, undefined, { signal }),
        }),
      ),
    signals: createTaskSignals(core.client),
    renders: core.renders,
    stays,
    poller: createStatusPollers({
      channels,
      limiter: (perSecond) => createRateLimiter({ perSecond, monotonic, sleep }),
      recorder: core.recorder,
      monotonic,
      ...publicAddress,
    }),
    currency: () => core.config().currency,
    actorOf: createActIds(core.secrets.deriveKey('act-ids')).actorOf,
    cancelRequest: (task) => findCancelRequest(core.client, task),
    auditLog: core.auditLog,
    log: core.log,
    now: core.now,
    random: core.random,
    monotonic,
    ...publicAddress,
  };
}

function getOrCreate<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make();
  known.set(key, made);
  return made;
}

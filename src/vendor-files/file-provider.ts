import { defined } from '../base/defined.ts';
import { patternMatcher } from '../models/vendor-file.ts';
import type { VendorFile, VendorImageJobs, VendorImages, VendorJobs } from '../models/vendor-file.ts';
import type { FactsTable, Retirements } from '../models/facts-table.ts';
import type { ModelFacts } from '../models/model-facts.ts';
import type { GenerationRequest } from '../models/request.ts';
import { withTypedAnswers } from '../providers/typed-answers.ts';
import type { ImageTaskProvider, Provider, TaskProvider, VideoProvider } from '../providers/provider.ts';
import { keyHeaders } from './authentication.ts';
import { failureTableOf } from './call.ts';
import type { Calling } from './call.ts';
import { createExpressions } from './expressions.ts';
import { imagesAtOnce } from './images-at-once.ts';
import { cancelJob, findJobs, hasEnded, jobStatus, listJobs, submitJob } from './jobs.ts';
import type { JobCalling } from './jobs.ts';

/** Returns the adapter of a vendor file, always the same one for the same file object. */
export type FileProviders = (file: VendorFile) => Provider;

/** The expressions of each file have their own thread. `now` is in Unix milliseconds. */
export function createFileProviders(now: () => number): FileProviders {
  const opened = new WeakMap<VendorFile, Provider>();
  return (file) => {
    const known = opened.get(file);
    if (known !== undefined) return known;
    const provider = withTypedAnswers(fileProvider(file, { expressions: createExpressions(), now }));
    opened.set(file, provider);
    return provider;
  };
}

/** Makes an adapter from a vendor file. */
export function fileProvider(file: VendorFile, deps: Pick<Calling, 'expressions' | 'now'>): Provider {
  const calling: Calling = { file, failures: failureTableOf(file), ...deps };
  const { about, videos, images } = file;
  return {
    about: defined({
      vendor: about.vendor,
      inputs: about.inputs,
      unverified: about.unverified,
      costUnit: about.cost_unit,
      unbilled: about.unbilled === undefined ? undefined : defined(about.unbilled),
    }),
    ...(videos === undefined ? {} : { video: videoPart(videos, calling) }),
    ...(images === undefined ? {} : imagePart(images, calling)),
  };
}

function videoPart(jobs: NonNullable<VendorFile['videos']>, calling: Calling): VideoProvider {
  return jobPart({ ...calling, jobs, kind: 'video', facts: factsTableOf(jobs.facts, calling.file) });
}

function imagePart(
  images: VendorImages | VendorImageJobs,
  calling: Calling,
): Pick<Provider, 'image' | 'imageTask'> {
  const facts = factsTableOf(images.facts, calling.file);
  if ('generate' in images) return { image: imagesAtOnce({ ...calling, images, facts }) };
  const imageTask: ImageTaskProvider = jobPart({ ...calling, jobs: images, kind: 'image', facts });
  return { imageTask };
}

interface FileFacts {
  readonly models: readonly { readonly model: string; readonly facts: ModelFacts }[];
  readonly others: ModelFacts;
}

function factsTableOf(
  { models, others }: FileFacts,
  { about, retired }: Pick<VendorFile, 'about' | 'retired'>,
): FactsTable {
  const { source, read } = about;
  return defined({
    origin: { source, read },
    retired: retired === undefined ? undefined : retirementsOf(retired),
    models: models.map(({ model, facts }) => [patternMatcher(model), facts] as const),
    others,
  });
}

function retirementsOf({ source, read, models }: NonNullable<VendorFile['retired']>): Retirements {
  return { source, read, models: models.map(({ model, on }) => [patternMatcher(model), on]) };
}

function jobPart<Request extends GenerationRequest>(calling: JobCalling): TaskProvider<Request> {
  const { jobs, facts } = calling;
  const { cancel, list, find, callback }: VendorJobs = jobs;
  return defined({
    facts,
    linkLifeSeconds: jobs.link_life_seconds,
    linkHeaders: jobs.links_need_key
      ? (url, context) => keyHeaders(calling.file.authentication, url, context)
      : undefined,
    submit: (request, context) => submitJob(request, context, calling),
    status: (operation, context) => jobStatus(operation, context, calling),
    cancelUntil: cancel?.until ?? 'never',
    cancel:
      cancel === undefined
        ? undefined
        : (operation, context) => cancelJob(operation, context, { ...calling, cancel }),
    list:
      list === undefined
        ? undefined
        : (operations, context) => listJobs(operations, context, { ...calling, list }),
    listMax: list?.max,
    find:
      find === undefined
        ? undefined
        : (lost, context) => findJobs(lost.marker, context, { ...calling, find }),
    parseCallback: callback === undefined ? undefined : ({ body }) => ({ ended: hasEnded(body, callback) }),
  } satisfies { [Name in keyof TaskProvider<Request>]: TaskProvider<Request>[Name] | undefined });
}

import { defined } from '../../base/defined.ts';
import { patternMatcher } from '../../models/vendor-file.ts';
import type { VendorFile, VendorImageJobs, VendorImages, VendorJobs } from '../../models/vendor-file.ts';
import type { FactsTable, Retirements } from '../../models/facts-table.ts';
import type { ModelFacts } from '../../models/model-facts.ts';
import type { GenerationRequest } from '../../models/request.ts';
import { withTypedAnswers } from '../typed-answers.ts';
import { vendorBalance } from '../shared/vendor-balance.ts';
import type { ImageTaskProvider, Provider, TaskProvider, VideoProvider } from '../provider.ts';
import { keyHeaders } from './authentication.ts';
import { callVendor, failureTableOf, readAnswer, type Calling } from './call.ts';
import { createExpressions } from './expressions.ts';
import { imagesAtOnce } from './images-at-once.ts';
import { cancelJob, findJobs, hasEnded, jobStatus, listJobs, submitJob, type JobCalling } from './jobs.ts';

export type FileProviders = (file: VendorFile) => Provider;

/**
 * Returns the same adapter each time for the same file object. Each file's expressions run in a separate thread. `now`
 * returns Unix milliseconds.
 */
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

export function fileProvider(file: VendorFile, deps: Pick<Calling, 'expressions' | 'now'>): Provider {
  const calling: Calling = { file, failures: failureTableOf(file), ...deps };
  const { about, videos, images, balance, key_check: check = balance } = file;
  return {
    about: defined({
      vendor: about.vendor,
      inputs: about.inputs,
      unverified: about.unverified,
      costUnit: about.cost_unit,
      unbilled: about.unbilled === undefined ? undefined : defined(about.unbilled),
    }),
    ...(check === undefined ? {} : { checkKey: keyCheck(check.path, calling) }),
    ...(balance === undefined ? {} : { balance: balanceReader(balance, calling) }),
    ...(videos === undefined ? {} : { video: videoPart(videos, calling) }),
    ...(images === undefined ? {} : imagePart(images, calling)),
  };
}

function keyCheck(path: string, calling: Calling): NonNullable<Provider['checkKey']> {
  return async (context) => void (await callVendor({ method: 'GET', path }, context, calling));
}

function balanceReader(
  { path, answer: source, unit }: NonNullable<VendorFile['balance']>,
  calling: Calling,
): NonNullable<Provider['balance']> {
  return async (context) => {
    const answer = await callVendor({ method: 'GET', path }, context, calling);
    const amount = await readAnswer(answer, { source, bindings: {} }, calling);
    return vendorBalance(answer, { amount, unit });
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
  readonly unoffered: readonly { readonly name: string; readonly reason: string }[];
}

function factsTableOf(
  { models, others, unoffered }: FileFacts,
  { about, retired }: Pick<VendorFile, 'about' | 'retired'>,
): FactsTable {
  const { source, read } = about;
  return defined({
    origin: { source, read },
    retired: retired === undefined ? undefined : retirementsOf(retired),
    unoffered:
      unoffered.length === 0
        ? undefined
        : unoffered.map(({ name, reason }) => [patternMatcher(name), reason] as const),
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

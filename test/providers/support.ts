import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { defined } from '../../src/base/defined.ts';
import type { FieldMapping } from '../../src/models/field-mapping.ts';
import { markerOf, newTaskId } from '../../src/base/ids.ts';
import { consumptionOf, type Consumption } from '../../src/models/consumption.ts';
import { factsFor } from '../../src/models/facts-of-request.ts';
import { servedFacts, type Served } from '../../src/models/facts-table.ts';
import type { VideoFacts } from '../../src/models/model-facts.ts';
import { nameIn } from '../../src/models/media-roles.ts';
import type { AskedVideo, GenerationRequest, ImageRequest, VideoRequest } from '../../src/models/request.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import type { HttpRequest, ImageTaskProvider, HttpRequestOptions } from '../../src/providers/provider.ts';
import type { HttpResponse, PossibleOutput, Provider } from '../../src/providers/provider.ts';
import type { ProviderContext, RequestIssue, SubmitContext } from '../../src/providers/provider.ts';
import type { SynchronousImageProvider, UpstreamCallback } from '../../src/providers/provider.ts';
import type { VideoProvider } from '../../src/providers/provider.ts';
import { capabilityFor, offerOf } from '../../src/routing/capability.ts';

export function fixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), 'utf8'));
}

export interface CannedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
}

export function canned(...answers: CannedAnswer[]) {
  const sent: HttpRequestOptions[] = [];
  const request: HttpRequest = (options) => {
    sent.push(options);
    const answer = answers[sent.length - 1];
    if (answer === undefined) throw new Error(`an unexpected request: ${options.method} ${options.url}`);
    const { status = 200, headers = {}, json, text = JSON.stringify(json) ?? '' } = answer;
    return Promise.resolve({ status, headers, text, json } satisfies HttpResponse);
  };
  return { request, sent };
}

export function callback(body: unknown, headers: Readonly<Record<string, string>> = {}): UpstreamCallback {
  const raw = Buffer.from(JSON.stringify(body) ?? '');
  return { body, raw, header: (name) => headers[name] };
}

export function providerContext(over: Partial<ProviderContext> = {}): ProviderContext {
  return {
    request: canned().request,
    credential: { id: 'a', apiKey: 'test-key' },
    baseUrl: 'https://upstream.example/api/v3',
    model: 'upstream-model',
    signal: AbortSignal.timeout(60_000),
    ...over,
  };
}

export function realMarker(): string {
  return markerOf({ task: newTaskId(randomBytes), n: 1 });
}

export function submitContext(over: Partial<SubmitContext> = {}): SubmitContext {
  return { ...providerContext(over), marker: 'mediary-t1-1', remainingSeconds: 172_800, ...over };
}

export function videoRequest(over: Partial<VideoRequest> = {}): VideoRequest {
  return {
    kind: 'video',
    model: 'some-model',
    prompt: 'a fox in the snow',
    references: [],
    videos: [],
    audios: [],
    extra: {},
    ...over,
  };
}

export function asAsked({ firstFrame, lastFrame, references, ...rest }: VideoRequest): AskedVideo {
  const urls = { first_frame: firstFrame, last_frame: lastFrame };
  const frames = (['first_frame', 'last_frame'] as const).flatMap((role) => {
    const url = urls[role];
    return url === undefined ? [] : [{ url, role }];
  });
  const others = references.map((url) => ({ url, role: 'reference' as const }));
  return { ...rest, images: [...frames, ...others], named: {} };
}

type Asking = readonly [
  video: VideoProvider | undefined,
  request: VideoRequest,
  model: string,
  mapping?: FieldMapping,
  facts?: VideoFacts,
];

function capabilityOf(...[video, request, model, mapping, facts]: Asking) {
  const served = { upstream: model, ...defined({ mapping, facts }) };
  return video === undefined ? undefined : capabilityOfPart({ video }, request, served);
}

const about = { vendor: '', inputs: '', unverified: [] };

function capabilityOfPart(
  parts: Omit<Provider, 'about'>,
  request: GenerationRequest,
  served: Parameters<typeof offerOf>[2],
) {
  const offer = offerOf({ about, ...parts }, request.kind, served);
  return offer === undefined ? undefined : capabilityFor(offer, request);
}

export function consumedBy({ facts }: VideoProvider, request: VideoRequest, served: Served): Consumption {
  return consumptionOf(factsFor(request, servedFacts(facts, served)));
}

export function videoIssue(...asking: Asking): RequestIssue | undefined {
  const issue = capabilityOf(...asking)?.issue;
  return issue === undefined ? undefined : { ...issue, param: nameIn({}, issue.param) };
}

export function imageIssue(
  provider: SynchronousImageProvider | ImageTaskProvider | undefined,
  request: ImageRequest,
  model: string,
  mapping?: FieldMapping,
): RequestIssue | undefined {
  if (provider === undefined) return undefined;
  const part = 'generate' in provider ? { image: provider } : { imageTask: provider };
  return capabilityOfPart(part, request, { upstream: model, ...defined({ mapping }) })?.issue;
}

export function videoOutput(...asking: Asking): PossibleOutput | undefined {
  return capabilityOf(...asking)?.possible;
}

export async function submissionOf(
  video: VideoProvider | undefined,
  request: VideoRequest,
  over: Partial<SubmitContext> & { readonly model: string },
): Promise<string> {
  const upstream = canned({ status: 400, json: {} });
  const isElsewhere = over.model.includes('@');
  const baseUrl = `https://upstream.example/v1${isElsewhere ? '/projects/p/locations/l/publishers/google' : ''}`;
  await video
    ?.submit(request, submitContext({ baseUrl, ...over, request: upstream.request }))
    .catch(() => undefined);
  const [sent] = upstream.sent;
  return JSON.stringify([sent?.url, sent?.json]);
}

export async function upstreamError(promise: Promise<unknown>): Promise<UpstreamError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof UpstreamError) return error;
    throw error;
  }
  throw new Error('It was expected to fail.');
}

export function imageRequest(over: Partial<ImageRequest> = {}): ImageRequest {
  return {
    kind: 'image',
    operation: 'generate',
    model: 'some-model',
    prompt: 'a red cube',
    n: 1,
    images: [],
    extra: {},
    ...over,
  };
}

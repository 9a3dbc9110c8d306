import { someNamesMax, unconsumedOfImage } from '../../src/models/consumption.ts';
import { fieldMappingSchema } from '../../src/models/field-mapping.ts';
import type { ImageInput, ImageRequest, JsonValue } from '../../src/models/request.ts';
import { vendorImageFields } from '../../src/providers/index.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { capabilityFor, offerOf } from '../../src/routing/capability.ts';
import { canned, imageRequest, submitContext } from './support.ts';
import { exampleOf, summedUp } from './vendor-matrix.ts';

/** Derives the matrix of vendors and image fields from the fact tables. image-matrix.test.ts tests every cell. */

const addresses = ['https://ex.com/one.png', 'https://ex.com/two.png', 'https://ex.com/mask.png'] as const;
const data = ['T25lT25l', 'VHdvVHdv', 'TWFza01h'] as const;

const plainRequests: readonly ImageRequest[] = [0, 1].flatMap((form) => {
  const input = (index: 0 | 1 | 2): ImageInput =>
    form === 0
      ? { form: 'url', url: addresses[index] }
      : { form: 'data', mediaType: 'image/png', base64: data[index] };
  const images = [input(0)];
  return [
    imageRequest({}),
    imageRequest({ images }),
    imageRequest({ images, extra: { strength: 0.25 } }),
    imageRequest({ images: [...images, input(1)] }),
    imageRequest({ images, mask: input(2) }),
  ];
});

const fields: Readonly<Record<string, readonly string[]>> = {
  size: 'auto 1K 2K 16:9 adaptive 512x512 1024x1024 1536x1024 2048x2048 1600x1600'.split(' '),
  quality: ['low', 'high', 'medium', 'standard', 'hd'],
};
const values: readonly JsonValue[] = [
  'some text',
  0.5,
  7,
  true,
  { some: 'thing' },
  ['png'],
  'png',
  'jpeg',
  'webp',
  '16:9',
  'manga',
  'disabled',
  'opaque',
];

/**
 * `texts` must occur in what is sent upstream for `request`. `plain` is the same request without the part under test.
 */
export interface ImageProbe {
  readonly request: ImageRequest;
  readonly plain: ImageRequest;
  readonly texts?: readonly string[];
}

export function imageProbesOf(column: string): ImageProbe[] {
  return plainRequests.flatMap((plain): ImageProbe[] => {
    const textsOf = (inputs: readonly ImageInput[]) =>
      inputs.map((input) => (input.form === 'url' ? input.url : input.form === 'data' ? input.base64 : ''));
    if (column === 'references')
      return plain.images.length === 0 ? [] : [{ request: plain, plain, texts: textsOf(plain.images) }];
    if (column === 'mask')
      return plain.mask === undefined ? [] : [{ request: plain, plain, texts: textsOf([plain.mask]) }];
    if (column === 'images') return [2, 4].map((n) => ({ request: { ...plain, n }, plain }));
    const named = fields[column];
    if (named !== undefined) return named.map((value) => ({ request: { ...plain, [column]: value }, plain }));
    return values.map((value) => ({
      request: { ...plain, extra: { ...plain.extra, [column]: value } },
      plain,
    }));
  });
}

export interface ForeignProbe extends ImageProbe {
  readonly fields: Readonly<Record<string, JsonValue>>;
}

/** A warning names at most `someNamesMax` fields. One of them may already be in the plain request. */
const namesAtOnce = someNamesMax - 1;

export function foreignProbesOf(columns: readonly string[]): ForeignProbe[] {
  const starts = columns.flatMap((_, index) => (index % namesAtOnce === 0 ? [index] : []));
  return plainRequests.flatMap((plain, form) =>
    starts.map((start) => {
      const names = columns.slice(start, start + namesAtOnce);
      const fields = Object.fromEntries(
        names.map((name, index) => [name, values[(form + index) % values.length] ?? '']),
      );
      return { request: { ...plain, extra: { ...plain.extra, ...fields } }, plain, fields };
    }),
  );
}

export function ownColumns(row: ImageRow): string[] {
  const accepted = plainRequests.filter((request) => capabilityOf(row, request)?.issue === undefined);
  return triedColumns.filter(
    (column) =>
      commonColumns.has(column) ||
      accepted.some((plain) => {
        const request = { ...plain, extra: { ...plain.extra, [column]: values[0] ?? '' } };
        return saidOfImage(row, { request, plain }, column) !== 'warned';
      }),
  );
}

const commonColumns: ReadonlySet<string> = new Set(['references', 'mask', 'images', ...Object.keys(fields)]);

const mapping = fieldMappingSchema.parse({
  fields: Object.fromEntries(
    ['prompt', 'images', 'mask', 'n', 'size', 'quality'].map((name) => [name, `their_${name}`]),
  ),
  pass: ['seed', 'negative_prompt', 'style', 'background', 'output_format', 'watermark'],
  result: 'output',
});

export interface ImageRow {
  readonly provider: Provider;
  readonly model: string;
  readonly mapping?: typeof mapping;
  readonly pattern?: RegExp;
}

export function imageRowsOf(provider: Provider): ImageRow[] {
  const source = (provider.image ?? provider.imageTask)?.facts;
  if (source === undefined) return [];
  if (typeof source === 'function') return [{ provider, model: 'owner/name', mapping }];
  const known = source.models.map(([pattern]) => ({ provider, model: exampleOf(pattern), pattern }));
  return [...known, { provider, model: 'a-model-of-tomorrow' }];
}

function capabilityOf({ provider, model, mapping: map }: ImageRow, request: ImageRequest) {
  const served = { upstream: model, ...(map === undefined ? {} : { mapping: map }) };
  const offer = offerOf(provider, 'image', served);
  return offer === undefined ? undefined : capabilityFor(offer, request);
}

type Said = 'sent' | 'warned' | 'refused';

export function saidOfImage(row: ImageRow, { request }: ImageProbe, column: string): Said {
  const capability = capabilityOf(row, request);
  if (capability === undefined || capability.issue !== undefined) return 'refused';
  return unconsumedOfImage(request, capability.facts).includes(column) ? 'warned' : 'sent';
}

/**
 * Returns false if the core would split the request or fetch its URLs first, so that the adapter never receives it in
 * this form.
 */
export function isHandedOn(row: ImageRow, request: ImageRequest): boolean {
  const { image } = row.provider;
  const capability = capabilityOf(row, request);
  if (capability?.canWait !== false || image === undefined) return true;
  const isConverted = !image.imageForms.includes('url') && request.images.some(({ form }) => form === 'url');
  return !isConverted && request.n <= (capability.facts.per_call ?? 1);
}

export async function imageSubmissionOf(row: ImageRow, request: ImageRequest): Promise<string> {
  const { provider, model, mapping: map } = row;
  const upstream = canned({ status: 400, json: {} });
  const context = submitContext({
    baseUrl: 'https://upstream.example/v1',
    model,
    request: upstream.request,
    ...(map === undefined ? {} : { mapping: map }),
  });
  const isTask = capabilityOf(row, request)?.canWait === true;
  const call = isTask
    ? provider.imageTask?.submit(request, context)
    : provider.image?.generate(request, context);
  await call?.catch(() => undefined);
  const [sent] = upstream.sent;
  const parts = await Promise.all(
    [...(sent?.form ?? [])].map(async ([name, value]) => [
      name,
      typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()).toString('base64'),
    ]),
  );
  return JSON.stringify([sent?.url, sent?.json, parts]);
}

const imageColumns = `images references mask size quality seed negative_prompt style background
  output_format watermark user`.split(/\s+/);

export const triedColumns: readonly string[] = [
  ...new Set([...imageColumns, ...vendorImageFields, 'qualty']),
];

export function imageMatrix(providers: Readonly<Record<string, Provider>>): string[][] {
  const rows = Object.entries(providers).flatMap(([name, provider]) => {
    const known = imageRowsOf(provider);
    if (known.length === 0) return [];
    const counted = known.length > 1 ? known.slice(0, -1) : known;
    const isMapped = counted.some(({ mapping: map }) => map !== undefined);
    const cells = imageColumns.map((column) =>
      summedUp(
        counted.map((row) => wordOf(row, column)),
        isMapped,
      ),
    );
    return [[name, ...cells]];
  });
  return [['vendor', ...imageColumns.map((name) => name.replaceAll('_', ' '))], ...rows];
}

function wordOf(row: ImageRow, column: string): string {
  const sent = imageProbesOf(column).filter((probe) => saidOfImage(row, probe, column) === 'sent');
  if (sent.length === 0) return 'no';
  const facts = sent.flatMap(({ request }) => capabilityOf(row, request)?.facts ?? []);
  if (column === 'references') return mostOf(facts.map(({ references }) => references?.max));
  return column === 'images'
    ? mostOf(facts.map(({ images }) => images?.max ?? (images?.only ? Math.max(...images.only) : undefined)))
    : 'yes';
}

function mostOf(counts: readonly (number | undefined)[]): string {
  const most = Math.max(...counts.map((count) => count ?? Infinity));
  return most === Infinity ? 'yes' : String(most);
}

import { fieldMappingSchema } from '../../src/models/field-mapping.ts';
import { commonParameters, factsFor } from '../../src/models/facts-of-request.ts';
import { servedFacts } from '../../src/models/facts-table.ts';
import type { PlainFacts } from '../../src/models/model-facts.ts';
import type { JsonValue, VideoRequest } from '../../src/models/request.ts';
import type { Provider, VideoProvider } from '../../src/providers/provider.ts';
import { consumedBy, videoIssue, videoRequest } from './support.ts';

const media = {
  firstFrame: ['https://ex.com/first.png', 'data:image/png;base64,Rmlyc3Q='],
  lastFrame: ['https://ex.com/last.png', 'data:image/png;base64,TGFzdDEy'],
  reference: ['https://ex.com/reference.png', 'data:image/png;base64,UmVmZXI='],
  video: ['https://ex.com/video.mp4', 'data:video/mp4;base64,VmlkZW8x'],
  audio: ['https://ex.com/audio.mp3', 'data:audio/mpeg;base64,QXVkaW8x'],
} as const;

export const inputs: readonly Partial<VideoRequest>[] = [0, 1].flatMap((form) => {
  const {
    firstFrame = '',
    lastFrame = '',
    reference = '',
    video = '',
    audio = '',
  } = Object.fromEntries(Object.entries(media).map(([name, forms]) => [name, forms[form] ?? '']));
  const [references, videos, audios] = [[reference], [video], [audio]];
  return [
    {},
    { firstFrame },
    { firstFrame, lastFrame },
    { references },
    { references, extra: { keyframe_seconds: [1] } },
    { videos },
    { videos, extra: { video_task: 'edit' } },
    { videos, extra: { video_task: 'extend' } },
    { audios },
    { references, videos },
    { references, audios },
    { videos, audios },
    { firstFrame, references },
    { firstFrame, videos },
    { firstFrame, audios },
  ];
});

/** Excludes `video_task`, which test/providers/common-parameters.test.ts tests for each model. */
type Parameter = Exclude<(typeof commonParameters)[number], 'video_task'>;
export const parameters: Readonly<Record<Parameter, readonly JsonValue[]>> = {
  negative_prompt: ['rain'],
  cfg_scale: [0.5, 1, 5],
  camera_control: [{ type: 'simple' }, 'pan_left'],
  fps: [24, 25, 30],
  motion_strength: [5, 1, 0.5],
};
const fields = {
  seed: ['seed', [7]],
  sound: ['generateAudio', [true, false]],
  return_last_frame: ['returnLastFrame', [true]],
  watermark: ['watermark', [true]],
  draft: ['draft', [true]],
} as const;
type Field = (typeof fields)[keyof typeof fields][0];
const roles = ['first_frame', 'last_frame', 'references', 'videos', 'audios'] as const;
type Role = (typeof roles)[number];

export interface Probe {
  readonly request: VideoRequest;
  readonly plain: VideoRequest;
  /** Texts that the body must contain when it is sent. If undefined, the body must differ from the one for `plain`. */
  readonly texts?: readonly string[];
  readonly field?: Field;
  readonly parameter?: string;
}

export function probesOf(column: string): Probe[] {
  return inputs.flatMap((over): Probe[] => {
    const plain = videoRequest(over);
    if (isRole(column)) {
      const texts = broughtTexts(plain, column);
      return texts.length === 0 ? [] : [{ request: plain, plain, texts }];
    }
    const [field, values = []] = Object.entries(fields).find(([name]) => name === column)?.[1] ?? [];
    if (field !== undefined)
      return values.map((value) => ({ request: { ...plain, [field]: value }, plain, field }));
    const [, samples = []] = Object.entries(parameters).find(([name]) => name === column) ?? [];
    return samples.map((value) => ({
      request: { ...plain, extra: { ...plain.extra, [column]: value } },
      plain,
      parameter: column,
    }));
  });
}

function isRole(column: string): column is Role {
  return roles.some((role) => role === column);
}

function broughtTexts({ firstFrame, lastFrame, references, videos, audios }: VideoRequest, role: Role) {
  const brought = {
    first_frame: [firstFrame ?? []].flat(),
    last_frame: [lastFrame ?? []].flat(),
    references,
    videos,
    audios,
  }[role];
  return brought.map((address) => address.replace(/^data:.*,/, ''));
}

export interface Served {
  readonly video: VideoProvider;
  readonly model: string;
  readonly mapping?: typeof mapping;
}

export function saidOf({ video, model, mapping: map }: Served, { request, field, parameter }: Probe) {
  if (videoIssue(video, request, model, map) !== undefined) return 'refused';
  const consumed = consumedBy(video, request, {
    upstream: model,
    ...(map === undefined ? {} : { mapping: map }),
  });
  const isUsed =
    (field === undefined || consumed?.fields.includes(field) !== false) &&
    (parameter === undefined || consumed?.metadata(parameter) !== false);
  return isUsed ? 'sent' : 'warned';
}

const mapping = fieldMappingSchema.parse({
  fields: Object.fromEntries(
    `prompt first_frame last_frame images videos audios seed generate_audio return_last_frame watermark draft`
      .split(' ')
      .map((name) => [name, `their_${name}`]),
  ),
  pass: [...commonParameters],
  result: 'output',
});

export function exampleOf({ source }: RegExp): string {
  const name = `${source}${/\$$|@gs:$/.test(source) ? '' : '-x'}`
    .replaceAll(/\(\?!.*?\)/g, '')
    .replaceAll(/\(\?:([^()|]*)[^()]*\)\??/g, '$1')
    .replaceAll(/\[(.)[^\]]*\]/g, '$1')
    .replaceAll('.*', '-')
    .replaceAll(/\w\?/g, '')
    .replaceAll(/[\^$\\]/g, '');
  return name.endsWith('@gs:') ? `${name === '@gs:' ? 'model' : ''}${name}//bucket` : name;
}

export function rowsOf({ video }: Provider): (Served & { readonly pattern?: RegExp })[] {
  const source = video?.facts;
  if (video === undefined || source === undefined) return [];
  if (typeof source === 'function') return [{ video, model: 'owner/name', mapping }];
  const known = source.models.map(([pattern]) => ({ video, model: exampleOf(pattern), pattern }));
  return [...known, { video, model: 'a-model-of-tomorrow' }];
}

export const requestColumns: readonly string[] = [
  ...roles,
  ...Object.keys(fields),
  ...Object.keys(parameters),
];

export function vendorMatrix(providers: Readonly<Record<string, Provider>>): string[][] {
  const rows = Object.entries(providers).flatMap(([name, provider]) => {
    const { video } = provider;
    if (video === undefined) return [];
    const rowsKnown = rowsOf(provider);
    // The last row is for models outside the table, whose limits the vendor decides. It is used only if there are no
    // other rows.
    const counted = rowsKnown.length > 1 ? rowsKnown.slice(0, -1) : rowsKnown;
    return [[name, ...requestColumns.map((column) => cellOf(counted, column)), ...abilitiesOf(video)]];
  });
  return [
    ['vendor', ...requestColumns.map((name) => name.replaceAll('_', ' ')), 'cancel', 'list', 'callback'],
    ...rows,
  ];
}

function abilitiesOf({ cancelUntil, list, listMax, parseCallback }: VideoProvider): string[] {
  return [
    cancelUntil === 'never' ? 'no' : `while ${cancelUntil}`,
    list === undefined ? 'no' : String(listMax),
    parseCallback === undefined ? 'no' : 'yes',
  ];
}

function cellOf(rows: readonly Served[], column: string): string {
  return summedUp(
    rows.map((row) => modelCell(row, column)),
    rows.every(({ mapping: map }) => map !== undefined),
  );
}

export function summedUp(words: readonly string[], isMapped: boolean): string {
  const taken = words.filter((word) => word !== 'no');
  if (taken.length === 0) return 'no';
  if (isMapped) return 'mapping';
  const counts = taken.map(Number);
  const isCounted = counts.every((count) => count > 0);
  const kinds = new Set(taken.map((word) => (Number(word) > 0 ? 'yes' : word)));
  const text = isCounted ? `up to ${Math.max(...counts)}` : [...kinds].toSorted().join(', ');
  return taken.length === words.length ? text : `${text} (some)`;
}

function modelCell(row: Served, column: string): string {
  const sent = probesOf(column).filter((probe) => saidOf(row, probe) === 'sent');
  if (sent.length === 0) return 'no';
  const holding = sent.map(({ request }) => factsFor(request, factsOf(row)));
  if (column === 'references' || column === 'videos' || column === 'audios') {
    const most = Math.max(...holding.map(({ media: facts }) => facts?.[column] ?? Infinity));
    return most === Infinity ? 'yes' : String(most);
  }
  return column === 'sound' ? soundOf(holding) : 'yes';
}

function soundOf(holding: readonly PlainFacts[]): string {
  return holding.some(({ sound = 'choice' }) => sound === 'choice') ? 'choice' : (holding[0]?.sound ?? '');
}

function factsOf({ video, model, mapping: map }: Served) {
  return servedFacts(video.facts, { upstream: model, mapping: map });
}

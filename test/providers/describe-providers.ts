import type { Provider, ProviderFacts, SynchronousImageProvider } from '../../src/providers/provider.ts';
import type { TaskProvider, UnbilledFailures, VideoProvider } from '../../src/providers/provider.ts';

import { imageMatrix } from './image-matrix.ts';
import { vendorMatrix } from './vendor-matrix.ts';
import type { PlainFacts, VideoFacts } from '../../src/models/model-facts.ts';

export function describeProviders(providers: Readonly<Record<string, Provider>>): string {
  const sections = Object.entries(providers).map(([name, provider]) => section(name, provider));
  const matrix = [
    matrixIntro,
    table(vendorMatrix(providers)),
    tablesIntro,
    imageMatrixIntro,
    table(imageMatrix(providers)),
    shutdownsIntro,
  ];
  return `${[intro, ...matrix, ...sections].join('\n\n')}\n`;
}

const intro = `# Providers

This page is for operators who choose a vendor. It lists what each adapter can do and what is still unverified.
\`UPDATE_DOCS=1 npx vitest run test/providers/every-provider.test.ts\` generates the page from the adapters.
[adding-a-provider.md](adding-a-provider.md) explains how to add one.

- **Lost jobs** are jobs whose submission got no response. If the vendor returns our marker, the gateway uses it to find the job. Otherwise,
  an operator decides. A lost submission is never resubmitted automatically.
- **Unbilled failures** are the failure classes for which the vendor promises to charge nothing. A cost in the response, even zero,
  takes precedence. For all other failures, it is unknown whether the vendor bills them. Only a job that is known to be unbilled is
  replaced by a new one ([fallback](configuration.md#fallback)).`;

const matrixIntro = `## What requests for videos may contain

The table covers all models that the adapters know. "(some)" means only some of them, and "mapping" means that the model's mapping
decides. \`sound\` is a choice, or is always or never generated. Anything for which a vendor has no field is rejected or listed in the
\`warnings\`.`;

const tablesIntro = `Each vendor has a table of its own below. Names are patterns for the vendor's model names, and the first match applies. "others"
are all remaining models. If a cell is empty, the vendor decides. A star means that the value differs for some requests. \`gateway vendors
show <vendor> --model <name>\` prints all values, and \`facts\` in [configuration.md](configuration.md#facts) overrides them.`;

const imageMatrixIntro = `## What requests for images may contain`;

const shutdownsIntro = `"Shut down" is the first day on which the vendor may no longer serve a model. \`gateway vendors check\` compares these days with your
configuration, and \`gateway vendors show\` prints the source of each fact.`;

function section(name: string, provider: Provider): string {
  const { about, video, image, imageTask } = provider;
  const rows = [
    ...(video === undefined ? [] : [jobRow('video', video, about)]),
    ...(imageTask === undefined ? [] : [jobRow('image, as a job', imageTask, about)]),
    ...(image === undefined ? [] : [imageRow(image)]),
  ];
  return [
    `## ${name}`,
    `${about.vendor}. Inputs: ${about.inputs}. Cost in responses: ${about.costUnit ?? 'none'}.`,
    table([
      ['what', 'cancel', 'callback', 'many in one request', 'lost jobs', 'unbilled failures', 'links'],
      ...rows,
    ]),
    ...modelsOf(video),
    ...shutdownsOf(provider),
    ['Not verified:', '', ...about.unverified.map((point) => `- ${point}`)].join('\n'),
  ].join('\n\n');
}

function shutdownsOf({ video, image, imageTask }: Provider): string[] {
  const tables = [
    ['videos', video?.facts],
    ['images', (image ?? imageTask)?.facts],
  ] as const;
  const known = tables.flatMap(([kind, facts]) =>
    facts === undefined || typeof facts === 'function' ? [] : [{ kind, ...facts }],
  );
  const ends = known.flatMap(({ retired }) =>
    (retired?.models ?? []).map(([name, on]) => [pattern(name), on]),
  );
  return ends.length === 0 ? [] : [table([['shut down', 'on'], ...ends])];
}

function pattern({ source }: RegExp): string {
  return `\`${source.replaceAll('|', '\\|')}\``;
}

function modelsOf(video: VideoProvider | undefined): string[] {
  const { facts } = video ?? {};
  if (facts === undefined || typeof facts === 'function') return [];
  const rows = facts.models.map(([name, known]) => [pattern(name), known] as const);
  const body = [...rows, ['others', facts.others] as const].map(([name, known]) => {
    const whole = { ...known, fields: { seed: false, ...known.fields } };
    return [name, ...Object.values(modelCells).map((cell) => starred(cell, whole))];
  });
  return [table([['model', ...Object.keys(modelCells)], ...body])];
}

type Cell = (facts: PlainFacts) => string;

function starred(cell: Cell, { cases = [], ...facts }: VideoFacts): string {
  const text = cell(facts);
  const changes = cases.some(({ facts: over }) => {
    const other = cell(over);
    return other !== '' && other !== text;
  });
  return changes ? `${text}*` : text;
}

const countCell =
  (part: 'frames' | 'references' | 'videos' | 'audios'): Cell =>
  ({ media }) =>
    String(media?.[part] ?? '');

const modelCells: Readonly<Record<string, Cell>> = {
  frames: countCell('frames'),
  references: countCell('references'),
  videos: countCell('videos'),
  audios: countCell('audios'),
  resolutions: ({ resolutions = [], fields }) =>
    fields?.resolution === false ? 'not sent' : resolutions.join(' '),
  ratios: ({ ratios = [], fields }) => (fields?.ratio === false ? 'not sent' : ratios.join(' ')),
  seconds: secondsWords,
  sound: ({ sound = '' }) => sound,
  seed: ({ fields, seed }) => {
    if (fields?.seed === true) return seed === undefined ? 'yes' : `${seed.min} to ${seed.max}`;
    return fields?.seed === false ? 'no' : '';
  },
  'in `metadata`': ({ parameters = {} }) =>
    Object.entries(parameters)
      .flatMap(([name, { values }]) => (values?.length === 0 ? [] : [`\`${name}\``]))
      .join(' '),
};

function secondsWords({ seconds = {} }: PlainFacts): string {
  const { only, min, max, step = 1, auto } = seconds;
  const span =
    min === undefined && max === undefined ? [] : [min === max ? `${min}` : `${min ?? 0}-${max ?? ''}`];
  return [
    ...(only?.map(String) ?? span),
    ...(step === 1 ? [] : [`in steps of ${step}`]),
    ...(auto === true ? ['-1'] : []),
  ].join(', ');
}

function jobRow<Request>(kind: string, part: TaskProvider<Request>, { unbilled }: ProviderFacts): string[] {
  const { cancelUntil, find, linkLifeSeconds, linkHeaders, someNeedKey } = part;
  const life =
    linkLifeSeconds === undefined ? 'a day, or unknown' : lifeWords(Math.round(linkLifeSeconds / 60));
  return [
    kind,
    cancelUntil === 'never' ? 'no' : `while ${cancelUntil}`,
    part.parseCallback === undefined
      ? 'no'
      : part.verifyCallback === undefined
        ? 'yes, unsigned'
        : 'yes, signed',
    part.list === undefined ? 'no' : `up to ${part.listMax ?? 100}`,
    find === undefined ? 'an operator decides' : 'found by our marker',
    unbilled === undefined ? 'not known' : unbilledWords(unbilled),
    linkHeaders === undefined
      ? life
      : `${life}; ${someNeedKey === true ? 'some need the key, and only their copies can be opened' : 'they need the key, so results are always copied'}`,
  ];
}

function lifeWords(minutes: number): string {
  return minutes > 60 && minutes % 60 === 0 ? `${minutes / 60} hours` : `${minutes} minutes`;
}

function unbilledWords({ classes, models }: UnbilledFailures): string {
  const named = classes === 'all' ? 'all' : classes.map((name) => `\`${name}\``).join(', ');
  return models === undefined ? named : `${named} of \`${models}…\``;
}

function imageRow({ imageForms }: SynchronousImageProvider): string[] {
  const forms = imageForms.length === 0 ? 'no reference images' : `references as ${imageForms.join(', ')}`;
  return [`image, synchronous (${forms})`, 'no', 'no', 'no', 'not charged', '-', '-'];
}

function table(rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...body.map(line)].join('\n');
}

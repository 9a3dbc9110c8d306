import type {
  Provider,
  ProviderFacts,
  SynchronousImageProvider,
  TaskProvider,
  UnbilledFailures,
} from '../../src/providers/provider.ts';

/** docs/providers.md: what each adapter can do, read from the adapters themselves. */
export function describeProviders(providers: Readonly<Record<string, Provider>>): string {
  const sections = Object.entries(providers).map(([name, provider]) => section(name, provider));
  return `${[intro, ...sections].join('\n\n')}\n`;
}

const intro = `# Providers

What each adapter can do. This page is generated from the adapters: \`UPDATE_DOCS=1 npx vitest run
test/providers/every-provider.test.ts\` writes it, and the same test keeps it in sync. How to add one:
[adding-a-provider.md](adding-a-provider.md).

"Lost jobs" says what happens when the answer to a submission is lost: a job is found by a text of ours that the vendor
returns, or an operator decides: the model and the time alone would find the job of anybody who uses the same account.
It is never submitted again automatically.

"Unbilled failures" are the classes of failed jobs for which the vendor promises to charge nothing. Of other failures it is not known,
unless the answer reports a cost: that counts more than any promise, and a zero as much as an amount. Only a job that is known to be
unbilled is replaced by another one (\`fallback\` in [configuration.md](configuration.md)).`;

function section(name: string, { about, video, image, imageTask }: Provider): string {
  const rows = [
    ...(video === undefined ? [] : [jobRow('video', video, about)]),
    ...(imageTask === undefined ? [] : [jobRow('image, as a job', imageTask, about)]),
    ...(image === undefined ? [] : [imageRow(image)]),
  ];
  return [
    `## ${name}`,
    `${about.vendor}. Inputs: ${about.inputs}. Cost in answers: ${about.costUnit ?? 'no'}.`,
    table([
      ['what', 'cancel', 'callback', 'many in one question', 'lost jobs', 'unbilled failures', 'links'],
      ...rows,
    ]),
    ['Not verified:', '', ...about.unverified.map((point) => `- ${point}`)].join('\n'),
  ].join('\n\n');
}

function jobRow<Request>(kind: string, part: TaskProvider<Request>, { unbilled }: ProviderFacts): string[] {
  const { cancelUntil, find, linkLifeSeconds, linkHeaders } = part;
  const life =
    linkLifeSeconds === undefined ? 'a day, or unknown' : `${Math.round(linkLifeSeconds / 60)} minutes`;
  return [
    kind,
    cancelUntil === 'never' ? 'no' : `while ${cancelUntil}`,
    part.parseCallback === undefined
      ? 'no'
      : part.verifyCallback === undefined
        ? 'yes, unsigned'
        : 'yes, signed',
    part.list === undefined
      ? 'no'
      : `up to ${part.listMax ?? 100}${part.listEnded === undefined ? '' : ', and what has ended'}`,
    find === undefined ? 'an operator decides' : 'found by our marker',
    unbilled === undefined ? 'not known' : unbilledWords(unbilled),
    linkHeaders === undefined ? life : `${life}; need the key, always copied`,
  ];
}

function unbilledWords({ classes, models }: UnbilledFailures): string {
  const named = classes === 'all' ? 'all' : classes.map((name) => `\`${name}\``).join(', ');
  return models === undefined ? named : `${named} of \`${models}…\``;
}

function imageRow({ imageForms }: SynchronousImageProvider): string[] {
  const forms = imageForms.length === 0 ? 'no reference images' : `references as ${imageForms.join(', ')}`;
  return [`image, at once (${forms})`, 'no', 'no', 'no', 'not charged', '-', '-'];
}

function table(rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...body.map(line)].join('\n');
}

import { afterAll, beforeEach, expect, it } from 'vitest';
import { jobRows, pictureRows } from './dialect-rows.ts';
import type { Ask, JobRow, PictureRow } from './dialect-rows.ts';
import { startHarness } from './support.ts';
import type { Answer, Json } from './support.ts';

/**
 * What each dialect puts on the wire, as one line for each exchange in `wire/<row>.txt`: refusals, the life of a job, its
 * cancellation and list, every fault that changes an answer, and bodies that are wrong. After a change that is meant:
 * `npx vitest run test/workshop/simulator/wire.test.ts -u`, and read the difference.
 */

const renderSeconds = 8;
const harness = await startHarness({ renderSeconds });
const { control } = harness;
afterAll(() => harness.close());
beforeEach(() => {
  control.reset();
});

/** Of the create; each is sent to a simulator without jobs. */
const refusing = [
  '401',
  '403',
  '404',
  '429=7',
  'quota',
  '500',
  '503',
  'moderation',
  'accepted-500',
  'sdk-shape',
];
/** What changes the answers of a job that ends after eight seconds. */
const changing = [
  'failed',
  'failed=other',
  'moderation-in-task',
  'moderation-in-task=input',
  'missing-usage',
  'missing-url',
  'usage-above=3',
  'ratio=9:16',
  'duration=7',
  'input-seconds=3',
  'item-error',
  'item-moderation',
  'legacy-url',
  'ark-shape',
  'docs-shape',
];
const neverEnding = ['never-starts', 'never-finishes', 'unknown-status'];

class Record {
  readonly #row: JobRow | PictureRow;
  readonly #lines: string[] = [];
  /** The name of the exchange that was first answered so. */
  readonly #said = new Map<string, string>();

  constructor(row: JobRow | PictureRow) {
    this.#row = row;
  }

  async send(name: string, [method, path, body]: Ask): Promise<Answer> {
    const answer = await harness.call(method, path, body, this.#row.headers);
    const headers = Array.from(answer.headers)
      .filter(([header]) => /^(x-(fal|new)|retry-after|location|finish|seed)/.test(header))
      .map(([header, value]) => ` ${header}: ${value}`);
    const said = withoutChance(`${answer.status}${headers.join('')} ${answer.text}`);
    const before = this.#said.get(said);
    if (before === undefined) this.#said.set(said, name);
    const isPlain = before === 'create' || before === 'queued';
    if (!isPlain) this.#lines.push(`${name}: ${before === undefined ? said : `as ${before}`}`);
    return answer;
  }

  create(name: string, prompt: string): Promise<Answer> {
    return this.send(name, this.#row.create(prompt));
  }

  /** Each field of the create's body left out, of another type, and beside one that no vendor knows. */
  async mistakes(): Promise<void> {
    const [method, path, body] = this.#row.create('a boat');
    if (typeof body !== 'object' || body === null) throw new Error('a body is an object');
    const send = (name: string, wrong: unknown) => this.send(name, [method, path, wrong]);
    for (const [field, value] of Object.entries(body)) {
      if (value === undefined) continue;
      await send(`without ${field}`, { ...body, [field]: undefined });
      await send(`${field} of another type`, { ...body, [field]: { x: 1 } });
    }
    await send('an unknown field', { ...body, unknown: 1 });
    await send('no object', [1]);
    await this.send('an unknown path', ['GET', `${path}/of/nothing`]);
  }

  text(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}

/** Times, ids, signatures and files are different each time. */
function withoutChance(answer: string): string {
  return answer
    .replaceAll(harness.url, '<url>')
    .replaceAll(/"seed":\d+/g, '"seed":<seed>')
    .replaceAll(/\?X-Tos[^"\s]*/g, '?<signed>')
    .replaceAll(/"[A-Za-z0-9+/]{200,}=*"/g, '"<file>"')
    .replaceAll(/\d{4}-?\d\d-?\d\d[T ]\d\d:?\d\d:?\d\d(\.\d+)?Z?/g, '<time>')
    .replaceAll(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, '<time>')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/(v1_|task_|cgt-|req_|img-)[\w-]{15,}/g, '$1<id>')
    .replaceAll(/\b0?2?[0-9a-z]{22,}\b/g, '<id>')
    .replaceAll(/\b\d{9,}(\.\d+)?\b/g, '<number>')
    .replaceAll(/"id":\d+/g, '"id":<number>')
    .replaceAll(/request id: \w+/g, 'request id: <id>');
}

async function refusals(record: Record): Promise<void> {
  for (const fault of refusing) {
    control.reset();
    await record.create(fault, `a boat [sim:${fault}]`);
  }
  await record.mistakes();
}

async function lives(record: Record, row: JobRow): Promise<void> {
  const look = async (name: string, created: Json): Promise<void> => {
    const { body } = await record.send(name, row.poll(created));
    if (row.result !== undefined) await record.send(`${name}: result`, row.result(created, body));
  };
  const others = async (when: string, created: Json): Promise<void> => {
    for (const [name, ask] of Object.entries(row.others?.(created) ?? {}))
      await record.send(`${name}, ${when}`, ask);
  };
  const first = (await record.create('create', 'a boat')).body;
  await look('queued', first);
  control.advance(4);
  await look('running', first);
  control.advance(5);
  await look('succeeded', first);
  await others('succeeded', first);
  for (const [when, seconds] of [
    ['queued', 0],
    ['running', 4],
  ] as const) {
    control.reset();
    const { body } = await record.create(`create`, 'a boat');
    control.advance(seconds);
    await others(when, body);
    control.advance(5);
    await look(`after what was asked while it was ${when}`, body);
  }
  control.reset();
  await look('unknown', first);
  await others('unknown', first);
  for (const fault of changing) {
    control.reset();
    const { body } = await record.create(`create with ${fault}`, `a boat [sim:${fault}]`);
    await look(`queued with ${fault}`, body);
    control.advance(9);
    await look(`ended with ${fault}`, body);
  }
  for (const fault of neverEnding) {
    control.reset();
    const { body } = await harness.call(...row.create(`a boat [sim:${fault}]`), row.headers);
    for (const seconds of [4, 86_400 * 2]) {
      control.advance(seconds);
      await look(`${fault}, ${seconds} seconds later`, body);
    }
  }
}

it.each(jobRows)('$name speaks as recorded', async (row) => {
  control.setRenderSeconds(renderSeconds);
  const record = new Record(row);
  await refusals(record);
  await lives(record, row);
  await expect(record.text()).toMatchFileSnapshot(fileOf(row));
});

it.each(pictureRows)('$name speaks as recorded', async (row) => {
  control.setRenderSeconds(0);
  const record = new Record(row);
  await refusals(record);
  for (const fault of ['', ...changing]) {
    control.reset();
    await record.create(`create with ${fault}`, fault === '' ? 'a boat' : `a boat [sim:${fault}]`);
  }
  await expect(record.text()).toMatchFileSnapshot(fileOf(row));
});

function fileOf({ name }: JobRow | PictureRow): string {
  return `wire/${name.replaceAll(/\W+/g, '-')}.txt`;
}

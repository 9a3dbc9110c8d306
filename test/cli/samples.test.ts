import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { runLine } from './support.ts';

/**
 * docs/operating.md shows what the gateway prints: each block of `console` whose commands are about tasks is typed here, on
 * the configuration of local mode, and compared. Ids, times and counts differ from run to run; a line of `…` stands for any
 * lines.
 */
const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
const localYaml = readFileSync(
  new URL('../../src/local/gateway.local.yaml', import.meta.url),
  'utf8',
).replaceAll('${SIMULATOR_API_KEY}', 'simulated');

interface Sample {
  readonly command: string;
  readonly printed: string;
}

const samples = [...page.matchAll(/```console\n([^]*?)\n```/g)]
  .map(([, block = '']) => block)
  .filter((block) => /^\$ gateway (?:tasks|find) /.test(block))
  .flatMap((block) => block.split(/^\$ /m).slice(1))
  .map((text): Sample => {
    const [command = '', ...printed] = text.trimEnd().split('\n');
    return { command, printed: printed.join('\n') };
  });
/** What ends the tasks that the others show comes last. */
const isLast = ({ command }: Sample) => command.endsWith('--yes');

let gateway: TestGateway;
let account: TestAccount;
/** From what the page calls a task or a job to what is called so here. */
const here = new Map<string, string>();
beforeAll(async () => {
  gateway = await startGateway({ yaml: localYaml });
  account = await gateway.account({ id: 'local' });
  const lost = '[sim:create:accepted-then-silent][sim:never-finishes]';
  const made = [
    await create('seedance-2.0', 'a boat [sim:poll:401][sim:never-starts][sim:callback-never]'),
    await create('seedance-2.0', 'a boat [sim:usage-above=20]'),
    await create('wan-2.6', `a boat ${lost}`),
    await create('wan-2.6', `another ${lost}`),
  ];
  await waitUntil('all need somebody', async () => {
    const { text } = await cli('gateway tasks list --needs-attention -o json');
    return JSON.parse(text).length === made.length;
  });
  const [failing = '', , first = ''] = made;
  here.set('task_07Q1KGxXoh7LBzNdepc5ZXKg', first);
  here.set('mediary-07q1kgxxoh7lbzndepc5zxkg-1', `mediary-${first.slice('task_'.length).toLowerCase()}-1`);
  here.set('task_dbsw0pva4gWOA50MlLLJpYd9', failing);
  here.set(
    '9968390b-16a2-44c0-a773-ec9510ad33a5',
    gateway.simulator.tasks('a boat [sim:create')[0]?.id ?? '',
  );
});
afterAll(() => gateway.stop());

async function create(model: string, prompt: string): Promise<string> {
  const { body } = await account.create({ model, prompt, duration: 5, resolution: '720p', ratio: '16:9' });
  return body.id;
}

function cli(command: string) {
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
  return runLine(gateway, words.slice(1), { token: gateway.adminToken }).catch((error: unknown) => ({
    text: error instanceof Error ? error.message : String(error),
  }));
}

/** What no two runs have in common, named by its kind. */
function stable(text: string): string {
  return (
    text
      .replaceAll(/task_[A-Za-z0-9]{24}/g, 'TASK')
      .replaceAll(/mediary-[a-z0-9]{24}-1/g, 'MARKER')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
      .replaceAll(/key_\w{16}/g, 'KEY')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      // While a poll is with its upstream, no time stands for the next one.
      .replaceAll(/^( *next_at +)-$/gm, '$1TIME')
      .replaceAll(/\+\d+\.\d{3} s/g, 'LATER')
      .replaceAll(/\b\d+(?:\.\d+)?(?= (?:ms|s|failed)\b)/g, 'N')
      .replaceAll(/\b\d+ polls?\b/g, 'N polls')
      .replaceAll(/^( *(?:failed_)?polls +)\d+$/gm, '$1N')
      .replaceAll(/ \d+[smhd]$/gm, ' AGE')
      // A charge is asked about whether or not a poll has seen the job run.
      .replaceAll(/ (?:submitted|running) (?= *charge_review)/g, ' STATUS ')
      .replaceAll(/ +/g, ' ')
      .replaceAll(/ $/gm, '')
  );
}

it('shows some', () => {
  expect(samples.length).toBeGreaterThan(6);
});

it.each([...samples.filter((sample) => !isLast(sample)), ...samples.filter(isLast)])(
  '$command',
  async ({ command, printed }) => {
    const typed = [...here].reduce((line, [shown, id]) => line.replaceAll(shown, id), command);
    const { text } = await cli(typed);
    let rest = stable(text).split('\n');
    for (const chunk of stable(printed).split(/^…$/m)) {
      const lines = chunk.split('\n').filter((line) => line !== '');
      const at = rest.findIndex((_, index) => lines.every((line, offset) => rest[index + offset] === line));
      expect(at < 0 ? rest : lines).toEqual(lines);
      rest = rest.slice(at + lines.length);
    }
  },
);

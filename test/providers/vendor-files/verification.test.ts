import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { vendorFileSchema } from '../../../src/models/vendor-file.ts';
import { createExpressions } from '../../../src/providers/vendor-files/expressions.ts';
import { vendorFileViolations } from '../../../src/providers/vendor-files/verification/verify.ts';
import { verifyVendorFile } from '../../../src/providers/vendor-files/verification/verify.ts';
import { exampleData, exampleFile } from './support.ts';

const expressions = createExpressions();
afterAll(() => expressions.close());

const small: unknown = parse(readFileSync(new URL('small.yaml', import.meta.url), 'utf8'));

type Change = (file: any) => void;

async function failuresOf(change: Change, from: unknown = small): Promise<string[]> {
  const data = structuredClone(from);
  change(data);
  const rows = await verifyVendorFile(vendorFileSchema.parse(data), expressions);
  return rows.flatMap(({ test, failure }) => (failure === undefined ? [] : [`${test}: ${failure}`]));
}

describe('a vendor file', () => {
  it('that keeps every promise passes, and the tests cover all of them', async () => {
    expect(await failuresOf(() => undefined)).toEqual([]);
    const rows = await verifyVendorFile(vendorFileSchema.parse(small), expressions);
    const words = [
      'at most once',
      'ambiguous',
      'never sent',
      'markers',
      'words',
      'sizes',
      'parameters',
      'the key',
      'pending',
    ];
    for (const word of words) expect(rows.some(({ test }) => test.includes(word))).toBe(true);
  });

  const videos = (change: Change) => (file: any) => change(file.videos);

  it.each<[string, Change, RegExp]>([
    ['an expression that does not compile', (file) => (file.error = 'a.('), /^expression error/],
    ['a regular expression', (file) => (file.error = '$match(a, /b/)'), /regular expressions are not permitted/],
    ['$eval', videos((part) => (part.submit.accepted = '$eval(id)')), /^expression videos.submit.accepted: \$eval/],
    ['a request that is not the recorded one', videos((part) => (part.submit.request = '{ "path": "/jobs", "json": {} }')),
      /^fixture a video: step 1, submit: sent json/],
    ['an expectation that is not met', (file) => (file.fixtures[0].steps[0].expect.id = 'j2'), /id is not as expected/],
    ['a fixture that is not a request', (file) => (file.fixtures[0].request.colour = 'red'), /request/],
    ['no fixture of a failure', (file) => file.fixtures[1].steps.shift(), /needs a fixture with a status that is expected to be failed/],
    ['no fixture of a refusal', (file) => file.fixtures[1].steps.pop(), /needs a fixture with a submit that the vendor refuses/],
    ['an id of its own making', videos((part) => (part.submit.accepted = '$exists(id) ? id : "j0"')), /an empty object is ambiguous.*treated as a success/],
    ['a refusal of every answer', (file) => file.failures.push({ status: 401, outcome: 'rejected', class: 'invalid_input' }),
      /status 401 is a refusal: outcome is "rejected"/],
    ['a success by default',
      videos((part) => (part.status.answer = part.status.answer.replace('"state": state', '"state": state = "waiting" or state = "broken" ? state : "done"'))),
      /an unknown state is pending/],
    ['a link of its own making',
      videos((part) => (part.status.answer = part.status.answer.replace('files.url', 'state = "done" ? $append(files.url, "https://v.example/1.mp4")[0]'))),
      /a success without a file is treated as unreadable/],
    ['a ratio that is not sent',
      videos((part) => (part.submit.request = part.submit.request.replace('"ratio": ratio', '"ratio": ratio = "9:16" ? "16:9" : ratio'))),
      /each ratio of m1 is sent: 9:16 and 16:9 produce the same request/],
    ['a parameter that is not sent', videos((part) => (part.submit.request = part.submit.request.replace('parameters,', '{},'))), /style of m1 is sent/],
    ['a job that any marker finds', videos((part) => (part.find.answer = 'jobs.{ "id": id, "marker": $marker }')), /job of another task is not found/],
    [
      'no marker in what is sent',
      (file) => {
        file.videos.submit.request = file.videos.submit.request.replace(', "note": $marker', '');
        for (const { steps } of file.fixtures)
          for (const { exchanges } of steps) delete exchanges[0].send.json?.note;
      },
      /markers: the job is sent with its marker/,
    ],
    ['a path that leads away', videos((part) => (part.status.path = '/../../{id}')), /step 2, status/],
  ])('with %s fails', async (_name, change, expected) => {
    expect((await failuresOf(change)).join('\n')).toMatch(expected);
  }); // prettier-ignore

  it('may record that a cancelled job is charged, which is then not cancelled', async () => {
    const topaz = exampleData('topaz');
    const failures = (result: string, answer: object, path = '/status/p2') =>
      failuresOf((file) => {
        const step = file.fixtures
          .flatMap((one: any) => one.steps)
          .findLast((one: any) => one.do === 'cancel');
        step.exchanges.push({ send: { method: 'GET', path }, answer: { status: 200, json: answer } });
        step.expect.result = result;
      }, topaz);
    const job = { process_id: 'p2', status: 'Cancelled' };
    expect(await failures('cancelled', job)).toEqual([]);
    expect(await failures('refused', { ...job, credits: 2 })).toEqual([]);
    expect(await failures('cancelled', { ...job, credits: 2 })).toEqual([expect.stringContaining('result')]);
    expect(await failures('cancelled', job, '/status/p3')).toEqual([expect.stringContaining('/status/p2')]);
  });

  it('reports in one sentence what is wrong and what to do', async () => {
    const file = exampleFile('recraft', (data) => (data.images.generate.answer = '{}'));
    const [said, ...more] = await vendorFileViolations(file, expressions);
    expect(more).toEqual([]);
    expect(said).toMatch(
      /^vendors\.recraft: "fixture two images of V4\.1" fails: .*Run `gateway vendors test FILE`/,
    );
  });

  it.each<[string, Change]>([
    ['a key that nobody knows', (file) => (file.scripts = ['x.js'])],
    ['no fixtures', (file) => (file.fixtures = [])],
    ['an expression that is too long', (file) => (file.error = `"${'x'.repeat(9_000)}"`)],
    ['no kind', (file) => delete file.images],
    ['a path without a slash', (file) => (file.images.status.path = 'https://elsewhere.example/{id}')],
  ])('with %s is rejected', (_name, change) => {
    const data = exampleData('ideogram');
    change(data);
    expect(vendorFileSchema.safeParse(data).success).toBe(false);
  });
});

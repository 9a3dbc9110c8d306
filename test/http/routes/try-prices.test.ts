import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runLine } from '../../cli/support.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { succeededWith } from '../../support/task-records.ts';

const world = useHttpWorld('route_try_prices');

const lastLine = (text: string) => JSON.parse(text.trim().split('\n').at(-1) ?? '');
const bySecond = (price: string) => ({ lines: [{ measure: 'second', price }] });

async function ended(seconds: number) {
  const account = await world.newAccount();
  const { id } = (await account.create()).body;
  await world.drive.accept(id);
  const facts = { durationSeconds: seconds };
  await world.drive.polled(id, { ...succeededWith('https://u.example/1.mp4'), facts });
  const charge = BigInt(seconds) * 100_000n;
  const upstream = { model: 'clip', channel: 'one', cost: 350_000n, unknown: seconds === 8 ? 1 : 0 };
  await world.drive.step(id, {
    kind: 'ended',
    status: 'succeeded',
    charge,
    chargeEstimated: false,
    upstream,
  });
  return { account: account.id, id };
}

it('what recorded tasks would have been charged, over the API and in the command line', async () => {
  const [one, other] = [await ended(4), await ended(8)];
  await (await world.newAccount()).create();
  const body = { models: { clip: bySecond('0.15') }, since: 0 };
  const answer = await world.admin('POST', '/prices/try', body);
  expect(answer.headers['content-type']).toBe('application/x-ndjson');
  const sums = {
    before: '0.800000',
    after: '1.200000',
    difference: '0.400000',
    cost: '0.350000',
    cost_unknown: 1,
    margin_before: '0.450000',
    margin_after: '0.850000',
    unpriced: 0,
  };
  const first = { account: other.account, tasks: 1, ...sums };
  expect(lastLine(answer.text).result).toEqual({
    tasks: 2,
    before: '1.200000',
    after: '1.800000',
    difference: '0.600000',
    cost: '0.700000',
    cost_unknown: 1,
    margin_before: '0.500000',
    margin_after: '1.100000',
    unpriced: 0,
    by_model: [expect.objectContaining({ model: 'clip', tasks: 2, difference: '0.600000' })],
    by_account: [first, expect.objectContaining({ account: one.account, difference: '0.200000' })],
    unpriced_tasks: [],
  });
  const narrow = await world.admin('POST', '/prices/try', { ...body, account: other.account, model: 'clip' });
  expect(lastLine(narrow.text).result).toMatchObject({ tasks: 1, ...sums });

  const directory = await mkdtemp(join(tmpdir(), 'mediary-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'new.yaml');
  const line = (...more: string[]) => runLine(world, ['prices', 'try', file, '--since', '1h', ...more]);
  await writeFile(
    file,
    'channels: [{ id: one, credentials: [{ api_key: "${SECRET}" }], models: { clip: { upstream: u, price: { lines: [{ measure: call, price: "2" }] } } } }]\nmodels: [{ id: clip, price: { lines: [{ measure: second, price: "9" }], hold: { multiplier: "2" } } }]',
  );
  const { text } = await line();
  expect(text).toMatch(
    /^MODEL +TASKS +BEFORE +AFTER +DIFFERENCE +MARGIN_BEFORE +MARGIN_AFTER +COST_UNKNOWN +UNPRICED\nclip +2 +1\.200000 +4\.000000 +2\.800000 +0\.500000 +3\.300000 +1 +0/,
  );
  expect(text).toContain(
    'After upstream costs of 0.700000: 0.500000 before, 3.300000 after. Attempts of unknown cost: 1, so the margin is at most this.',
  );
  expect(text).toContain(
    '2 tasks: 1.200000 before, 4.000000 after, a difference of 2.800000; 0 cannot be priced.',
  );
  await writeFile(file, 'models: [{ id: other, price: { lines: [{ measure: call, price: "2" }] } }]');
  expect((await line('--account', one.account)).text).toContain(
    `${one.id} cannot be priced: clip has no price.`,
  );
  expect(JSON.parse((await line('-o', 'json')).text)).toMatchObject({ tasks: 0, unpriced: 2 });
  await writeFile(file, 'models: [{ id: clip, price: { lines: [{ measure: hour, price: "2" }] } }]');
  await expect(line()).rejects.toThrow('models.clip.lines');
  for (const wrong of ['models: 1', '{', 'models: [{ id: clip }]']) {
    await writeFile(file, wrong);
    await expect(line()).rejects.toThrow('is not a gateway.yaml');
  }
});

it('the draft’s prices are for operators who may read the draft', async () => {
  const { token } = (await world.admin('POST', '/operators', { name: 'reader', roles: ['amounts'] })).body;
  const ask = (body: object) => world.call('POST', '/admin/v1/prices/try', { body, key: token });
  const { status, body } = await ask({ since: 0 });
  expect([status, body.error.code]).toEqual([403, 'operator_not_allowed']);
  expect((await ask({ since: 0, models: {} })).status).toBe(200);
});

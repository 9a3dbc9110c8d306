import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { connectMongo } from '../../../src/store/mongo.ts';
import { runLine } from '../../cli/support.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { databaseUri } from '../../support/run-servers.ts';

const database = 'route_check_ledger_heads';
const world = useHttpWorld(database);

it('externally kept heads reveal truncation, whatever happened to the stored ones', async () => {
  const { id: account } = await world.newAccount();
  await world.admin('POST', `/accounts/${account}/credits`, { amount: '1', reference: 'more' });
  expect((await runLine(world, ['ledger', 'verify'])).status).toBe(0);
  const { body } = await world.admin('GET', '/ledger/heads');
  const directory = mkdtempSync(join(tmpdir(), 'heads-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'heads.jsonl');
  writeFileSync(file, body.data.map((row: object) => `${JSON.stringify(row)}\n`).join(''));
  const verify = () => runLine(world, ['ledger', 'verify', '--heads', file, '-o', 'json']);
  expect(await verify()).toMatchObject({ status: 0 });
  const said = await runLine(world, ['ledger', 'verify', '--heads', file]);
  expect(said.text).toContain(`Compared ${body.data.length} heads of ${file}.`);
  expect(said.text).not.toContain('No exported heads were compared');

  const mongo = await connectMongo(databaseUri(database));
  onTestFinished(() => mongo.close());
  await mongo.db.collection('ledger').deleteOne({ account, seq: 2 });
  await mongo.db.collection('ledger_heads').deleteMany({});
  const { text, status } = await verify();
  expect(status).toBe(1);
  expect(JSON.parse(text)).toMatchObject({
    violation_count: 1,
    violations: [
      {
        invariant: 'ends_at_anchored_head',
        message: expect.stringMatching(new RegExp(`^${account}/2: was the head on .*, but is missing$`)),
      },
    ],
  });
});

it('a head that the gateway did not sign proves nothing, and is reported', async () => {
  const { id: account } = await world.newAccount();
  const forged = { account, seq: 1, hash: 'a'.repeat(64), at: 1, signature: 'b'.repeat(64) };
  expect((await world.admin('POST', '/ledger/heads/check', { heads: [forged] })).body).toEqual({
    checked: 1,
    violations: [{ message: `${account}/1: the anchored head is not signed by this gateway` }],
  });
});

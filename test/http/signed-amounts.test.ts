import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ledgerCollection } from '../../src/ledger/collection.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { entryKinds } from '../../src/money/movement.ts';
import { heldText } from '../ledger/support.ts';
import { useHttpWorld } from '../support/http-world.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { readSources } from '../support/source-rules.ts';

const world = useHttpWorld('signed_amounts');
const month = '2031-05';
const signed = [
  ['credit', '10.000000'],
  ['hold', '-0.500000'],
  ['settle', '-0.500000'],
  ['charge_extra', '-0.200000'],
  ['refund', '0.100000'],
  ['hold', '-0.050000'],
  ['release', '0.050000'],
  ['void', '0.000000'],
  ['adjust', '-1.000000'],
];

async function everyKind() {
  world.clock.stoppedAt = Date.UTC(2031, 4, 11);
  const account = await world.newAccount({ credit: '10' });
  const { id } = account;
  const ledger = createLedger({
    collection: ledgerCollection(world.db),
    key: testLedgerKey,
    now: world.deps.now,
  });
  const task = String((await account.create()).body.id);
  await ledger.settle({ account: id, task, held: 500_000n, amount: 700_000n });
  await ledger.refund({ account: id, task, amount: 100_000n });
  const image = `img_${id.replaceAll('-', '')}0001`;
  const by = { key: account.keyId, model: 'picture' };
  await ledger.hold({ account: id, task: image, by, amount: 50_000n, basis: heldText, overdraftLimit: 0n });
  await ledger.release({ account: id, task: image, held: 50_000n });
  await ledger.void({ account: id, task: `${image}x` });
  const correction = await world.admin('POST', `/accounts/${id}/credits`, { amount: '-1', reference: 'fee' });
  return { account, task, image, correction };
}

interface Entry {
  readonly kind: string;
  readonly amount: string;
}

const read = (entries: readonly Entry[]) => entries.map(({ kind, amount }) => [kind, amount]);
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const decimals = (text: string | undefined) => (text ?? '').replaceAll(/[^\d.+-]/g, '');

it('an amount has the sign of its movement wherever an entry of the ledger is shown', async () => {
  expect(new Set(signed.map(([kind]) => kind))).toEqual(new Set(entryKinds));
  const { account, task, image, correction } = await everyKind();
  const { id } = account;
  const admin = (path: string) => world.admin('GET', path);
  expect(read((await admin(`/accounts/${id}/ledger`)).body.data)).toEqual(signed);
  expect(read([correction.body])).toEqual(signed.slice(-1));

  const ofTask = signed.slice(1, 5);
  expect(read((await admin(`/tasks/${task}`)).body.ledger)).toEqual(ofTask);
  expect(read((await admin(`/find?text=${task}`)).body.ledger)).toEqual(ofTask);
  const receipt = await account.call('GET', `/v1/videos/generations/${task}/receipt`);
  expect(read(receipt.body.payload.ledger)).toEqual(ofTask);
  expect(receipt.body.payload.ledger[1].excess).toBe('-0.200000');
  const images = await account.call('GET', `/v1/images/generations/${image}/receipt`);
  expect(read(images.body.payload.ledger)).toEqual(signed.slice(5, 7));

  const exported = linesOf((await admin(`/accounts/${id}/export`)).text);
  expect(read(exported.flatMap(({ entry }) => entry ?? []))).toEqual(signed);

  for (const path of [`/v1/statement?month=${month}`, `/admin/v1/accounts/${id}/statement?month=${month}`]) {
    const call = (form: string) =>
      path.startsWith('/v1')
        ? account.call('GET', path + form)
        : admin(path.slice('/admin/v1'.length) + form);
    const lines = linesOf((await call('&format=jsonl')).text);
    expect(read(lines.filter(({ object }) => object === 'statement.entry'))).toEqual(signed);
    expect(lines.at(-1).sums).toMatchObject({
      hold: { amount: '-0.550000' },
      release: { amount: '0.050000' },
    });
    const rows = (await call('&format=csv')).text.split('\r\n').map((row) => row.split(','));
    const [head = [], ...entries] = rows;
    const [kind, amount] = [head.indexOf('kind'), head.indexOf('amount')];
    expect(entries.map((row) => [row[kind], row[amount]]).filter(([, shown]) => shown)).toEqual(signed);
    const cells = [...(await call('&format=html')).text.matchAll(/<tr>(.*)<\/tr>/g)].map(([, row = '']) =>
      row.split('</td>').map((cell) => cell.replace(/^<td[^>]*>/, '')),
    );
    const shown = cells.filter((row) => row.length > 8).map((row) => [row[2], decimals(row[5])]);
    const plus = (text = '') => (Number(text) > 0 ? `+${text}` : text);
    expect(shown).toEqual(signed.map(([name, text]) => [name, plus(text)]));
  }
});

it('no other code writes the amount of an entry without asking for its movement', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const sources = Object.entries(readSources(root, ['src/http', 'src/flight', 'src/cli']));
  const showing = sources.filter(
    ([, text]) =>
      /import type \{[^}]*\b(?:LedgerEntry|StatementEntry)\b/.test(text) &&
      /formatM(?:icros|ovement)\((?:entry\.)?amount\)|\bentry\.amount[,)]/.test(text),
  );
  expect(showing.map(([file]) => file)).toEqual(['src/flight/read-record.ts']);
  const pages = readdirSync(join(root, 'src/pages'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  const columns = pages.flatMap(
    (name) =>
      readFileSync(join(root, 'src/pages', name), 'utf8').match(
        /\w+: \(\/\*\* @type \{LedgerEntry\} \*\/ \{ amount \}\)/g,
      ) ?? [],
  );
  expect(columns.map((column) => column.split(':')[0])).toEqual(['movement', 'movement']);
});

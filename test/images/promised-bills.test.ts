import { expect, it } from 'vitest';
import { createPromisedBills, type BillState } from '../../src/images/promised-bills.ts';
import { createLogger } from '../../src/observability/log.ts';

const bill = { task: 'img_a', account: 'acme', amount: 80_000n, model: 'gpt-image', channel: 'first' };

function openBills() {
  const lines: string[] = [];
  const log = createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: (line) => void lines.push(line) },
  });
  return { bills: createPromisedBills(log), logged: () => lines.map((line) => JSON.parse(line)) };
}

it.each(['written', 'noted'] as const)('a stop waits until the charge is %s', async (state) => {
  const { bills, logged } = openBills();
  let answer: (state: BillState) => void = () => undefined;
  bills.promise(bill, () => new Promise((resolve) => (answer = resolve)));
  const order: string[] = [];
  const stopped = bills.stop(60_000).then(() => order.push('stopped'));
  await new Promise((resolve) => void setImmediate(resolve));
  order.push(state);
  answer(state);
  await stopped;
  expect(order).toEqual([state, 'stopped']);
  expect(logged()).toEqual([]);
});

it('a charge that is still unwritten at the end of the stop is logged with the command that records it', async () => {
  const { bills, logged } = openBills();
  bills.promise(bill, async () => 'unwritten');
  bills.promise({ ...bill, task: 'img_b' }, async () => 'noted');
  await bills.stop(0);
  expect(logged()).toMatchObject([{ ...bill, amount: '0.080000', level: 'error' }]);
  expect(logged()[0].msg).toContain('gateway accounts credit acme -0.080000 --reference img_a');
});

it('a process without such charges ends at once', async () => {
  const { bills, logged } = openBills();
  await bills.stop(3_600_000);
  expect(logged()).toEqual([]);
});

import { expect, it } from 'vitest';
import { createSharedRead } from '../../src/base/shared-read.ts';

function reads(hangsAfterMs?: number) {
  let at = 0;
  const begun: { readonly resolve: (answer: string) => void; readonly reject: (error: Error) => void }[] = [];
  const read = () => new Promise<string>((resolve, reject) => void begun.push({ resolve, reject }));
  const ask = createSharedRead(read, {
    ms: 1_000,
    now: () => at,
    ...(hangsAfterMs === undefined ? {} : { hangsAfterMs }),
  });
  return { ask, begun, pass: (ms: number) => void (at += ms) };
}

it('runs once for all callers that arrive during it, or shortly after its end', async () => {
  const { ask, begun, pass } = reads();
  const first = ask();
  pass(5_000);
  const second = ask();
  begun[0]?.resolve('a');
  expect(await Promise.all([first, second])).toEqual(['a', 'a']);
  pass(999);
  expect(await ask()).toBe('a');
  pass(1);
  void ask();
  expect(begun).toHaveLength(2);
});

it('that fails is not kept', async () => {
  const { ask, begun } = reads();
  const first = ask();
  begun[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  void ask();
  expect(begun).toHaveLength(2);
});

it('that hangs delays no later caller and affects no later read', async () => {
  const { ask, begun, pass } = reads();
  const hanging = ask();
  pass(15_000);
  const second = ask();
  expect(begun).toHaveLength(2);
  begun[0]?.reject(new Error('late'));
  await expect(hanging).rejects.toThrow('late');
  begun[1]?.resolve('b');
  expect(await second).toBe('b');
  expect(await ask()).toBe('b');
});

it('that may take long is awaited until it ends', async () => {
  const { ask, begun, pass } = reads(Infinity);
  const first = ask();
  pass(3_600_000);
  const second = ask();
  expect(begun).toHaveLength(1);
  begun[0]?.resolve('a');
  expect(await Promise.all([first, second])).toEqual(['a', 'a']);
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, videoBody, videoCharge, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

it('an estimate shows what tasks of the same shape have cost lately, for any account', async () => {
  const [one, other] = [await gateway.account(), await gateway.account()];
  const estimate = async (change: object = {}) => {
    const body = { ...videoBody, prompt: 'another boat', ...change };
    return (await other.call('POST', '/v1/videos/generations/estimate', { body })).body;
  };
  for (const prompt of ['a boat', 'a ship', 'fails [sim:failed]', 'a canoe']) {
    const { expected, at_least: least } = await estimate();
    expect([expected, typeof least]).toEqual([undefined, 'string']);
    const { body } = await one.create({ prompt });
    await one.finished(body.id);
    await gateway.core.charges.flush();
  }
  const { expected, at_least: least, at_most: most } = await estimate();
  expect(expected).toBe(videoCharge);
  expect([least, most].map(Number)).toEqual([expect.any(Number), expect.any(Number)]);
  expect(await estimate({ duration: 4 })).not.toHaveProperty('expected');
});

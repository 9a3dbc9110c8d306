import fc from 'fast-check';
import { expect, it } from 'vitest';
import { identifier } from '../../src/config/gateway-schema.ts';
import { callbacksQueue, channelQueue, isPollsQueue, pollsQueue, tasksQueue } from '../../src/base/queues.ts';

const channelId = fc
  .tuple(
    fc.constantFrom('a', 'b', 'A'),
    fc.array(fc.constantFrom('-polls', '_polls', '.polls', 'polls', '-', ':')),
  )
  .map(([first, rest]) => [first, ...rest].join(''))
  .filter((id) => identifier.safeParse(id).success);

it('no two queues of a gateway have the same name, whatever its channels are called', () => {
  fc.assert(
    fc.property(fc.uniqueArray(channelId, { minLength: 2 }), (ids) => {
      const polls = ids.map((id) => pollsQueue('p-', id));
      const names = [
        ...polls,
        ...ids.map((id) => channelQueue('p-', id)),
        callbacksQueue('p-'),
        tasksQueue('p-'),
      ];
      expect(new Set(names).size).toBe(names.length);
      expect(names.filter(isPollsQueue)).toEqual(polls);
    }),
  );
  expect(channelQueue('', 'a-polls')).not.toBe(pollsQueue('', 'a'));
});
